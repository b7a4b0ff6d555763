package openai_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poimen-memory/mem/loop/openai"
)

// TestServerThatFailsForGoodIsGivenUp in under a minute, for all calls together, whatever
// else would allow; and nothing more is asked of it.
func TestServerThatFailsForGoodIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		n, start := 0, time.Now()
		c := offline(t, openai.Config{Retry: openai.Retry{MaxTries: 1000}}, func(*http.Request) *http.Response {
			mu.Lock()
			defer mu.Unlock()
			n++
			return respond(500, "")
		})
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				_, err := c.Complete(t.Context(), ask)
				as[*openai.GivenUp](t, err)
			})
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if s := c.Stats(); s.FailingSince.IsZero() || s.GivenUpAt.Sub(s.FailingSince) != 45*time.Second {
			t.Errorf("fails since %v, given up at %v", s.FailingSince, s.GivenUpAt)
		}
		wg.Wait()
		within(t, "given up", time.Since(start), 45*time.Second, 59*time.Second)
		before := n
		_, err := c.Complete(t.Context(), ask)
		gone := as[*openai.GivenUp](t, err)
		if !gone.NotSent() || n != before || !strings.Contains(err.Error(), "given up after 45s without one reply") || !strings.Contains(err.Error(), "status 500") {
			t.Errorf("%v after %d more requests", err, n-before)
		}
	})
}

// TestOneSuccessIsEnough: a server that answers now and then is not given up.
func TestOneSuccessIsEnough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		c := offline(t, openai.Config{Retry: openai.Retry{MaxTries: 8}, Limits: openai.Limits{MaxConnections: 1}}, func(*http.Request) *http.Response {
			if n++; n%5 != 0 {
				return respond(500, "")
			}
			return ok()
		})
		start := time.Now()
		for range 30 {
			complete(t, c)
		}
		if s := c.Stats(); time.Since(start) < 2*time.Minute || !s.FailingSince.IsZero() || !s.GivenUpAt.IsZero() {
			t.Errorf("%v, fails since %v", time.Since(start), s.FailingSince)
		}
	})
}

// TestWaitsThatTheServerAsksFor are made, though they be longer than a server is given; yet
// not for ever.
func TestWaitsThatTheServerAsksFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := arrivals{responses: repeat(status(429, "Retry-After", "90"), 2)}
		start := time.Now()
		complete(t, offline(t, openai.Config{}, a.answer))
		within(t, "two waits", time.Since(start), 180*time.Second, 200*time.Second)

		a, start = arrivals{responses: repeat(status(429, "Retry-After", "90"), 1000)}, time.Now()
		c := offline(t, openai.Config{Retry: openai.Retry{MaxTries: 1000, MaxElapsed: time.Hour}}, a.answer)
		_, err := c.Complete(t.Context(), ask)
		if as[*openai.GivenUp](t, err).NotSent() {
			t.Error("the call that gave up is said to be unasked")
		}
		within(t, "all waits", time.Since(start), 5*time.Minute, 7*time.Minute)
	})
}

// TestLateSuccessTakesItBack: of a call that was in flight when the server was given up.
func TestLateSuccessTakesItBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		n := 0
		c := offline(t, openai.Config{}, func(r *http.Request) *http.Response {
			mu.Lock()
			n++
			first := n == 1
			mu.Unlock()
			if first {
				pass(r, 100*time.Second)
				return ok()
			}
			if n > 50 {
				return ok()
			}
			return respond(503, "")
		})
		var wg sync.WaitGroup
		wg.Go(func() { complete(t, c) })
		time.Sleep(time.Second)
		_, err := c.Complete(t.Context(), ask)
		as[*openai.GivenUp](t, err)
		wg.Wait()
		mu.Lock()
		n = 50
		mu.Unlock()
		complete(t, c)
	})
}

// TestRateLimitResets are heeded where a request was refused for load, within the bounds of
// any wait that a server asks for.
func TestRateLimitResets(t *testing.T) {
	const own = 1500 * time.Millisecond // the longest of ours before a first retry
	for name, test := range map[string]struct {
		code   int
		header []string
		want   time.Duration
	}{
		"duration":             {429, []string{"x-ratelimit-reset-requests", "12s"}, 12 * time.Second},
		"long duration":        {429, []string{"x-ratelimit-reset-tokens", "1m0s"}, time.Minute},
		"capped":               {429, []string{"x-ratelimit-reset-tokens", "6m0s"}, 2 * time.Minute},
		"short":                {429, []string{"x-ratelimit-reset-tokens", "20ms"}, 0},
		"seconds":              {429, []string{"x-ratelimit-reset", "7.66"}, 7660 * time.Millisecond},
		"epoch":                {429, []string{"x-ratelimit-reset", "946684830"}, 2 * time.Minute}, // seconds: 946,684,830 is too soon for a time
		"epoch, own clock":     {429, []string{"x-ratelimit-reset", "1893456020", "Date", "Tue, 01 Jan 2030 00:00:00 GMT"}, 20 * time.Second},
		"epoch in ms":          {429, []string{"x-ratelimit-reset", "1893456020000", "Date", "Tue, 01 Jan 2030 00:00:00 GMT"}, 20 * time.Second},
		"RFC 3339":             {429, []string{"anthropic-ratelimit-tokens-reset", "2000-01-01T00:00:30Z"}, 30 * time.Second},
		"RFC 3339 of the past": {429, []string{"anthropic-ratelimit-tokens-reset", "1999-01-01T00:00:30Z"}, 0},
		"overloaded":           {503, []string{"x-ratelimit-reset-requests", "12s"}, 12 * time.Second},
		"529":                  {529, []string{"ratelimit-reset", "12"}, 12 * time.Second},
		"the later":            {429, []string{"x-ratelimit-reset-requests", "12s", "x-ratelimit-reset-tokens", "40s"}, 40 * time.Second},
		"the one that is used up": {429, []string{
			"x-ratelimit-remaining-requests", "14000", "x-ratelimit-reset-requests", "100s", "x-ratelimit-remaining-tokens", "0", "x-ratelimit-reset-tokens", "7s",
		}, 7 * time.Second},
		"neither is used up": {429, []string{
			"x-ratelimit-remaining-requests", "14000", "x-ratelimit-reset-requests", "100s", "x-ratelimit-remaining-tokens", "50", "x-ratelimit-reset-tokens", "7s",
		}, 7 * time.Second},
		"Retry-After goes first":    {429, []string{"x-ratelimit-reset-requests", "50s", "Retry-After", "9"}, 9 * time.Second},
		"milliseconds before that":  {429, []string{"Retry-After", "50", "retry-after-ms", "9000"}, 9 * time.Second},
		"milliseconds, capped":      {503, []string{"retry-after-ms", "1e30"}, 2 * time.Minute},
		"milliseconds, nonsense":    {503, []string{"retry-after-ms", "NaN", "Retry-After", "9"}, 9 * time.Second},
		"of a server that is ill":   {500, []string{"x-ratelimit-reset-requests", "50s"}, 0},
		"nonsense":                  {429, []string{"x-ratelimit-reset-requests", "soon"}, 0},
		"negative":                  {429, []string{"x-ratelimit-reset-requests", "-5s"}, 0},
		"huge":                      {429, []string{"x-ratelimit-reset-requests", "99999999h"}, 0}, // no duration
		"huge number":               {429, []string{"x-ratelimit-reset-requests", "1e300"}, 2 * time.Minute},
		"too early":                 {425, []string{"Retry-After", "9"}, 9 * time.Second},
		"Retry-After as a duration": {429, []string{"Retry-After", "9s"}, 9 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			a := arrivals{responses: repeat(status(test.code, test.header...), 1)}
			complete(t, offline(t, openai.Config{Retry: openai.Retry{Initial: time.Second, MaxRetryAfter: 2 * time.Minute}}, a.answer))
			lo, hi := test.want, test.want*11/10+1
			if test.want == 0 {
				lo, hi = own/3, own
			}
			within(t, name, a.gaps()[0], lo, hi)
		})
	}
}

// TestBaseURLHints: a path that is not there, and the edit that corrects it.
func TestBaseURLHints(t *testing.T) {
	for _, test := range []struct {
		base   string
		status int
		body   string
		hint   string
	}{
		{"http://h:8000", 404, `{"detail":"Not Found"}`, "; base_url has no /v1: want http://h:8000/v1"},
		{"http://h:8000/", 404, ``, "; base_url has no /v1: want http://h:8000/v1"},
		{"http://h/llm", 405, `Method Not Allowed`, "; base_url has no /v1: want http://h/llm/v1"},
		{"http://h/v1/chat/completions", 404, ``, "; base_url ends with /chat/completions, and requests go to a path below it: want http://h/v1"},
		{"http://h/chat/completions/", 404, ``, "below it: want http://h/v1"},
		{"http://h/v1/models", 404, ``, "below it: want http://h/v1"},
		{"http://h/v1", 404, `{"detail":"Not Found"}`, ""},
		{"http://h/v1beta/openai", 404, ``, ""},
		{"http://h", 404, "{\"error\":{\"message\":\"The model `m` does not exist.\"}}", ""},
		{"http://h", 500, ``, ""},
		{"http://h", 200, `<html>Welcome</html>`, "; base_url has no /v1: want http://h/v1"},
	} {
		c, err := openai.New(openai.Config{BaseURL: test.base, Model: "m", Retry: impatient(1), Transport: roundTrip(func(*http.Request) *http.Response {
			return respond(test.status, test.body)
		})})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Complete(t.Context(), ask)
		if err == nil || !strings.HasSuffix(err.Error(), test.hint) || test.hint == "" && strings.Contains(err.Error(), "base_url") {
			t.Errorf("%s, status %d: %v, want …%s", test.base, test.status, err, test.hint)
		}
	}
}
