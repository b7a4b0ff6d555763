package stat_test

import (
	"fmt"
	"math/rand/v2"
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

// BenchmarkStatistics is all that a report asks of 100,000 turns over 200 queries: metrics
// per group and query, the decision, and a comparison with 99,999 sign flips. It fails
// above 2 s.
func BenchmarkStatistics(b *testing.B) {
	source := rand.NewPCG(1, 1)
	old, runs := drawRuns("a", 200, 10, 50, source), drawRuns("b", 200, 10, 50, source)
	for b.Loop() {
		start := time.Now()
		stat.Groups(runs)
		if _, err := stat.Decide(runs, stat.Rule{}); err != nil {
			b.Fatal(err)
		}
		if _, err := stat.Compare(old, runs, "recall_strict", stat.Flips{}); err != nil {
			b.Fatal(err)
		}
		if took := time.Since(start); took > 2*time.Second {
			b.Errorf("took %v, want at most 2 s", took)
		}
	}
}

// BenchmarkExactFlips enumerates the most sign vectors that are enumerated.
func BenchmarkExactFlips(b *testing.B) {
	d := differences(20, rand.NewPCG(1, 1))
	for b.Loop() {
		stat.FlipSigns(d, 0.05, stat.Flips{})
	}
}
