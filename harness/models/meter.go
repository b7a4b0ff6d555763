package models

import (
	"fmt"
	"sync"

	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/loop/openai"
)

// Meter counts what live requests cost, and stops an evaluation where its user said: at so
// many calls, or so much money. The zero value has no limit.
type Meter struct {
	MaxCalls int
	MaxCost  float64 // USD; 0: any

	mu    sync.Mutex
	calls int // requests that a server may charge for, those in flight included
	cost  float64
}

// spent is a limit of the user's: the run is incomplete and can be resumed.
type spent string

func (s spent) Error() string { return string(s) }

// NotSent is true: no call was made.
func (s spent) NotSent() bool { return true }

// admit asks for one more request. Requests in flight were admitted before, so the cost limit may
// be exceeded by what they cost, the limit of calls never.
func (m *Meter) admit() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.MaxCalls > 0 && m.calls >= m.MaxCalls:
		return spent(fmt.Sprintf("stopped at --max-calls %d; go on with --live --resume", m.MaxCalls))
	case m.MaxCost > 0 && m.cost >= m.MaxCost:
		return spent(fmt.Sprintf("stopped at --max-cost %g: spent %.4f; go on with --live --resume", m.MaxCost, m.cost))
	}
	m.calls++
	return nil
}

// charge is told what a request that was admitted took. One that the server refused was free.
func (m *Meter) charge(p *spec.Price, c openai.Cost) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !c.Sent {
		m.calls--
		return
	}
	m.cost += p.Of(c.Prompt, c.Completion)
}

// Spent is what was spent so far.
func (m *Meter) Spent() (calls int, usd float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls, m.cost
}
