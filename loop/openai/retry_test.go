package openai_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poimen-memory/mem/loop/openai"
)

// arrivals answers the first requests with responses and all others with a completion, and
// keeps when each came.
type arrivals struct {
	responses []func() *http.Response
	at        []time.Time
}

func (a *arrivals) answer(*http.Request) *http.Response {
	a.at = append(a.at, time.Now())
	if n := len(a.at); n <= len(a.responses) {
		return a.responses[n-1]()
	}
	return ok()
}

// gaps are the times between requests.
func (a *arrivals) gaps() (gaps []time.Duration) {
	for i := 1; i < len(a.at); i++ {
		gaps = append(gaps, a.at[i].Sub(a.at[i-1]))
	}
	return gaps
}

func status(code int, header ...string) func() *http.Response {
	return func() *http.Response { return respond(code, "", header...) }
}

func repeat(f func() *http.Response, n int) (all []func() *http.Response) {
	for range n {
		all = append(all, f)
	}
	return all
}

// within fails unless lo ≤ got ≤ hi.
func within(t *testing.T, what string, got, lo, hi time.Duration) {
	t.Helper()
	if got < lo || got > hi {
		t.Errorf("%s: %v, want %v to %v", what, got, lo, hi)
	}
}

func TestRetryAfter(t *testing.T) {
	for name, test := range map[string]struct {
		header []string
		lo, hi time.Duration
	}{
		"seconds":         {[]string{"Retry-After", "30"}, 30 * time.Second, 33 * time.Second},
		"fraction":        {[]string{"Retry-After", "2.5"}, 2500 * time.Millisecond, 2750 * time.Millisecond},
		"date, own clock": {[]string{"Retry-After", "Sat, 01 Jan 2000 00:00:40 GMT"}, 40 * time.Second, 44 * time.Second},
		"date, skewed":    {[]string{"Retry-After", "Tue, 01 Jan 2030 00:00:20 GMT", "Date", "Tue, 01 Jan 2030 00:00:00 GMT"}, 20 * time.Second, 22 * time.Second},
		"date, past":      {[]string{"Retry-After", "Fri, 31 Dec 1999 00:00:00 GMT"}, time.Second / 2, 3 * time.Second / 2},
		"capped":          {[]string{"Retry-After", "86400"}, time.Minute, 66 * time.Second},
		"huge":            {[]string{"Retry-After", "1e300"}, time.Minute, 66 * time.Second},
		"less than ours":  {[]string{"Retry-After", "0.001"}, time.Second / 2, 3 * time.Second / 2},
		"negative":        {[]string{"Retry-After", "-5"}, time.Second / 2, 3 * time.Second / 2},
		"no number":       {[]string{"Retry-After", "NaN"}, time.Second / 2, 3 * time.Second / 2},
		"nonsense":        {[]string{"Retry-After", "soon"}, time.Second / 2, 3 * time.Second / 2},
		"none":            {nil, time.Second / 2, 3 * time.Second / 2},
	} {
		for _, code := range []int{429, 503} {
			synctest.Test(t, func(t *testing.T) {
				a := arrivals{responses: repeat(status(code, test.header...), 1)}
				complete(t, offline(t, openai.Config{Retry: openai.Retry{Initial: time.Second, MaxRetryAfter: time.Minute}}, a.answer))
				within(t, name, a.gaps()[0], test.lo, test.hi)
			})
		}
	}
}

func TestBackoffDoublesWithJitter(t *testing.T) {
	first := map[time.Duration]bool{}
	for range 5 {
		synctest.Test(t, func(t *testing.T) {
			a := arrivals{responses: repeat(status(500), 6)}
			complete(t, offline(t, openai.Config{Retry: openai.Retry{Initial: time.Second, MaxInterval: 8 * time.Second, GiveUpAfter: time.Minute}}, a.answer))
			for i, want := range []time.Duration{1, 2, 4, 8, 8, 8} {
				within(t, "gap", a.gaps()[i], want*time.Second/2, want*time.Second*3/2+1)
			}
			first[a.gaps()[0]] = true
		})
	}
	if len(first) < 2 {
		t.Errorf("first gaps are all %v: no jitter", first)
	}
}

func TestRetriesEnd(t *testing.T) {
	for name, test := range map[string]struct {
		retry    openai.Retry
		lo, hi   int
		duration time.Duration
	}{
		"by default after 10": {openai.Retry{Initial: time.Millisecond}, 10, 10, 2 * time.Second},
		"by number":           {openai.Retry{MaxTries: 4}, 4, 4, time.Minute},
		"one is no retry":     {openai.Retry{MaxTries: 1}, 1, 1, 0},
		"by time":             {openai.Retry{MaxTries: 1000, MaxElapsed: 20 * time.Second, Initial: time.Second, MaxInterval: time.Second}, 13, 41, 20 * time.Second},
		"by no time at all":   {openai.Retry{MaxTries: 1000, MaxElapsed: time.Nanosecond}, 1, 1, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			a, start := arrivals{responses: repeat(status(500), 2000)}, time.Now()
			c := offline(t, openai.Config{Retry: test.retry}, a.answer)
			_, err := c.Complete(t.Context(), ask)
			as[*openai.StatusError](t, err)
			if n := len(a.at); n < test.lo || n > test.hi || c.Stats().Attempts != n || c.Stats().Retries != n-1 {
				t.Errorf("%s: %d attempts, want %d to %d; stats %+v", name, n, test.lo, test.hi, c.Stats())
			}
			within(t, name, time.Since(start), 0, test.duration)
		})
	}
}

// TestTimeoutsAreTriedAgain: once, where one of them is longer than a server is given, and as
// often as all of a call's attempts may take by default, where it is given that time.
func TestTimeoutsAreTriedAgain(t *testing.T) {
	for giveUp, want := range map[time.Duration]int{0: 2, 3 * time.Hour: 5} {
		synctest.Test(t, func(t *testing.T) {
			cfg := openai.Config{Timeout: 20 * time.Minute, Retry: openai.Retry{GiveUpAfter: giveUp}}
			c := offline(t, cfg, func(r *http.Request) *http.Response { pass(r, time.Hour); return ok() })
			c.Complete(t.Context(), ask)
			if n := c.Stats().Attempts; n != want {
				t.Errorf("given %v: %d attempts of 20 minutes, want %d", giveUp, n, want)
			}
		})
	}
}

func TestElapsedTimeCountsAttemptsAndNotTheLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := offline(t, openai.Config{
			Retry:  openai.Retry{MaxTries: 1000, MaxElapsed: 35 * time.Second, GiveUpAfter: time.Hour, Initial: time.Millisecond, MaxInterval: time.Millisecond},
			Limits: openai.Limits{MaxConnections: 1},
		}, func(r *http.Request) *http.Response { pass(r, 10*time.Second); return respond(500, "") })
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() { c.Complete(t.Context(), ask) })
		}
		wg.Wait()
		if n := c.Stats().Attempts; n != 8 {
			t.Errorf("%d attempts of 10s by two calls with 35s each, want 8", n)
		}
	})
}

// TestCallsComeBackApart: a hundred calls that were all told to wait a minute do not all
// return on the minute.
func TestCallsComeBackApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		a := arrivals{responses: repeat(status(429, "Retry-After", "60"), 100)}
		c := offline(t, openai.Config{Limits: openai.Limits{MaxConnections: 100}}, func(r *http.Request) *http.Response {
			mu.Lock()
			defer mu.Unlock()
			return a.answer(r)
		})
		calls(t, c, 100)
		within(t, "first to last", a.at[199].Sub(a.at[100]), 5*time.Second, 6*time.Second)
	})
}

func TestTimeoutIsOfOneAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		c := offline(t, openai.Config{Timeout: 10 * time.Second}, func(r *http.Request) *http.Response {
			if n++; n == 1 {
				pass(r, time.Hour)
			}
			pass(r, 9*time.Second)
			return ok()
		})
		start := time.Now()
		complete(t, c)
		within(t, "both attempts", time.Since(start), 19*time.Second, 21*time.Second)
		if s := c.Stats(); s.Broken != 1 || s.Attempts != 2 || s.Failures != 0 {
			t.Errorf("%+v", s)
		}
	})
}

// TestCallerGivesUp: in each phase of a call, ctx's own error comes at once, and nothing is
// held against the server.
func TestCallerGivesUp(t *testing.T) {
	for name, test := range map[string]struct {
		cfg    openai.Config
		answer roundTrip
	}{
		"in flight":     {openai.Config{}, func(r *http.Request) *http.Response { pass(r, time.Hour); return ok() }},
		"in backoff":    {openai.Config{Retry: openai.Retry{MaxRetryAfter: time.Hour, MaxElapsed: 2 * time.Hour}}, func(*http.Request) *http.Response { return respond(503, "", "Retry-After", "3600") }},
		"in line":       {openai.Config{Limits: openai.Limits{MaxConnections: 1}}, func(r *http.Request) *http.Response { pass(r, time.Hour); return ok() }},
		"for its limit": {openai.Config{Limits: openai.Limits{RequestsPerMinute: 1}}, func(*http.Request) *http.Response { return ok() }},
	} {
		synctest.Test(t, func(t *testing.T) {
			test.cfg.Timeout = 2 * time.Hour
			c := offline(t, test.cfg, test.answer)
			stop := errors.New("enough")
			ctx, cancel := context.WithCancelCause(t.Context())
			done := make(chan error, 2)
			for range 2 {
				go func() { _, err := c.Complete(ctx, ask); done <- err }()
			}
			time.Sleep(time.Second)
			synctest.Wait()
			cancel(stop)
			start := time.Now()
			failed := 0
			for range 2 {
				if err := <-done; err != nil {
					failed++
					if err != context.Canceled {
						t.Errorf("%s: error is %v", name, err)
					}
				}
			}
			if failed == 0 || time.Since(start) > 0 {
				t.Errorf("%s: %d gave up after %v", name, failed, time.Since(start))
			}
			if s := c.Stats(); s.InFlight+s.Waiting+s.InBackoff+s.Failures+s.Broken != 0 || !s.BackoffUntil.IsZero() {
				t.Errorf("%s: left behind %+v", name, s)
			}
		})
	}
}

func TestBackoffIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := arrivals{responses: repeat(status(429, "Retry-After", "100"), 1)}
		c := offline(t, openai.Config{}, a.answer)
		start := time.Now()
		go complete(t, c)
		synctest.Wait()
		s := c.Stats()
		within(t, "until", s.BackoffUntil.Sub(start), 100*time.Second, 110*time.Second)
		if s.InBackoff != 1 || s.InFlight != 0 || s.TooMany != 1 {
			t.Errorf("%+v", s)
		}
		time.Sleep(2 * time.Minute)
		if s := c.Stats(); s.InBackoff != 0 || !s.BackoffUntil.IsZero() || s.Calls != 1 {
			t.Errorf("afterwards: %+v", s)
		}
	})
}

// TestWaitingIsTold, before the wait, with its end and its cause.
func TestWaitingIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, start := 0, time.Now()
		var until []time.Time
		waiting := func(at time.Time, why error) {
			if until = append(until, at); !strings.Contains(why.Error(), "status 429") {
				t.Errorf("the cause is %v", why)
			}
		}
		c := offline(t, openai.Config{Waiting: waiting}, func(r *http.Request) *http.Response {
			if n++; n == 1 {
				return respond(429, "", "Retry-After", "40")
			}
			return ok()
		})
		complete(t, c)
		if len(until) != 1 || !until[0].Equal(time.Now()) || time.Since(start) < 40*time.Second {
			t.Errorf("told to wait until %v, from %v; it is %v now", until, start, time.Now())
		}
	})
}

// TestUntilEndsWaitingOnly: a call that waits to be tried again is given up at once, one in
// flight brings its reply, and none is begun.
func TestUntilEndsWaitingOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		until, stop := context.WithCancel(t.Context())
		n, start := 0, time.Now()
		c := offline(t, openai.Config{Until: until}, func(r *http.Request) *http.Response {
			if n++; n == 1 {
				return respond(429, "", "Retry-After", "200")
			}
			pass(r, 20*time.Second)
			return ok()
		})
		var waits, flies error
		var wg sync.WaitGroup
		wg.Go(func() { _, waits = c.Complete(t.Context(), ask) })
		time.Sleep(time.Second)
		wg.Go(func() { _, flies = c.Complete(t.Context(), ask) })
		time.Sleep(time.Second)
		stop()
		wg.Wait()
		_, after := c.Complete(t.Context(), ask)
		if !errors.Is(waits, context.Canceled) || flies != nil || !errors.Is(after, context.Canceled) {
			t.Errorf("waiting: %v; in flight: %v; after: %v", waits, flies, after)
		}
		if took := time.Since(start); took != 21*time.Second || n != 2 {
			t.Errorf("took %v and %d requests, want the 21 s of the call in flight, and 2", took, n)
		}
	})
}
