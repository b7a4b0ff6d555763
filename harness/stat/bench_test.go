//go:build unix

package stat_test

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	stat "github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/harness/stat/compare"
	"github.com/poimen-memory/mem/harness/stat/decide"
)

// drawRuns are runs of a model that errs at random: of each query so many trials of so
// many turns.
func drawRuns(queries, trials, turns int, right float64, source *rand.PCG) (runs []stat.Run) {
	random := rand.New(source)
	for q := range queries {
		for trial := range trials {
			r := stat.Run{Query: fmt.Sprint("q", q), Corpus: fmt.Sprint("s", q), Level: "L1", Model: "m", Trial: trial}
			for i := range turns {
				evidence, hit := i == turns/4 || i+1 == turns/2, random.Float64() < right
				yes := evidence == hit
				r.Turns = append(r.Turns, stat.Turn{
					Evidence: evidence, Parsed: true, FirstTry: random.Float64() < 0.99, Update: yes, Written: yes,
					Exit: i+1 >= turns/2 && hit, MemoryTokens: 10 * i,
				})
			}
			runs = append(runs, r)
		}
	}
	return runs
}

// BenchmarkDecide measures and decides 2,000 queries × 5 trials × 20 turns of 10 models, half
// of them GO, half NO-GO. It fails above 2 s of processor time, which a busy machine does not
// stretch as it does the clock's.
func BenchmarkDecide(b *testing.B) {
	source := rand.NewPCG(1, 1)
	var models [2][]stat.Run
	for i, right := range []float64{0.93, 0.80} {
		models[i] = drawRuns(2000, 5, 20, right, source)
	}
	within(b, 2*time.Second, func() {
		for i := range 10 {
			s := stat.Collect(models[i%2])
			s.Measure(stat.Auto)
			d, err := decide.Decide(s, decide.Rule{Candidates: 10})
			if err != nil {
				b.Fatal(err)
			}
			if want := []decide.Verdict{decide.Go, decide.NoGo}[i%2]; d.Verdict != want || d.Labels == nil {
				b.Fatalf("model %d is %s with labels %v, want %s", i, d, d.Labels, want)
			}
		}
	})
}

// BenchmarkCompare compares 10,000 runs of each side in the shipped metrics: 2,000 queries,
// so that the sign flips are drawn. It fails above 1 s of processor time.
func BenchmarkCompare(b *testing.B) {
	source := rand.NewPCG(1, 1)
	old, runs := drawRuns(2000, 5, 20, 0.90, source), drawRuns(2000, 5, 20, 0.91, source)
	var metrics []string
	for _, c := range decide.DefaultCriteria() {
		metrics = append(metrics, c.Metric)
	}
	within(b, time.Second, func() {
		if _, err := compare.Runs(old, runs, metrics, compare.Config{}); err != nil {
			b.Fatal(err)
		}
	})
}

// within fails a benchmark whose operation takes more processor time than the limit.
func within(b *testing.B, limit time.Duration, op func()) {
	b.Helper()
	start := processorTime(b)
	for b.Loop() {
		op()
	}
	each := (processorTime(b) - start) / time.Duration(b.N)
	b.ReportMetric(each.Seconds(), "cpu-s/op")
	if each > limit {
		b.Errorf("took %v of processor time, want at most %v", each, limit)
	}
}

// processorTime is what this process has used of all cores.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
