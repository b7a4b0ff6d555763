package openai

import (
	"context"
	"errors"
	"math/rand/v2"
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

// next returns the wait before another attempt, after one that took a while and failed, and
// the part of it that the server asks for; ok is false if there is to be none.
func (p *pace) next(err error, took time.Duration) (wait, asked time.Duration, ok bool) {
	p.tries++
	p.spent += took
	var f failure
	if !errors.As(err, &f) || !f.passing() {
		return 0, 0, false
	}
	asked = p.asked(f)
	wait = max(p.intervals.NextBackOff(), asked)
	p.spent += wait
	return wait, asked, p.tries < p.MaxTries && p.spent <= p.MaxElapsed
}

// asked is the wait that the server asks for, within its cap, and up to a tenth more: all calls that
// were refused together would come back together.
func (p *pace) asked(err error) time.Duration {
	var status *StatusError
	if !errors.As(err, &status) || status.RetryAfter == 0 {
		return 0
	}
	after := min(status.RetryAfter, p.MaxRetryAfter)
	return after + rand.N(after/10+1)
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
