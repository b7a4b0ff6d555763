package openai

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// pace says how long to wait after each failed attempt of one call.
type pace struct {
	Retry
	intervals *backoff.ExponentialBackOff
	tries     int
	spent     time.Duration // in attempts and between them
}

func newPace(r Retry) *pace {
	return &pace{Retry: r, intervals: &backoff.ExponentialBackOff{
		InitialInterval: r.Initial, MaxInterval: r.MaxInterval, Multiplier: 2, RandomizationFactor: 0.5,
	}}
}

// next returns the wait before another attempt, after one that took a while and failed; ok
// is false if there is to be none.
func (p *pace) next(err error, took time.Duration) (wait time.Duration, ok bool) {
	p.tries++
	p.spent += took
	var f failure
	if !errors.As(err, &f) || !f.passing() || p.tries >= p.MaxTries {
		return 0, false
	}
	wait = max(p.intervals.NextBackOff(), p.asked(f))
	p.spent += wait
	return wait, p.spent <= p.MaxElapsed
}

// asked is the server's Retry-After within its cap, and up to a tenth more: all calls that
// were refused together would come back together.
func (p *pace) asked(err error) time.Duration {
	var status *StatusError
	if !errors.As(err, &status) || status.RetryAfter == 0 {
		return 0
	}
	after := min(status.RetryAfter, p.MaxRetryAfter)
	return after + rand.N(after/10+1)
}

// retryAfter reads the header of that name, in seconds or as a date; 0 is none. A date is
// compared with the server's own clock where the reply has it.
func retryAfter(h http.Header, now time.Time) time.Duration {
	value := h.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		if !(seconds > 0) { // NaN too
			return 0
		}
		return time.Duration(min(seconds, (1000*time.Hour).Seconds()) * float64(time.Second))
	}
	until, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	if theirs, err := http.ParseTime(h.Get("Date")); err == nil {
		now = theirs
	}
	return max(0, until.Sub(now))
}

// sleep returns early with ctx's error.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
