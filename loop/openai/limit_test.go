package openai_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/openai"
)

// load is a server that takes a second for a reply and answers what respond says, or a
// completion where that is nil. It sees how many are in flight.
type load struct {
	respond func(n int) *http.Response // called one at a time; n counts from 1

	mu              sync.Mutex
	n, flying, most int
}

func (l *load) answer(r *http.Request) *http.Response {
	l.mu.Lock()
	l.n++
	n := l.n
	l.flying++
	l.most = max(l.most, l.flying)
	l.mu.Unlock()
	pass(r, time.Second)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flying--
	if l.respond != nil {
		if resp := l.respond(n); resp != nil {
			return resp
		}
	}
	return ok()
}

// calls makes n calls at once and waits for them.
func calls(t testing.TB, c *openai.Client, n int) {
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() { complete(t, c) })
	}
	wg.Wait()
}

func limits(s openai.Stats) (limits []int) {
	for _, step := range s.LimitHistory {
		limits = append(limits, step.Limit)
	}
	return limits
}

func TestConnectionsAreSharedAndBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, start := load{}, time.Now()
		calls(t, offline(t, openai.Config{Limits: openai.Limits{MaxConnections: 5}}, l.answer), 20)
		if l.most != 5 || time.Since(start) != 4*time.Second {
			t.Errorf("%d at once, 20 calls of a second in %v; want 5, in 4s", l.most, time.Since(start))
		}
	})
}

// TestPlaceOfACallThatLeavesIsNotLost: calls in line give up while their turn may be coming;
// those behind them are served all the same.
func TestPlaceOfACallThatLeavesIsNotLost(t *testing.T) {
	c := offline(t, openai.Config{Limits: openai.Limits{MaxConnections: 1}}, func(*http.Request) *http.Response { return ok() })
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 300 {
				ctx, cancel := context.WithCancel(t.Context())
				go cancel()
				c.Complete(ctx, ask)
			}
			complete(t, c)
		})
	}
	wg.Wait()
	if s := c.Stats(); s.InFlight+s.Waiting != 0 || s.Calls != 8*301 {
		t.Errorf("%+v", s)
	}
}

func TestTooManyHalvesOnceForCallsInFlightTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := load{respond: func(n int) *http.Response {
			if n <= 16 {
				return respond(429, "")
			}
			return nil
		}}
		c := offline(t, openai.Config{Limits: openai.Limits{MaxConnections: 16}}, l.answer)
		calls(t, c, 16)
		if got := limits(c.Stats()); len(got) < 2 || got[0] != 16 || got[1] != 8 || c.Stats().TooMany != 16 {
			t.Errorf("limits %v after %d refusals, want 16, 8", got, c.Stats().TooMany)
		}
	})
}

func TestLimitGrowsByOneARound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := load{respond: func(n int) *http.Response {
			if n == 1 {
				return respond(429, "")
			}
			return nil
		}}
		c := offline(t, openai.Config{Limits: openai.Limits{MaxConnections: 8}}, l.answer)
		calls(t, c, 100)
		s := c.Stats()
		if diff := cmp.Diff([]int{8, 4, 5, 6, 7, 8}, limits(s)); diff != "" || l.most != 8 {
			t.Errorf("most %d, limits (-want +got):\n%s", l.most, diff)
		}
		for i, step := range s.LimitHistory[2:] {
			within(t, "growth", step.After, time.Duration(i+3)*time.Second, time.Duration(2*i+5)*time.Second)
		}
	})
}

func TestLimitStaysAtItsFloor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := load{respond: func(n int) *http.Response {
			if n <= 100 {
				return respond(429, "")
			}
			return nil
		}}
		c := offline(t, openai.Config{
			Retry:  openai.Retry{MaxTries: 1000, MaxElapsed: 24 * time.Hour},
			Limits: openai.Limits{MaxConnections: 20, MinConnections: 3},
		}, l.answer)
		calls(t, c, 60)
		if got := limits(c.Stats()); len(got) < 4 || !cmp.Equal(got[:4], []int{20, 10, 5, 3}) && !cmp.Equal(got[:4], []int{20, 10, 5, 2}) {
			t.Errorf("limits %v, want 20 10 5 3", got)
		}
		for _, n := range limits(c.Stats()) {
			if n < 3 {
				t.Errorf("limit %d is under its floor", n)
			}
		}
	})
}

// TestNoGrowthAfterAServerError: a limit that was halved stays while every round has a 500,
// and grows when they end.
func TestNoGrowthAfterAServerError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ill atomic.Bool
		ill.Store(true)
		l := load{respond: func(n int) *http.Response {
			switch {
			case n == 1:
				return respond(429, "")
			case ill.Load() && n%2 == 0:
				return respond(500, "")
			}
			return nil
		}}
		c := offline(t, openai.Config{
			Retry:  openai.Retry{MaxTries: 1000, MaxElapsed: 24 * time.Hour},
			Limits: openai.Limits{MaxConnections: 8},
		}, l.answer)
		calls(t, c, 200)
		if got := limits(c.Stats()); !cmp.Equal(got, []int{8, 4}) {
			t.Errorf("limits %v while errors come, want 8 4", got)
		}
		ill.Store(false)
		calls(t, c, 200)
		if got := c.Stats().Limit; got != 8 {
			t.Errorf("limit %d after they ended, want 8", got)
		}
	})
}

// TestLongRetryAfterFreezesNobodyElse: while one call waits an hour, the others go on, and
// the limit is back at its ceiling long before.
func TestLongRetryAfterFreezesNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := load{respond: func(n int) *http.Response {
			if n == 1 {
				return respond(429, "", "Retry-After", "3600")
			}
			return nil
		}}
		c := offline(t, openai.Config{
			Retry:  openai.Retry{MaxRetryAfter: time.Hour, MaxElapsed: 2 * time.Hour},
			Limits: openai.Limits{MaxConnections: 8},
		}, l.answer)
		go complete(t, c)
		synctest.Wait()
		start := time.Now()
		calls(t, c, 100)
		if took := time.Since(start); took > 30*time.Second || c.Stats().Limit != 8 || c.Stats().InBackoff != 1 {
			t.Errorf("100 calls took %v, limit %d, %d in backoff", took, c.Stats().Limit, c.Stats().InBackoff)
		}
		time.Sleep(2 * time.Hour)
		if s := c.Stats(); s.Calls != 101 || s.InBackoff != 0 {
			t.Errorf("%+v", s)
		}
	})
}

func TestIdleLimitDoesNotGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := load{respond: func(n int) *http.Response {
			if n == 1 {
				return respond(429, "")
			}
			return nil
		}}
		c := offline(t, openai.Config{Limits: openai.Limits{MaxConnections: 8}}, l.answer)
		for range 50 {
			complete(t, c)
		}
		if got := c.Stats().Limit; got != 4 {
			t.Errorf("limit %d though one call at a time was made, want 4", got)
		}
	})
}

func TestHistoryIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := load{respond: func(n int) *http.Response {
			if n%5 == 0 {
				return respond(429, "")
			}
			return nil
		}}
		c := offline(t, openai.Config{Limits: openai.Limits{MaxConnections: 2}}, l.answer)
		for range 1000 {
			calls(t, c, 4)
		}
		h := c.Stats().LimitHistory
		if len(h) < 500 || len(h) > 1000 || h[0] != (openai.LimitChange{Limit: 2}) {
			t.Errorf("%d steps from %v", len(h), h[0])
		}
		for i := 1; i < len(h); i++ {
			if h[i].After < h[i-1].After {
				t.Fatalf("step %d is before the one before it", i)
			}
		}
	})
}

func TestRequestsPerMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a arrivals
		var mu sync.Mutex
		c := offline(t, openai.Config{Limits: openai.Limits{MaxConnections: 50, RequestsPerMinute: 120}}, func(r *http.Request) *http.Response {
			mu.Lock()
			defer mu.Unlock()
			return a.answer(r)
		})
		calls(t, c, 60)
		for _, gap := range a.gaps() {
			if gap != time.Second/2 {
				t.Fatalf("gaps are %v, want half a second each", a.gaps())
			}
		}
		time.Sleep(time.Hour) // what is not used is not saved up
		n := len(a.at)
		calls(t, c, 10)
		within(t, "10 more", a.at[n+9].Sub(a.at[n]), 4500*time.Millisecond, 4500*time.Millisecond)
	})
}

// TestTokensPerMinute: the server's count is 100 tokens a call, whatever was guessed before.
func TestTokensPerMinute(t *testing.T) {
	for name, user := range map[string]string{"guess too low": "u", "guess too high": string(make([]byte, 3000))} {
		synctest.Test(t, func(t *testing.T) {
			var a arrivals
			c := offline(t, openai.Config{Limits: openai.Limits{TokensPerMinute: 6000}}, a.answer)
			for range 61 {
				if _, err := c.Complete(context.Background(), loop.Request{User: user}); err != nil {
					t.Fatal(err)
				}
			}
			within(t, name, a.at[60].Sub(a.at[0]), 59*time.Second, 61*time.Second)
		})
	}
}

func TestStats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		c := offline(t, openai.Config{}, func(r *http.Request) *http.Response {
			n++
			pass(r, time.Duration(n)*10*time.Millisecond)
			if n == 100 {
				return respond(400, "")
			}
			return ok()
		})
		for i := range 100 {
			r := ask
			r.Attempt = 1 + i%3
			c.Complete(t.Context(), r)
		}
		s := c.Stats()
		within(t, "p50", s.Latency.P50, 500*time.Millisecond, 515*time.Millisecond)
		within(t, "p95", s.Latency.P95, 950*time.Millisecond, 980*time.Millisecond)
		within(t, "max", s.Latency.Max, 990*time.Millisecond, 990*time.Millisecond)
		within(t, "sum", s.Latency.Sum, 49500*time.Millisecond, 49500*time.Millisecond)
		if len(s.Errors) != 1 || !strings.Contains(s.Errors[0].Error, "status 400") || time.Since(s.Errors[0].At) != 0 {
			t.Errorf("errors are %+v, want the last attempt's", s.Errors)
		}
		s.Latency, s.LimitHistory, s.Errors = openai.Latency{}, nil, nil
		want := openai.Stats{
			Calls: 100, Failures: 1, ParseRetries: 66, Attempts: 100, Refused: 1,
			PromptTokens: 99 * 90, CompletionTokens: 99 * 10, Limit: 8,
		}
		if diff := cmp.Diff(want, s); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
