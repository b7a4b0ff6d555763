package stat_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/poimen-memory/mem/harness/stat"
)

// TestTFactorIsNeeded: the interval without its t factor misses the worked examples.
func TestTFactorIsNeeded(t *testing.T) {
	for _, group := range readVectors(t).Vectors {
		if group.Kind != "pccp_interval" {
			continue
		}
		var in clusters
		if err := json.Unmarshal(group.Cases[0].Input, &in); err != nil {
			t.Fatal(err)
		}
		want := group.Cases[0].Expected["two_sided_95"].([]any)
		lower, upper := withoutT(stat.Pool(in.list()), 0.025)
		if near(want[0], lower, 1e-3) || near(want[1], upper, 1e-3) {
			t.Errorf("without the t factor the bounds are still %v and %v", lower, upper)
		}
	}
}

// TestIntervalProperties of random clusters: the bounds lie around the rate, widen with
// confidence, and mirror each other when successes and failures change places.
func TestIntervalProperties(t *testing.T) {
	source := rand.NewPCG(3, 4)
	for range 300 {
		s := setting{
			BetaBinomial: stat.BetaBinomial{Rate: rand.New(source).Float64(), ICC: 0.3 * rand.New(source).Float64()},
			queries:      2 + int(source.Uint64()%30), perTrial: 1 + int(source.Uint64()%9), trials: 1 + int(source.Uint64()%4),
		}
		list := s.draw(source)
		p, failures := stat.Pool(list), stat.Pool(mirrored(list))
		lower, upper := p.Lower(0.05), p.Upper(0.05)
		if !(0 <= lower && lower <= p.Rate() && p.Rate() <= upper && upper <= 1) {
			t.Fatalf("%v: bounds %v and %v around %v", s, lower, upper, p.Rate())
		}
		if p.Lower(0.01) > lower || p.Upper(0.01) < upper {
			t.Fatalf("%v: more confidence gives a narrower interval", s)
		}
		if math.Abs(1-failures.Upper(0.05)-lower) > 1e-9 || math.Abs(1-failures.Lower(0.05)-upper) > 1e-9 {
			t.Fatalf("%v: the interval of the failures is no mirror image", s)
		}
	}
}

func mirrored(list []stat.Cluster) []stat.Cluster {
	out := make([]stat.Cluster, len(list))
	for i, c := range list {
		out[i] = stat.Cluster{X: c.N - c.X, N: c.N, K: c.K}
	}
	return out
}

func TestEmptyQueriesAreDropped(t *testing.T) {
	some := []stat.Cluster{{X: 3, N: 4, K: 1}, {X: 2, N: 4, K: 1}, {X: 4, N: 4, K: 1}}
	with := append([]stat.Cluster{{N: 0, K: 3}}, some...)
	if a, b := stat.Pool(some), stat.Pool(with); a != b {
		t.Errorf("a query without observations changes %+v to %+v", a, b)
	}
	if p := stat.Pool(some[:1]); p.Defined() || !math.IsNaN(p.Lower(0.05)) || !math.IsNaN(p.Upper(0.05)) {
		t.Errorf("one query has the bounds %v and %v", p.Lower(0.05), p.Upper(0.05))
	}
}

// TestFractionsAtTheEdge: sums of fractions that are n but for rounding have no failures.
func TestFractionsAtTheEdge(t *testing.T) {
	var fractions, whole []stat.Cluster
	for range 12 {
		fractions = append(fractions, stat.Cluster{X: 0.1 + 0.2 + 0.7, N: 1}, stat.Cluster{X: 0.3 + 0.6 + 0.1, N: 1})
		whole = append(whole, stat.Cluster{X: 1, N: 1}, stat.Cluster{X: 1, N: 1})
	}
	if a, b := stat.Pool(fractions).Lower(0.05), stat.Pool(whole).Lower(0.05); math.Abs(a-b) > 1e-9 {
		t.Errorf("lower bound %v of fractions, %v of whole numbers", a, b)
	}
}

func TestICC(t *testing.T) {
	for _, want := range []float64{0, 0.05, 0.2, 0.6} {
		s := setting{BetaBinomial: stat.BetaBinomial{Rate: 0.85, ICC: want}, queries: 20_000, perTrial: 8, trials: 1}
		p := stat.Pool(s.draw(rand.NewPCG(9, 9)))
		icc, ok := p.ICC()
		if !ok || math.Abs(icc-want) > 0.01 || math.Abs(p.Rate()-0.85) > 0.01 {
			t.Errorf("queries drawn at ICC %v and rate 0.85 have ICC %v (%v) and rate %v", want, icc, ok, p.Rate())
		}
	}
	if _, ok := stat.Pool([]stat.Cluster{{X: 1, N: 1}, {X: 0, N: 1}}).ICC(); ok {
		t.Error("single observations have a correlation")
	}
}

// TestMOVERNeedsTheCorrelation: recall and specificity that fall together make a wider
// interval than those that do not.
func TestMOVERNeedsTheCorrelation(t *testing.T) {
	n := []float64{8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8}
	up := []float64{8, 8, 8, 8, 8, 8, 5, 5, 5, 5, 5, 5}
	down := []float64{5, 5, 5, 5, 5, 5, 8, 8, 8, 8, 8, 8}
	together := measure(t, gateRuns(up, n, up, n), "balanced_accuracy")
	apart := measure(t, gateRuns(up, n, down, n), "balanced_accuracy")
	if *together.Value != *apart.Value || *together.Lower >= *apart.Lower || *together.Upper <= *apart.Upper {
		t.Errorf("together %v, apart %v", together, apart)
	}
}

// TestAntiCorrelationDoesNotNarrow: rates that vary against each other are bounded as if
// they did not correlate.
func TestAntiCorrelationDoesNotNarrow(t *testing.T) {
	n := []float64{8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8}
	up := []float64{8, 8, 8, 8, 8, 8, 5, 5, 5, 5, 5, 5}
	down := []float64{5, 5, 5, 5, 5, 5, 8, 8, 8, 8, 8, 8}
	ones := []float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}
	e, p := measure(t, gateRuns(up, n, down, n), "balanced_accuracy"), stat.Pool(zip(up, n, ones))
	half := math.Sqrt2 * (p.Rate() - p.Lower(0.025)) / 2
	if math.Abs(*e.Lower-(*e.Value-half)) > 1e-8 {
		t.Errorf("the lower bound is %v, want %v", *e.Lower, *e.Value-half)
	}
}

// TestFewerTurnsThanTrials: a query cannot hold more trials than it has observations; with
// one each, the bound is that of as many independent ones.
func TestFewerTurnsThanTrials(t *testing.T) {
	var list []stat.Cluster
	for range 10 {
		list = append(list, stat.Cluster{X: 1, N: 1, K: 3})
	}
	if got, want := stat.Pool(list).Lower(0.05), math.Pow(0.05, 1./10); math.Abs(got-want) > 1e-9 {
		t.Errorf("the lower bound is %v, want %v", got, want)
	}
}

// TestMeansAreOfQueries: a mean is bounded by the t interval of the queries' means, and a
// query that has none is no query.
func TestMeansAreOfQueries(t *testing.T) {
	runs := []stat.Run{
		parseRun("a", 1, "Y! n n n"), parseRun("a", 2, "Y n n! n"), parseRun("b", 1, "n! Y n n"), parseRun("c", 1, "Y n! n n"), parseRun("none", 1, "n n! n n"),
	}
	e := measure(t, runs, "reward_exit")
	lower, upper := tInterval([]float64{(0 - 0.5) / 2, -0.75, -0.5})
	if e.Units != 3 || math.Abs(*e.Lower-lower) > 1e-8 || math.Abs(*e.Upper-upper) > 1e-8 {
		t.Errorf("reward_exit is %+v, want the bounds %v and %v of 3 queries", e, lower, upper)
	}
}
