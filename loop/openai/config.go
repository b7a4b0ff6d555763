package openai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Config is one model at one server. BaseURL and Model are required.
type Config struct {
	BaseURL string // the URL before /chat/completions, such as http://localhost:8000/v1
	Model   string // as the server knows it
	APIKey  Key
	Params  Params

	Timeout          time.Duration // of one attempt, its whole reply included; 0: 2 minutes
	MaxResponseBytes int64         // of one reply, uncompressed; 0: 16 MiB
	Retry            Retry
	Limits           Limits

	// Waiting is called, from any goroutine, when a call that failed begins to wait to be
	// tried again; or nil.
	Waiting func(until time.Time, why error)

	// Count counts the tokens of a text, for a Cost that the server's usage does not tell, or
	// not credibly. Nil: a third of the bytes.
	Count func(text string) int

	// Admit is asked before each request, from any goroutine; its error ends the call, and the
	// request is not sent. Nil admits all. Charge is told after each request that was admitted
	// what it may have cost; or nil.
	Admit  func() error
	Charge func(Cost)

	// Until, when it is done, ends all waiting: no attempt is begun any more, and one in
	// flight is still waited for, as it is paid for. Nil: never.
	Until context.Context

	// Transport carries the requests. Nil is the standard one, with proxies from the
	// environment and certificates verified. Address is what errors name in place of the URL,
	// where it carries them to no server.
	Transport http.RoundTripper
	Address   string
}

// Retry bounds the attempts of one call that has failed in transport. Between two of them
// passes a time that doubles from Initial to MaxInterval, each half as long to half as long
// again by chance, and at least what the server asks for.
type Retry struct {
	MaxTries      int           // attempts, the first included; 0: 10
	MaxElapsed    time.Duration // in attempts and between them, not in line for a connection; 0: 10 minutes, or five timeouts if they are longer
	Initial       time.Duration // 0: half a second
	MaxInterval   time.Duration // 0: a minute
	MaxRetryAfter time.Duration // the longest wait that a server may ask for; 0: 5 minutes

	// GiveUpAfter is how long a server may fail without one success, all calls together, until
	// nothing more is asked of it; 0: 45 seconds. Where it asks for waits itself, it is given
	// MaxRetryAfter.
	GiveUpAfter time.Duration
}

// Limits are shared by all calls of a Client.
type Limits struct {
	MaxConnections    int // calls in flight, where the adaptive limit starts and its ceiling; 0: 8
	MinConnections    int // the adaptive limit's floor; 0: 1
	RequestsPerMinute int // 0: any number
	TokensPerMinute   int // of prompts and replies together; 0: any number
}

const (
	defaultTimeout          = 2 * time.Minute
	defaultMaxResponseBytes = 16 << 20
	defaultMaxConnections   = 8
)

func (r Retry) withDefaults(timeout time.Duration) Retry {
	return Retry{
		MaxTries:      cmp.Or(r.MaxTries, 10),
		MaxElapsed:    cmp.Or(r.MaxElapsed, max(10*time.Minute, 5*timeout)),
		Initial:       cmp.Or(r.Initial, 500*time.Millisecond),
		MaxInterval:   cmp.Or(r.MaxInterval, time.Minute),
		MaxRetryAfter: cmp.Or(r.MaxRetryAfter, 5*time.Minute),
		GiveUpAfter:   cmp.Or(r.GiveUpAfter, 45*time.Second),
	}
}

func (l Limits) withDefaults() Limits {
	l.MaxConnections = cmp.Or(l.MaxConnections, defaultMaxConnections)
	l.MinConnections = cmp.Or(l.MinConnections, 1)
	return l
}

func (c Config) withDefaults() Config {
	c.Timeout = cmp.Or(c.Timeout, defaultTimeout)
	c.MaxResponseBytes = cmp.Or(c.MaxResponseBytes, defaultMaxResponseBytes)
	c.Retry, c.Limits = c.Retry.withDefaults(c.Timeout), c.Limits.withDefaults()
	if c.Until == nil {
		c.Until = context.Background()
	}
	if c.Waiting == nil {
		c.Waiting = func(time.Time, error) {}
	}
	if c.Count == nil {
		c.Count = func(text string) int { return guess(len(text)) }
	}
	if c.Admit == nil {
		c.Admit = func() error { return nil }
	}
	if c.Charge == nil {
		c.Charge = func(Cost) {}
	}
	if c.Transport == nil {
		c.Transport = transport(c.Limits.MaxConnections)
	}
	return c
}

// transport keeps a connection open for each call that may be in flight: the standard one
// keeps two, and would dial anew for most calls. A prompt of the usual size goes out in one
// write, not in pieces of 4 KB each of which wakes the other side.
func transport(connections int) http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = connections, connections
	t.WriteBufferSize = 64 << 10
	return t
}

// check returns all that is wrong with c, defaults filled in.
func (c Config) check() error {
	errs := []error{c.APIKey.check()}
	if _, err := parseBase(c.BaseURL); err != nil {
		errs = append(errs, err)
	}
	if c.Model == "" {
		errs = append(errs, errors.New("model: is empty; want its name at the server"))
	}
	return errors.Join(append(errs, c.checkNumbers()...)...)
}

func (c Config) checkNumbers() (errs []error) {
	for _, n := range []struct {
		name  string
		value int64
	}{
		{"timeout", int64(c.Timeout)}, {"max_response_bytes", c.MaxResponseBytes},
		{"retry.max_tries", int64(c.Retry.MaxTries)}, {"retry.max_elapsed", int64(c.Retry.MaxElapsed)},
		{"retry.initial", int64(c.Retry.Initial)}, {"retry.max_interval", int64(c.Retry.MaxInterval)},
		{"retry.max_retry_after", int64(c.Retry.MaxRetryAfter)}, {"retry.give_up_after", int64(c.Retry.GiveUpAfter)},
		{"max_connections", int64(c.Limits.MaxConnections)}, {"min_connections", int64(c.Limits.MinConnections)},
		{"requests_per_minute", int64(c.Limits.RequestsPerMinute)}, {"tokens_per_minute", int64(c.Limits.TokensPerMinute)},
	} {
		if n.value < 0 {
			errs = append(errs, fmt.Errorf("%s: is negative; want 0 for the default, or more", n.name))
		}
	}
	if c.Limits.MinConnections > c.Limits.MaxConnections {
		errs = append(errs, fmt.Errorf("min_connections: is %d; want at most max_connections, %d",
			c.Limits.MinConnections, c.Limits.MaxConnections))
	}
	return errs
}

// parseBase reads a base URL. Its errors do not repeat a URL that may hold a password.
func parseBase(base string) (*url.URL, error) {
	u, err := url.Parse(base)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("base_url: is not an http or https URL; want such as http://localhost:8000/v1")
	case u.User != nil:
		return nil, errors.New("base_url: holds user info; want the key in an environment variable of its own")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, fmt.Errorf("base_url: %s://%s%s is followed by a query or fragment; want none", u.Scheme, u.Host, u.Path)
	}
	return u, nil
}

// Warnings says what is allowed and yet unwise.
func (c Config) Warnings() []string {
	u, err := parseBase(c.BaseURL)
	if err != nil || c.Address != "" || u.Scheme == "https" || loopback(u.Hostname()) {
		return nil
	}
	return []string{fmt.Sprintf("model %s: %s://%s sends prompts and key unencrypted to another host; want https", c.Model, u.Scheme, u.Host)}
}

func loopback(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}
