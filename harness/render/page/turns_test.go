package page_test

import (
	"bytes"
	"io"
	"iter"
	"runtime"
	"strings"
	"testing"

	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/render/page"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/loop/journal"
)

// TestPageIsLinearInTurns: ten times the turns of a run allocate ten times the bytes.
func TestPageIsLinearInTurns(t *testing.T) {
	bytesPerTurn := func(turns int) float64 {
		shown := largeReport(1, turns)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := page.Write(io.Discard, shown.Result, shown.turns); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc-before.TotalAlloc) / float64(turns)
	}
	bytesPerTurn(1) // the first page parses what later ones reuse
	short, long := bytesPerTurn(2000), bytesPerTurn(20000)
	if long > 1.2*short {
		t.Errorf("%.0f bytes a turn in a run of 2,000 turns, %.0f in one of 20,000", short, long)
	}
}

// TestTurnsAreNotHeld: while the page reads a run of 64 MB, little of it is in memory.
func TestTurnsAreNotHeld(t *testing.T) {
	const turns, size, limit = 64, 1 << 20, 16 << 20
	run := result.Run{Cell: plan.Cell{Name: "s/q/L1/m/record"}, State: record.Complete}
	var peak uint64
	read := func(result.Run) iter.Seq2[result.JudgedTurn, error] {
		return func(yield func(result.JudgedTurn, error) bool) {
			for i := range turns {
				if i%16 == 0 {
					peak = max(peak, heap())
				}
				text := strings.Repeat("x", size)
				if !yield(judged(stat.Turn{Parsed: true}, text, journal.Call{Turn: i + 1, Attempt: 1, Reply: text}), nil) {
					return
				}
			}
		}
	}
	before := heap()
	var out bytes.Buffer
	if err := page.Write(&out, &result.Result{Runs: []result.Run{run}}, read); err != nil {
		t.Fatal(err)
	}
	if peak > before+limit {
		t.Errorf("%d bytes were in memory, want at most %d", peak-before, limit)
	}
	if !strings.Contains(out.String(), "64 turns") {
		t.Error("the page does not show the turns")
	}
}

// heap is the bytes in use after a collection.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
