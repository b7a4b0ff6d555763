package models

import (
	"strings"
	"testing"

	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/loop/openai"
)

// TestMeterStopsAtItsLimits: what a server refused is free, and is no call.
func TestMeterStopsAtItsLimits(t *testing.T) {
	m := Meter{MaxCost: 1, MaxCalls: 3}
	price := &spec.Price{}
	price.Prompt.Value, price.Completion.Value = 1, 100
	for _, cost := range []openai.Cost{{}, {}, {}, {Sent: true, Prompt: 500_000, Completion: 4_999}} {
		if err := m.admit(); err != nil {
			t.Errorf("below the limits: %v", err)
		}
		m.charge(price, cost)
	}
	if err := m.admit(); err != nil {
		t.Errorf("below the limits: %v", err)
	}
	m.charge(price, openai.Cost{Sent: true, Completion: 1})
	if err := m.admit(); err == nil || !strings.Contains(err.Error(), "stopped at --max-cost 1: spent 1.0000") {
		t.Errorf("at the limit: %v", err)
	}
	if calls, usd := m.Spent(); calls != 2 || usd != 1 {
		t.Errorf("%d calls, %v USD", calls, usd)
	}
}
