package openai

import (
	"context"
	"slices"
	"sync"
	"time"
)

// outcome is what an attempt says of the server's load.
type outcome int

const (
	served     outcome = iota // a completion
	overloaded                // 429
	troubled                  // 5xx, a timeout, a broken connection or reply
	refused                   // any other refusal, or the caller gave up: nothing is learnt
)

// limiter bounds the calls in flight by a limit that follows the server (additive increase,
// multiplicative decrease), first come first served:
//
//   - it starts at the ceiling, which is what the person asked for;
//   - 429 halves it, down to the floor, once for all calls that were in flight together;
//   - a reply raises it by one over the limit, so by about one a round, up to the ceiling,
//     if the call was sent under the present limit and the limit was in use;
//   - after trouble, as many replies as the limit is pass without raising it.
//
// A call that waits to be tried again holds no place, and the time it waits is not the
// limiter's concern: others go on, and raise the limit.
type limiter struct {
	mu             sync.Mutex
	limit          float64
	floor, ceiling float64
	inFlight       int
	queue          []chan lease
	era            int // counts decreases
	hold           int // replies yet to pass without growth

	start   time.Time
	history []LimitChange
}

// lease is the place of a call in flight: the era in which it was sent.
type lease struct{ era int }

// LimitChange is a step of the adaptive limit.
type LimitChange struct {
	After time.Duration `json:"after_ns"` // since the client was made
	Limit int           `json:"limit"`    // calls in flight from then on
}

// maxHistory bounds a run of days. Beyond it the older half is thinned out.
const maxHistory = 1000

func newLimiter(l Limits) *limiter {
	return &limiter{
		limit: float64(l.MaxConnections), floor: float64(l.MinConnections), ceiling: float64(l.MaxConnections),
		start: time.Now(), history: []LimitChange{{Limit: l.MaxConnections}},
	}
}

// acquire waits for a place. Its error is ctx's.
func (l *limiter) acquire(ctx context.Context) (lease, error) {
	turn := make(chan lease, 1)
	l.mu.Lock()
	l.queue = append(l.queue, turn)
	l.admit()
	l.mu.Unlock()
	select {
	case got := <-turn:
		return got, nil
	case <-ctx.Done():
		l.leave(turn)
		return lease{}, ctx.Err()
	}
}

// admit gives free places to those first in line. The caller holds mu.
func (l *limiter) admit() {
	for len(l.queue) > 0 && l.inFlight < int(l.limit) {
		l.inFlight++
		l.queue[0] <- lease{l.era}
		l.queue = slices.Delete(l.queue, 0, 1)
	}
}

// leave gives up a turn, which may have come in the meantime.
func (l *limiter) leave(turn chan lease) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.queue, turn); i >= 0 {
		l.queue = slices.Delete(l.queue, i, i+1)
		return
	}
	l.inFlight--
	l.admit()
}

// release gives a place back and learns from how the call went.
func (l *limiter) release(held lease, o outcome) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.learn(held, o)
	l.inFlight--
	l.admit()
}

func (l *limiter) learn(held lease, o outcome) {
	switch {
	case o == troubled:
		l.hold = int(l.limit)
	case held.era != l.era: // sent under a limit that no longer is
	case o == overloaded:
		l.era++
		l.set(max(l.floor, l.limit/2))
	case o == served && l.hold > 0:
		l.hold--
	case o == served && (len(l.queue) > 0 || l.inFlight >= int(l.limit)):
		l.set(min(l.ceiling, l.limit+1/l.limit))
	}
}

func (l *limiter) set(limit float64) {
	l.limit = limit
	if n := int(limit); n != l.history[len(l.history)-1].Limit {
		l.history = append(l.history, LimitChange{time.Since(l.start), n})
	}
	if len(l.history) > maxHistory {
		l.thin()
	}
}

// thin drops every other step of the older half.
func (l *limiter) thin() {
	half := len(l.history) / 2
	kept := l.history[:0]
	for i, step := range l.history {
		if i >= half || i%2 == 0 {
			kept = append(kept, step)
		}
	}
	l.history = kept
}

// report fills in s what the limiter knows.
func (l *limiter) report(s *Stats) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.InFlight, s.Waiting = l.inFlight, len(l.queue)
	s.Limit, s.LimitHistory = int(l.limit), slices.Clone(l.history)
}

// meter spaces out what is counted to a number a minute, without bursts: in any minute
// passes at most that number and one call. A nil meter lets all pass.
type meter struct {
	mu   sync.Mutex
	each time.Duration // between two
	free time.Time     // when the next call may go
}

func newMeter(perMinute int) *meter {
	if perMinute == 0 {
		return nil
	}
	return &meter{each: time.Minute / time.Duration(perMinute)}
}

// wait waits until all that was counted before is paid off, and counts n. Its error is ctx's.
func (m *meter) wait(ctx context.Context, n int) error {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	now := time.Now()
	if m.free.Before(now) {
		m.free = now
	}
	wait := m.free.Sub(now)
	m.free = m.free.Add(time.Duration(n) * m.each)
	m.mu.Unlock()
	return sleep(ctx, wait)
}

// correct counts n more, or less, of what has passed already.
func (m *meter) correct(n int) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.free = m.free.Add(time.Duration(n) * m.each)
}
