package openai

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	sdk "github.com/sashabaranov/go-openai"

	"github.com/poimen-memory/mem/loop/keyfilter"
	"github.com/poimen-memory/mem/loop/openai/chatreply"
)

// exchange is the RoundTripper of one attempt, below go-openai. It sends body in place of
// the one go-openai wrote, and hands up only replies that hold a completion.
type exchange struct {
	cfg    Config
	filter *keyfilter.Filter // of the key
	url    string            // for errors
	body   []byte

	hops   int             // redirects followed
	reply  chatreply.Reply // of a 2xx
	unread int             // bytes of a 2xx that is no completion
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
	// The request is empty, so that go-openai does not veto parameters by the model's name,
	// and so is its response: x.reply is read where servers differ.
	if _, err := sdk.NewClientWithConfig(api).CreateChatCompletion(ctx, sdk.ChatCompletionRequest{}); err != nil {
		return answer{unread: x.unread}, x.explain(ctx, err)
	}
	return x.answer(x.reply)
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
	return x.transportError(err)
}

func (x *exchange) transportError(err error) error {
	if said := x.filter.Text(err.Error()); said != err.Error() {
		err = errors.New(said) // net/http quotes what is no HTTP
	}
	return &TransportError{Model: x.cfg.Model, URL: x.url, Err: err}
}

// replyError is a reply that would come again.
func (x *exchange) replyError(problem string) *ReplyError {
	return &ReplyError{Model: x.cfg.Model, URL: x.url, Problem: "the reply " + x.quote(problem)}
}

// passingError is a reply that may come whole when it is asked for again.
func (x *exchange) passingError(problem string) *ReplyError {
	e := x.replyError(problem)
	e.brokenOff = true
	return e
}

// quote makes a server's text fit for an error.
func (x *exchange) quote(text string) string {
	return line(x.filter.Text(text[:min(len(text), 64<<10)])) // far more than a line shows
}

// RoundTrip returns a response that holds a completion, or a redirect that may be followed.
func (x *exchange) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := x.cfg.Transport.RoundTrip(x.withBody(req))
	if err != nil {
		return nil, err
	}
	if x.follows(req, resp) {
		x.hops++
		return resp, nil
	}
	defer resp.Body.Close()
	if !success(resp.StatusCode) {
		return nil, x.statusError(req, resp)
	}
	if err := x.read(resp); err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(strings.NewReader("{}"))
	return resp, nil
}

// success reports whether a status promises a reply.
func success(status int) bool { return status >= 200 && status < 300 }

// withBody puts our body into a copy of go-openai's request.
func (x *exchange) withBody(req *http.Request) *http.Request {
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

// statusError reads what the server says of a status other than 2xx.
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
	e.Hint = x.quote(hint(x.cfg, e))
	return e
}

func (x *exchange) refusal(resp *http.Response, body []byte) *StatusError {
	p := describe(body)
	return &StatusError{
		Model: x.cfg.Model, URL: x.url, Status: resp.StatusCode,
		Code: x.quote(p.code), Type: x.quote(p.kind), Message: x.quote(p.message),
		RetryAfter: retryAfter(resp.StatusCode, resp.Header, time.Now()),
	}
}

// read reads the body of a 2xx into x.reply.
func (x *exchange) read(resp *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(resp.Body, x.cfg.MaxResponseBytes+1))
	x.unread = len(body)
	switch {
	case err != nil:
		return err
	case int64(len(body)) > x.cfg.MaxResponseBytes:
		return x.replyError(fmt.Sprintf("is over %d bytes", x.cfg.MaxResponseBytes))
	case len(bytes.TrimSpace(body)) == 0:
		return x.replyError(fmt.Sprintf("(status %d) is empty", resp.StatusCode))
	}
	if x.reply, err = chatreply.Read(resp.Header.Get("Content-Type"), body); err != nil {
		return x.unreadable(resp, err)
	}
	return nil
}

// unreadable types what decoding a 2xx has found wrong.
func (x *exchange) unreadable(resp *http.Response, err error) error {
	switch err := err.(type) {
	case chatreply.ServerError:
		return x.refusal(resp, err)
	case chatreply.BrokenOff:
		return x.passingError(err.Error())
	}
	e := x.replyError(fmt.Sprintf("(%s) %v", resp.Header.Get("Content-Type"), err))
	e.Hint = x.quote(baseHint(x.cfg.BaseURL))
	return e
}
