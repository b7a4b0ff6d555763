package models

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/run"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/spec/yamlpos"
	"github.com/poimen-memory/mem/internal/printable"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/command"
	"github.com/poimen-memory/mem/loop/openai"
)

// Clients are the live models of one evaluation, by experiment and model. A model's limits
// hold for all its runs: experiments are run one after the other.
type Clients struct {
	Meter   *Meter
	Waiting func(model string, until time.Time, why error) // when a call begins to wait to be tried again; or nil
	Tries   int                                            // attempts of a call; 0: as the spec says

	byModel  map[[2]string]*openai.Client
	programs []*command.Transport
	Warnings []string // of the clients' settings, each once
}

// open makes the clients of a spec's live models that are to run, which ask nothing more
// when ctx is done. No connection is opened; what the environment lacks is an error at its position.
func (c *Clients) open(ctx context.Context, s *spec.Spec, runs []*plan.Run) diag.Errors {
	var errs diag.Errors
	opened := map[string]bool{} // models, each of which all its variants share
	for i := range s.Models {
		m := &s.Models[i]
		if m.Live == nil || opened[m.Base()] || !used(m.Base(), runs) {
			continue
		}
		opened[m.Base()] = true
		if m.Price == nil && c.Meter.MaxCost > 0 {
			errs = append(errs, m.At.Errorf("--max-cost requires a price: want price: {prompt: USD, completion: USD} per million tokens"))
		}
		live, wrong := m.Live.Expand(os.LookupEnv)
		if errs = append(errs, wrong...); wrong != nil {
			continue
		}
		cfg := liveConfig(live)
		if live.Command != nil {
			if err := c.program(&cfg, s, live); err != nil {
				errs = append(errs, live.Command[0].Errorf("%v", err))
				continue
			}
		}
		cfg.Count, cfg.Charge = countWith(s.Tokenizer), func(cost openai.Cost) { c.Meter.charge(m.Price, cost) }
		if err := c.add(ctx, s.Experiment.Value, m.Base(), cfg); err != nil {
			errs = append(errs, live.At.Errorf("%v", err))
		}
	}
	return errs
}

// program has a program answer in place of a server. It is started where the spec is.
func (c *Clients) program(cfg *openai.Config, s *spec.Spec, live spec.Live) error {
	words := each(live.Command, func(word yamlpos.At[string]) string { return word.Value })
	t, err := command.New(command.Config{
		Program: words[0], Args: words[1:], Dir: s.Dir, MaxReply: cfg.MaxResponseBytes,
	})
	if err != nil {
		return err
	}
	c.programs = append(c.programs, t)
	cfg.Transport, cfg.Address, cfg.BaseURL = t, "command "+words[0], "http://localhost/v1"
	cfg.Model = cmp.Or(cfg.Model, strings.Join(words, " "))
	return nil
}

// Close ends the programs that answered. Connections to servers need no end.
func (c *Clients) Close() {
	for _, t := range c.programs {
		t.Close()
	}
}

func each[T, U any](list []T, of func(T) U) []U {
	values := make([]U, len(list))
	for i, x := range list {
		values[i] = of(x)
	}
	return values
}

func (c *Clients) add(ctx context.Context, experiment, model string, cfg openai.Config) error {
	cfg.Until, cfg.Admit = ctx, c.Meter.admit
	if c.Tries > 0 {
		cfg.Retry.MaxTries = c.Tries
	}
	if c.Waiting != nil {
		cfg.Waiting = func(until time.Time, why error) { c.Waiting(model, until, why) }
	}
	client, err := openai.New(cfg)
	if err != nil {
		return err
	}
	if c.byModel == nil {
		c.byModel = map[[2]string]*openai.Client{}
	}
	c.byModel[[2]string{experiment, model}] = client
	for _, w := range cfg.Warnings() {
		if !slices.Contains(c.Warnings, w) {
			c.Warnings = append(c.Warnings, w)
		}
	}
	return nil
}

// Served is what a live model's server did.
type Served struct {
	Model string `json:"model"`
	URL   string `json:"base_url"`
	openai.Stats
}

// Served is what the servers of a spec's live models did so far.
func (c *Clients) Served(s *spec.Spec) (list []Served) {
	for i := range s.Models {
		id := s.Models[i].Base()
		if i > 0 && s.Models[i-1].Base() == id {
			continue // another variant of it
		}
		if client := c.byModel[[2]string{s.Experiment.Value, id}]; client != nil {
			list = append(list, Served{id, client.Address(), client.Stats()})
		}
	}
	return list
}

// Status is how a spec's live models stand, in a line; nil if none is to run.
func (c *Clients) Status(s *spec.Spec) func() string {
	if len(c.Served(s)) == 0 {
		return nil
	}
	return func() string {
		var sum openai.Stats
		for _, m := range c.Served(s) {
			sum.InFlight += m.InFlight
			sum.Limit += m.Limit
			sum.Broken += m.Failed()
			if m.BackoffUntil.After(sum.BackoffUntil) {
				sum.BackoffUntil = m.BackoffUntil
			}
			if m.GivenUpAt.After(sum.GivenUpAt) {
				sum.FailingSince, sum.GivenUpAt = m.FailingSince, m.GivenUpAt
			}
		}
		_, usd := c.Meter.Spent()
		line := fmt.Sprintf("%d of %d calls in flight, %d failed, %.4f USD", sum.InFlight, sum.Limit, sum.Broken, usd)
		if time.Until(sum.BackoffUntil) > 0 {
			line += ", waits until " + sum.BackoffUntil.Format(time.TimeOnly)
		}
		if !sum.GivenUpAt.IsZero() {
			line += fmt.Sprintf(", no reply for %v, given up at %s", time.Since(sum.FailingSince).Round(time.Second), sum.GivenUpAt.Format(time.TimeOnly))
		}
		return line
	}
}

// countWith counts with a spec's tokenizer, which is read when it is first needed: most
// servers count for themselves.
func countWith(t spec.Tokenizer) func(string) int {
	count := sync.OnceValue(func() func(string) int {
		if c, err := Counter(t); err == nil {
			return c.Count
		}
		return func(text string) int { return len(text) } // it was read before; the most that there can be
	})
	return func(text string) int { return count()(text) }
}

// NoteCounts says which servers count tokens in a way that cannot be right.
func (c *Clients) NoteCounts(w io.Writer, s *spec.Spec) {
	for _, m := range c.Served(s) {
		if m.BadUsage > 0 {
			printable.Fprintf(w, "mem: warning: model %s: counts of tokens in %d replies cannot be right, such as %s; --max-cost uses our own counts\n",
				m.Model, m.BadUsage, m.BadUsageWhy)
		}
	}
}

func used(model string, runs []*plan.Run) bool {
	for _, r := range runs {
		if r.Spec.Base() == model {
			return true
		}
	}
	return false
}

func liveConfig(l spec.Live) openai.Config {
	return openai.Config{
		BaseURL: l.BaseURL.Value, Model: l.Model.Value, APIKey: openai.NewKey(os.Getenv(l.APIKeyEnv.Value)),
		Params: openai.Params{
			Temperature: given(l.Temperature), TopP: given(l.TopP), Seed: given(l.Seed),
			Stop: l.Stop, MaxTokensField: l.MaxTokensField, LogProbs: l.LogProbs, Extra: l.Extra,
		},
		Timeout: l.Timeout.Value, MaxResponseBytes: l.MaxResponseBytes.Value,
		Retry: openai.Retry{MaxTries: l.MaxTries, MaxElapsed: l.MaxElapsed.Value, MaxRetryAfter: l.MaxRetryAfter.Value, GiveUpAfter: l.GiveUpAfter.Value},
		Limits: openai.Limits{
			MaxConnections: l.Connections(), RequestsPerMinute: l.RequestsPerMinute, TokensPerMinute: l.TokensPerMinute,
		},
	}
}

// given is what was written, nil for what was not: it is not sent.
func given[T any](field yamlpos.At[T]) *T {
	if !field.Present() {
		return nil
	}
	return &field.Value
}

// Client is the client of a spec's live model, whose variants share it; nil if it was not opened.
func (c *Clients) Client(s *spec.Spec, model string) *openai.Client {
	model, _ = spec.SplitModel(model)
	return c.byModel[[2]string{s.Experiment.Value, model}]
}

// model is the live model of one run.
func (c *Clients) model(m run.ModelFor) (loop.Model, error) {
	if c == nil {
		return nil, errors.New("a live model is run with --live only")
	}
	client := c.Client(m.Spec, m.Cell.Model)
	if client == nil {
		return nil, errors.New("a live model is run with --live only")
	}
	return client.Trial(m.Cell.Trial), nil
}
