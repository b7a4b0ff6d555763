package harness_test

import (
	"context"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poimen-memory/mem/gate"
	"github.com/poimen-memory/mem/harness/run"
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
	cfg.Run.Live, cfg.Run.Parallel = true, 1
	cfg.Run.Timed = func(run string, _ time.Duration) { ran(run) }
	cfg.Models = func(m run.ModelFor) (loop.Model, error) {
		return sampled{modelFunc(func(context.Context, loop.Request) (loop.Completion, error) {
			call(m.Cell.Model)
			return loop.Completion{Text: gate.Decision{Update: true, HasCandidate: true, Candidate: "6380"}.Reply()}, nil
		})}, nil
	}
	wantPassed(t, eval(t, cfg, path))
}

// TestSlowModelHoldsUpNoOther: its first reply comes after the last run of the other, which
// is done at both levels by then. If it did not, all runs would wait for ever, which ends the
// test.
func TestSlowModelHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		quick := make(chan struct{})
		var left atomic.Int32
		left.Store(2*4*2 + 4*2) // L1 and L2, with both exit settings
		runTwo(t, func(model string) {
			if model == "slow" {
				<-quick
			}
		}, func(run string) {
			if strings.Contains(run, "/quick/") && left.Add(-1) == 0 {
				close(quick)
			}
		})
	})
}

// TestRunsAreAsWideAsConnections: as many runs of a model go on at a time as its server is
// to answer, and no more. No reply comes before all runs wait for one.
func TestRunsAreAsWideAsConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var flying, most atomic.Int32
		runTwo(t, func(model string) {
			if model != "slow" {
				return
			}
			n := flying.Add(1)
			defer flying.Add(-1)
			for was := most.Load(); n > was && !most.CompareAndSwap(was, n); was = most.Load() {
			}
			time.Sleep(time.Second)
		}, func(string) {})
		if most.Load() != 3 {
			t.Errorf("%d runs at a time, want 3", most.Load())
		}
	})
}
