package main

import (
	"context"
	"fmt"
	"sync"

	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/loop"
)

// meter counts what live calls cost, and stops an evaluation where its user said: at so
// many calls, or so much money. The zero value has no limit.
type meter struct {
	maxCalls int
	maxCost  float64 // USD; 0: any

	mu    sync.Mutex
	calls int
	cost  float64
	blind bool // a reply came without a count of tokens
}

// spent is a limit of the user's: the run is incomplete and can be resumed.
type spent string

func (s spent) Error() string { return string(s) }

// Unasked is true: no call was made.
func (s spent) Unasked() bool { return true }

// take asks for room for one more call. Calls in flight have it already, so money may be
// exceeded by what they cost, calls never.
func (m *meter) take() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.maxCalls > 0 && m.calls >= m.maxCalls:
		return spent(fmt.Sprintf("stopped at --max-calls %d; go on with --live --resume", m.maxCalls))
	case m.maxCost > 0 && m.blind:
		return spent("stopped: the server counts no tokens, and --max-cost goes by them; go on with --live --resume --max-calls N")
	case m.maxCost > 0 && m.cost >= m.maxCost:
		return spent(fmt.Sprintf("stopped at --max-cost %g: spent %.4f; go on with --live --resume", m.maxCost, m.cost))
	}
	m.calls++
	return nil
}

// pay adds what a reply took by a price, which is none of ours to guess.
func (m *meter) pay(p *spec.Price, u *loop.Usage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if u == nil {
		m.blind = true
		return
	}
	m.cost += p.Of(u.PromptTokens, u.CompletionTokens)
}

// now is what was spent so far.
func (m *meter) now() (calls int, usd float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls, m.cost
}

// live is a live model: it says what it sends beside a prompt.
type live interface {
	loop.Model
	Sampling() map[string]any
}

// metered is a live model under the evaluation's limits.
type metered struct {
	live
	meter *meter
	spec  *spec.Model
}

// Complete asks the model if there is room.
func (m metered) Complete(ctx context.Context, r loop.Request) (loop.Completion, error) {
	if err := m.meter.take(); err != nil {
		return loop.Completion{}, err
	}
	c, err := m.live.Complete(ctx, r)
	if err == nil {
		m.meter.pay(m.spec.Price, c.Usage)
	}
	return c, err
}
