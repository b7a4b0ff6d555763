package harness_test

import (
	"context"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/poimen-memory/mem/gate"
	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/loop"
)

const twoLive = `
experiment: two
corpora: [{id: a, path: s.jsonl}, {id: b, path: s.jsonl}]
queries: [{id: q, text: "Which port?"}]
levels: [L1, L2]
exit_gate: [record, enforce]
trials: 4
models:
  - {id: slow, live: {base_url: "http://localhost/v1", model: m, max_connections: 3}}
  - {id: quick, live: {base_url: "http://localhost/v1", model: m, max_connections: 3}}
checks: {tokenizer: {max_undercount: 1}}
`

// runTwo runs twoLive one run at a time, as far as live models heed that, with calls that
// say when they may come back.
func runTwo(t *testing.T, call func(model string), ran func(run string)) {
	t.Helper()
	path := filepath.Join(write(t, map[string]string{"two.yaml": twoLive, "s.jsonl": jsonl("port 6380")}), "two.yaml")
	cfg := config(t)
	cfg.Live, cfg.Parallel = true, 1
	cfg.Timed = func(run string, _ time.Duration) { ran(run) }
	cfg.Models = func(m harness.ModelFor) (loop.Model, error) {
		return sampled{modelFunc(func(context.Context, loop.Request) (loop.Completion, error) {
			call(m.Cell.Model)
			return loop.Completion{Text: gate.Decision{Update: true, HasCandidate: true, Candidate: "6380"}.Reply()}, nil
		})}, nil
	}
	wantPassed(t, eval(t, cfg, path))
}

// TestSlowModelHoldsUpNoOther: its first reply comes after the last run of the other, which
// is done at both levels by then.
func TestSlowModelHoldsUpNoOther(t *testing.T) {
	quick := make(chan struct{})
	var left, late atomic.Int32
	left.Store(2*4*2 + 4*2) // L1 and L2, with both exit settings
	runTwo(t, func(model string) {
		if model == "slow" {
			wait(quick, &late)
		}
	}, func(run string) {
		if strings.Contains(run, "/quick/") && left.Add(-1) == 0 {
			close(quick)
		}
	})
	if late.Load() > 0 {
		t.Error("runs of the quick model wait for the slow one's replies")
	}
}

// wait waits for c, and counts if that is in vain: longer than any machine is busy.
func wait(c chan struct{}, late *atomic.Int32) {
	if late.Load() > 0 {
		return
	}
	select {
	case <-c:
	case <-time.After(time.Minute):
		late.Add(1)
	}
}

// TestRunsAreAsWideAsConnections: as many runs of a model go on at a time as its server is
// to answer, and no more.
func TestRunsAreAsWideAsConnections(t *testing.T) {
	three := make(chan struct{})
	var flying, came, late atomic.Int32
	var tooMany atomic.Bool
	runTwo(t, func(model string) {
		if model != "slow" {
			return
		}
		if flying.Add(1) > 3 {
			tooMany.Store(true)
		}
		defer flying.Add(-1)
		if came.Add(1) == 3 {
			time.Sleep(50 * time.Millisecond) // for a fourth to come
			close(three)
		}
		wait(three, &late)
	}, func(string) {})
	if late.Load() > 0 || tooMany.Load() {
		t.Errorf("fewer than 3 runs at a time: %v; more: %v", late.Load() > 0, tooMany.Load())
	}
}
