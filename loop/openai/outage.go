package openai

import (
	"fmt"
	"sync"
	"time"

	"github.com/poimen-memory/mem/loop"
)

// outage bounds how long a server may fail without one success, all calls together. Its
// zero time of failing is that of a server that answers.
type outage struct {
	limit time.Duration // from the first failure on
	asked time.Duration // at most, where the server itself asks for waits

	mu     sync.Mutex
	since  time.Time // the first failure after the last success
	end    time.Time // when it is given up, unless it succeeds
	failed int       // attempts since
	gone   *GivenUp  // set once it is given up
}

// GivenUp is a call that was not made, or not made again, since its server has failed for
// longer than Retry.GiveUpAfter without one success.
type GivenUp struct {
	For      time.Duration // from the first failure on
	Attempts int           // that failed in that time
	Err      error         // the last failure
	Asked    bool          // this call was made
}

func (e *GivenUp) Error() string {
	return fmt.Sprintf("given up after %v without one reply (%d attempts failed; give_up_after sets the time); go on with --live --resume: %v",
		e.For.Round(time.Second), e.Attempts, e.Err)
}

var _ loop.NotSent = (*GivenUp)(nil)

// NotSent reports whether the call was never made.
func (e *GivenUp) NotSent() bool { return !e.Asked }

// answered is told of a success, which may also be of a call that was sent long ago.
func (o *outage) answered() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.since, o.end, o.failed, o.gone = time.Time{}, time.Time{}, 0, nil
}

// wait is told of an attempt that failed, and of the wait before the next one, which it
// shortens so that the last attempt is made at the end. stated is the part of the wait that
// the server asked for.
func (o *outage) wait(now time.Time, wait, stated time.Duration, why error) (time.Duration, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.failed++
	if o.since.IsZero() {
		o.since, o.end = now, now.Add(o.limit)
	}
	if stated > 0 {
		o.end = latest(o.end, earliest(now.Add(wait), o.since.Add(o.asked)))
	}
	if !now.Before(o.end) {
		o.gone = &GivenUp{For: now.Sub(o.since), Attempts: o.failed, Err: why}
		return 0, &GivenUp{For: o.gone.For, Attempts: o.failed, Err: why, Asked: true}
	}
	if stated > 0 {
		return wait, nil
	}
	return min(wait, o.end.Sub(now)), nil
}

// over is why nothing more is asked, of its own for each call; nil if the server is not given up.
func (o *outage) over() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.gone == nil { // a nil *GivenUp would be no nil error
		return nil
	}
	gone := *o.gone
	return &gone
}

// report fills in s since when the server fails and when it is given up.
func (o *outage) report(s *Stats) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s.FailingSince, s.GivenUpAt = o.since, o.end
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
