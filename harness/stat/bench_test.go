//go:build unix

package stat_test

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/poimen-memory/mem/harness/stat"
)

// drawRuns are runs of a model that errs at random: of each query so many trials of so
// many turns.
func drawRuns(model string, queries, trials, turns int, source *rand.PCG) []stat.Run {
	random := rand.New(source)
	var runs []stat.Run
	for q := range queries {
		for trial := range trials {
			r := stat.Run{Query: fmt.Sprint("q", q), Corpus: "c", Level: "L1", Model: model, Trial: trial, LastEvidence: turns / 2}
			for i := range turns {
				evidence, right := i == turns/4 || i+1 == turns/2, random.Float64() < 0.9
				yes := evidence == right
				r.Turns = append(r.Turns, stat.Turn{
					Evidence: evidence, Parsed: true, FirstTry: random.Float64() < 0.97, Update: yes, Written: yes,
					Exit: i+1 >= turns/2 && right, MemoryTokens: 10 * i,
				})
			}
			runs = append(runs, r)
		}
	}
	return runs
}

// BenchmarkStatistics is all that a report asks of 100,000 turns over 200 queries: metrics,
// the decision, and a comparison with 99,999 sign flips. It fails
// above 2 s of processor time, which a busy machine does not stretch as it does the clock's.
func BenchmarkStatistics(b *testing.B) {
	source := rand.NewPCG(1, 1)
	old, runs := drawRuns("a", 200, 10, 50, source), drawRuns("b", 200, 10, 50, source)
	start := processorTime(b)
	for b.Loop() {
		stat.Measure(runs)
		if _, err := stat.Decide(runs, stat.Rule{}); err != nil {
			b.Fatal(err)
		}
		if _, err := stat.Compare(old, runs, "recall_strict", stat.Flips{}); err != nil {
			b.Fatal(err)
		}
	}
	each := (processorTime(b) - start) / time.Duration(b.N)
	b.ReportMetric(each.Seconds(), "cpu-s/op")
	if each > 2*time.Second {
		b.Errorf("took %v of processor time, want at most 2 s", each)
	}
}

// processorTime is what this process has used of all cores.
func processorTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkExactFlips enumerates the most sign vectors that are enumerated.
func BenchmarkExactFlips(b *testing.B) {
	d := differences(20, rand.NewPCG(1, 1))
	for b.Loop() {
		stat.FlipSigns(d, 0.05, stat.Flips{})
	}
}
