package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	sdk "github.com/sashabaranov/go-openai"
)

// exchange is the RoundTripper of one attempt, below go-openai. It sends body in place of
// the one go-openai wrote, and hands up only replies that hold a completion.
type exchange struct {
	cfg  Config
	url  string // for errors
	body []byte

	hops  int      // redirects followed
	reply envelope // what go-openai's types leave out
}

// maxHops is enough for a trailing slash and a moved path.
const maxHops = 3

// do makes the attempt. Its error is a failure.
func (x *exchange) do(ctx context.Context) (answer, error) {
	late := fmt.Errorf("no whole reply within %v", x.cfg.Timeout)
	ctx, cancel := context.WithTimeoutCause(ctx, x.cfg.Timeout, late)
	defer cancel()
	api := sdk.DefaultConfig(x.cfg.APIKey.value())
	api.BaseURL, api.HTTPClient = x.cfg.BaseURL, &http.Client{Transport: x}
	// The request is empty, so that go-openai does not veto parameters by the model's name.
	resp, err := sdk.NewClientWithConfig(api).CreateChatCompletion(ctx, sdk.ChatCompletionRequest{})
	if err != nil {
		return answer{}, x.explain(ctx, err)
	}
	return x.answer(resp)
}

// explain types an error that came up through http.Client and go-openai.
func (x *exchange) explain(ctx context.Context, err error) error {
	var known failure
	var outer *url.Error
	switch {
	case errors.As(err, &known):
		return known
	case ctx.Err() != nil:
		return x.transportError(context.Cause(ctx))
	case errors.As(err, &outer):
		return x.transportError(outer.Err)
	}
	return x.replyError("is no chat completion: " + err.Error()) // go-openai could not decode it
}

func (x *exchange) transportError(err error) error {
	if said := x.cfg.APIKey.scrub(err.Error()); said != err.Error() {
		err = errors.New(said) // net/http quotes what is no HTTP
	}
	return &TransportError{Model: x.cfg.Model, URL: x.url, Err: err}
}

func (x *exchange) replyError(problem string) *ReplyError {
	return &ReplyError{Model: x.cfg.Model, URL: x.url, Problem: "the reply " + x.quote(problem)}
}

// quote makes a server's text fit for an error.
func (x *exchange) quote(text string) string { return line(x.cfg.APIKey.scrub(text)) }

// RoundTrip returns a response that holds a completion, or a redirect that may be followed.
func (x *exchange) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := x.cfg.Transport.RoundTrip(x.dress(req))
	if err != nil {
		return nil, err
	}
	if x.follows(req, resp) {
		x.hops++
		return resp, nil
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, x.statusError(req, resp)
	}
	body, err := x.read(resp)
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// dress puts our body into a copy of go-openai's request.
func (x *exchange) dress(req *http.Request) *http.Request {
	if req.Body != nil {
		req.Body.Close()
	}
	req = req.Clone(req.Context())
	req.ContentLength = int64(len(x.body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(x.body)), nil }
	req.Body, _ = req.GetBody()
	return req
}

// follows reports whether resp redirects within the same scheme, host and port, keeping
// method and body. Any other redirect is refused: http.Client would take the key along to
// other ports and subdomains, and turn the call into a GET.
func (x *exchange) follows(req *http.Request, resp *http.Response) bool {
	if resp.StatusCode != http.StatusTemporaryRedirect && resp.StatusCode != http.StatusPermanentRedirect {
		return false
	}
	to, err := resp.Location()
	return err == nil && x.hops < maxHops && to.Scheme == req.URL.Scheme && to.Host == req.URL.Host
}

// statusError reads what the server says of a status other than 200.
func (x *exchange) statusError(req *http.Request, resp *http.Response) error {
	// An error that does not arrive whole is told as far as it came.
	body, _ := io.ReadAll(io.LimitReader(resp.Body, min(x.cfg.MaxResponseBytes, 64<<10)))
	e := x.refusal(resp, body)
	if to, err := resp.Location(); err == nil && resp.StatusCode < 400 {
		e.Message = x.quote(fmt.Sprintf("redirects to %s://%s%s, where the key is not sent; want that in base_url", to.Scheme, to.Host, to.Path))
	}
	if e.Message == "" {
		e.Message = http.StatusText(resp.StatusCode)
	}
	return e
}

func (x *exchange) refusal(resp *http.Response, body []byte) *StatusError {
	p := describe(body)
	return &StatusError{
		Model: x.cfg.Model, URL: x.url, Status: resp.StatusCode,
		Code: x.quote(p.code), Type: x.quote(p.kind), Message: x.quote(p.message),
		RetryAfter: retryAfter(resp.Header, time.Now()),
	}
}

// read returns the body of a 200 if it holds a completion.
func (x *exchange) read(resp *http.Response) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, x.cfg.MaxResponseBytes+1))
	switch {
	case err != nil:
		return nil, err
	case int64(len(body)) > x.cfg.MaxResponseBytes:
		e := x.replyError(fmt.Sprintf("is over %d bytes", x.cfg.MaxResponseBytes))
		e.final = true
		return nil, e
	}
	if err := json.Unmarshal(body, &x.reply); err != nil {
		return nil, x.malformed(resp, body, err)
	}
	if len(x.reply.Choices) == 0 {
		return nil, x.noChoices(resp, body)
	}
	return body, nil
}

func (x *exchange) malformed(resp *http.Response, body []byte, err error) error {
	return x.replyError(fmt.Sprintf("(%s) is no chat completion: %v: %s", resp.Header.Get("Content-Type"), err, body))
}

// noChoices tells an error in a 200 from a reply that is merely empty.
func (x *exchange) noChoices(resp *http.Response, body []byte) error {
	if x.reply.isError() {
		return x.refusal(resp, body)
	}
	return x.replyError("has no choices: " + string(body))
}
