package openai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/keyfilter"
)

// Client asks one model at one server. Its limits hold for all calls together, so all runs
// of a model share one. It is a loop.Model.
type Client struct {
	cfg              Config
	url              string // of the requests, for errors
	bodies           bodies
	filter           *keyfilter.Filter // of the key
	outage           outage
	limiter          *limiter
	requests, tokens *meter
	recorder         statsRecorder
}

// New checks cfg and returns all that is wrong with it at once. It opens no connection.
func New(cfg Config) (*Client, error) {
	cfg = cfg.withDefaults()
	bodies, err := newBodies(cfg.Model, cfg.Params)
	if err := errors.Join(cfg.check(), err); err != nil {
		return nil, err
	}
	return &Client{
		cfg: cfg, url: cmp.Or(cfg.Address, strings.TrimRight(cfg.BaseURL, "/")+"/chat/completions"),
		bodies: bodies, filter: cfg.APIKey.filter(),
		outage:   outage{limit: cfg.Retry.GiveUpAfter, asked: max(cfg.Retry.GiveUpAfter, cfg.Retry.MaxRetryAfter)},
		limiter:  newLimiter(cfg.Limits),
		requests: newMeter(cfg.Limits.RequestsPerMinute), tokens: newMeter(cfg.Limits.TokensPerMinute),
	}, nil
}

// Sampling is what every request holds besides its messages and its token limit: the model
// and the parameters under their names on the wire. A recording made under another one is
// another experiment's.
func (c *Client) Sampling() map[string]any { return maps.Clone(c.bodies.shared) }

// Address is where the model is: the Config's, or its base URL, which holds no credentials.
func (c *Client) Address() string { return cmp.Or(c.cfg.Address, c.cfg.BaseURL) }

// Model is the Config's: its name at the server.
func (c *Client) Model() string { return c.cfg.Model }

// Format writes the model and its URL for every verb: fmt would walk into live connections.
func (c *Client) Format(s fmt.State, _ rune) { fmt.Fprintf(s, "model %s at %s", c.cfg.Model, c.url) }

// Stats may be called at any time.
func (c *Client) Stats() Stats {
	s := c.recorder.snapshot()
	c.limiter.report(&s)
	c.outage.report(&s)
	return s
}

// Complete asks the model, again if a failure may pass. It waits for a free connection and
// for the rate limits. The error is ctx's if that is done, or Config.Admit's; else it wraps a
// *StatusError, a *ReplyError or a *TransportError, the last attempt's, unless r cannot be
// sent at all. A *GivenUp says that nothing more is asked of the server.
func (c *Client) Complete(ctx context.Context, r loop.Request) (loop.Completion, error) {
	return c.complete(ctx, r, 0)
}

func (c *Client) complete(ctx context.Context, r loop.Request, seedOffset int64) (loop.Completion, error) {
	body, err := c.bodies.body(r, seedOffset)
	if err != nil {
		return loop.Completion{}, fmt.Errorf("model %s: %w", c.cfg.Model, err)
	}
	a, err := c.retry(ctx, r, body)
	if r.Turn == loop.AnswerTurn {
		a.Confidence = nil // an answer has no gates
	}
	c.recorder.call(r, err != nil && !errors.Is(err, context.Canceled) && ctx.Err() == nil)
	return a.Completion, err
}

// retry makes attempts until one brings a reply or the pace says that it is enough.
func (c *Client) retry(ctx context.Context, r loop.Request, body []byte) (answer, error) {
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(c.cfg.Until, stop)()
	p := newPace(c.cfg.Retry)
	for {
		if err := c.cfg.Until.Err(); err != nil {
			return answer{}, err
		}
		a, took, err := c.attempt(ctx, waiting, r, body)
		if err == nil {
			return a, nil
		}
		if waiting.Err() != nil {
			return a, waiting.Err()
		}
		if gone, ok := err.(*GivenUp); ok {
			gone.Asked = p.tries > 0
			return a, gone
		}
		wait, asked, again := p.next(err, took)
		if !again {
			return a, p.giveUp(err)
		}
		wait, gone := c.outage.wait(time.Now(), wait, asked, err)
		if gone != nil {
			return a, gone
		}
		if err := c.pause(waiting, wait, err); err != nil {
			return a, err
		}
	}
}

// pause waits before another attempt. Its error is ctx's.
func (c *Client) pause(ctx context.Context, wait time.Duration, why error) error {
	until := time.Now().Add(wait)
	c.recorder.pause(until)
	c.cfg.Waiting(until, why)
	err := sleep(ctx, wait)
	c.recorder.resume(err == nil)
	return err
}

// giveUp says how often it was tried, if more than once.
func (p *pace) giveUp(err error) error {
	if p.tries == 1 {
		return err
	}
	return fmt.Errorf("after %d attempts: %w", p.tries, err)
}

// attempt sends one request once the limits allow it, for which it waits as long as
// waiting is not done. The time it took is that in flight.
func (c *Client) attempt(ctx, waiting context.Context, r loop.Request, body []byte) (a answer, took time.Duration, err error) {
	held, err := c.limiter.acquire(waiting)
	if err != nil {
		return a, 0, err
	}
	load := refused
	defer func() { c.limiter.release(held, load) }()
	if err := c.meter(waiting, body); err != nil {
		return a, 0, err
	}
	if err := c.outage.over(); err != nil {
		return a, 0, err
	}
	if err := c.cfg.Admit(); err != nil {
		return a, 0, err
	}
	x := exchange{cfg: c.cfg, filter: c.filter, url: c.url, body: body}
	start := time.Now()
	a, err = x.do(ctx)
	took = time.Since(start)
	if err != nil && ctx.Err() != nil {
		err = ctx.Err() // the caller gave up, the server did nothing wrong
	}
	c.cfg.Charge(cost(c.cfg.Count, r, a, err))
	c.recorder.attempt(a, err, took)
	c.tokens.correct(spent(a, body) - guess(len(body)))
	load = outcomeOf(err)
	if err == nil {
		c.outage.answered()
	}
	return a, took, err
}

// meter waits for the limits by the minute, the connection in hand: so no call can overtake
// another, and none is sent later than it was let pass.
func (c *Client) meter(ctx context.Context, body []byte) error {
	if err := c.requests.wait(ctx, 1); err != nil {
		return err
	}
	return c.tokens.wait(ctx, guess(len(body)))
}

// guess is the tokens of so many bytes, on the high side for prose. The server's count
// takes its place when the reply is there.
func guess(bytes int) int { return (bytes + 2) / 3 }

// spent is the tokens of an attempt: the server's count, or a guess. A refused prompt is
// counted, as servers do.
func spent(a answer, body []byte) int {
	if a.Usage != nil {
		return a.Usage.PromptTokens + a.Usage.CompletionTokens
	}
	return guess(len(body)) + guess(len(a.Text)+len(a.Reasoning))
}

// outcomeOf says what an attempt's error tells of the server's load.
func outcomeOf(err error) outcome {
	var f failure
	switch {
	case err == nil:
		return served
	case errors.As(err, &f):
		return f.outcome()
	}
	return refused
}
