package openai_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/openai"
	"github.com/poimen-memory/mem/scripted/fakeserver"
)

const key = "sk-live-0123456789abcdef"

var ask = loop.Request{Turn: 1, Attempt: 1, User: "<memory>No previous memory</memory>", MaxTokens: 2048}

// impatient retries at once, so that tests over a real network do not wait.
func impatient(tries int) openai.Retry {
	return openai.Retry{MaxTries: tries, Initial: time.Microsecond, MaxInterval: time.Microsecond, MaxRetryAfter: time.Microsecond}
}

func serve(t testing.TB, cfg fakeserver.Config) *fakeserver.Server {
	s := fakeserver.Start(cfg)
	t.Cleanup(s.Close)
	return s
}

// client asks the server at base, with a key and three quick tries unless cfg says otherwise.
func client(t testing.TB, base string, cfg openai.Config) *openai.Client {
	t.Helper()
	cfg.BaseURL, cfg.APIKey = base, openai.NewKey(key)
	if cfg.Model == "" {
		cfg.Model = "m"
	}
	if cfg.Retry == (openai.Retry{}) {
		cfg.Retry = impatient(3)
	}
	c, err := openai.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func complete(t testing.TB, c *openai.Client) loop.Completion {
	t.Helper()
	got, err := c.Complete(context.Background(), ask)
	if err != nil {
		t.Error(err)
	}
	return got
}

func ptr[T any](v T) *T { return &v }

func as[E error](t testing.TB, err error) E {
	t.Helper()
	var e E
	if !errors.As(err, &e) {
		t.Fatalf("error is %v, want a %T", err, e)
	}
	return e
}

// roundTrip is a network without one, for tests of time in a synctest bubble.
type roundTrip func(*http.Request) *http.Response

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) {
	resp := f(r)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	resp.Request = r
	return resp, nil
}

// pass takes the time a server needs, or until the client leaves.
func pass(r *http.Request, d time.Duration) {
	select {
	case <-r.Context().Done():
	case <-time.After(d):
	}
}

func respond(status int, body string, header ...string) *http.Response {
	h := http.Header{}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body))}
}

func ok() *http.Response {
	return respond(200, `{"choices":[{"message":{"content":"ok"},"finish_reason":"stop"}],"usage":{"prompt_tokens":90,"completion_tokens":10}}`)
}

// offline is a client whose requests f answers.
func offline(t testing.TB, cfg openai.Config, f roundTrip) *openai.Client {
	cfg.Transport = f
	if cfg.Retry == (openai.Retry{}) {
		cfg.Retry = openai.Retry{Initial: time.Second}
	}
	return client(t, "https://models.example/v1", cfg)
}
