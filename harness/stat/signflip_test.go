package stat_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/poimen-memory/mem/harness/stat"
)

func differences(n int, source rand.Source) []float64 {
	d := make([]float64, n)
	for i := range d {
		d[i] = math.Round(20*rand.New(source).NormFloat64())/40 + 0.2
	}
	return d
}

func shifted(d []float64, by float64) []float64 {
	out := make([]float64, len(d))
	for i, x := range d {
		out[i] = x - by
	}
	return out
}

// inverts says whether an interval is that of the test: differences just inside it are not
// rejected, just outside they are.
func inverts(d []float64, lower, upper float64, flips stat.Flips) bool {
	p := func(delta float64) float64 { return stat.FlipSigns(shifted(d, delta), 0.05, flips).P }
	const step = 1e-7
	return p(lower+step) > 0.05 && p(upper-step) > 0.05 && p(lower-step) <= 0.05 && p(upper+step) <= 0.05
}

func TestIntervalInvertsTheTest(t *testing.T) {
	source := rand.NewPCG(1, 1)
	twins := 0
	for _, n := range []int{6, 7, 8, 11, 12, 25, 40} {
		d, flips := differences(n, source), stat.Flips{N: 1999, Seed: 3}
		f := stat.FlipSigns(d, 0.05, flips)
		if f.Exact != (n <= 20) || !inverts(d, f.Lower, f.Upper, flips) {
			t.Errorf("%d differences: [%v, %v] is not the inverted test", n, f.Lower, f.Upper)
		}
		if lower, upper := tInterval(d); inverts(d, lower, upper, flips) {
			twins++
		}
	}
	if twins > 0 {
		t.Errorf("a t interval passes %d times for the inverted test", twins)
	}
}

func tInterval(d []float64) (lower, upper float64) {
	n := float64(len(d))
	mean := sum(d) / n
	squares := 0.0
	for _, x := range d {
		squares += (x - mean) * (x - mean)
	}
	half := distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(0.975) * math.Sqrt(squares/(n-1)/n)
	return mean - half, mean + half
}

func TestFewDifferencesExcludeNothing(t *testing.T) {
	f := stat.FlipSigns([]float64{1, 1, 1, 1, 1}, 0.05, stat.Flips{})
	if f.P != 2./32 || !math.IsInf(f.Lower, -1) || !math.IsInf(f.Upper, 1) {
		t.Errorf("5 differences: %+v", f)
	}
	f = stat.FlipSigns([]float64{1, 2, 3, 4, 5, 6}, 0.05, stat.Flips{})
	if f.P != 2./64 || !(f.Lower > 0) || math.IsInf(f.Upper, 0) {
		t.Errorf("6 differences: %+v", f)
	}
	if f := stat.FlipSigns(nil, 0.05, stat.Flips{}); !math.IsNaN(f.P) || !math.IsNaN(f.Mean) {
		t.Errorf("no differences: %+v", f)
	}
}

// TestZerosStayIn: leaving them out would make p 2/2⁶ of these.
func TestZerosStayIn(t *testing.T) {
	d := []float64{1, 1, 1, 1, 1, 1, 0, 0, 0, 0}
	if f := stat.FlipSigns(d, 0.05, stat.Flips{}); f.P != 2./64 {
		t.Errorf("p is %v", f.P)
	}
	if f := stat.FlipSigns(make([]float64, 8), 0.05, stat.Flips{}); f.P != 1 || f.Lower != 0 || f.Upper != 0 {
		t.Errorf("eight zeros: %+v", f)
	}
}

// TestTiesCountDespiteRounding: 0.1+0.2 and 0.3 are equal differences.
func TestTiesCountDespiteRounding(t *testing.T) {
	source := rand.NewPCG(4, 4)
	for range 100 {
		whole, tenths := make([]float64, 8), make([]float64, 8)
		for i := range whole {
			whole[i] = float64(int(source.Uint64()%13)) - 4
			tenths[i] = whole[i] * 0.1
		}
		a, b := stat.FlipSigns(tenths, 0.05, stat.Flips{}), stat.FlipSigns(whole, 0.05, stat.Flips{})
		if a.P != b.P || a.Greater != b.Greater {
			t.Fatalf("p is %v and %v of %v, %v and %v of ten times that", a.P, a.Greater, tenths, b.P, b.Greater)
		}
	}
}

func TestDrawnFlips(t *testing.T) {
	d := differences(30, rand.NewPCG(8, 8))
	a, b := stat.FlipSigns(d, 0.05, stat.Flips{Seed: 1}), stat.FlipSigns(d, 0.05, stat.Flips{Seed: 1})
	if a != b {
		t.Errorf("equal seeds give %+v and %+v", a, b)
	}
	if c := stat.FlipSigns(d, 0.05, stat.Flips{Seed: 2}); c.P == a.P && c.Lower == a.Lower || math.Abs(c.P-a.P) > 0.01 {
		t.Errorf("another seed gives %+v after %+v", c, a)
	}
	// (b+1)/(B+1): the smallest p is never 0.
	same := make([]float64, 64)
	for i := range same {
		same[i] = 1
	}
	if f := stat.FlipSigns(same, 0.05, stat.Flips{N: 999}); f.P != 1./1000 {
		t.Errorf("p of 64 equal differences is %v, want 1/1000", f.P)
	}
	// Drawn flips agree with all of them.
	exact := stat.FlipSigns(d[:20], 0.05, stat.Flips{})
	drawn := stat.FlipSigns(append(d[:20:20], 0), 0.05, stat.Flips{}) // a zero changes no sum
	if !exact.Exact || drawn.Exact || math.Abs(exact.P-drawn.P) > 0.005 {
		t.Errorf("p is %v by enumeration and %v by drawing", exact.P, drawn.P)
	}
}

// TestTrueNullIsKept: with two equal models whose queries correlate, the test rejects at
// most 5 % of the time; McNemar on turns, the twin, far more often.
func TestTrueNullIsKept(t *testing.T) {
	const n, queries, turns = 400, 12, 40
	source := rand.NewPCG(7, 7)
	model := stat.BetaBinomial{Rate: 0.85, ICC: 0.2}
	signFlip, mcNemar := 0, 0
	for range n {
		d, onlyA, onlyB := make([]float64, queries), 0, 0
		for q := range d {
			a, b := model.Draw(turns, source), model.Draw(turns, source)
			d[q] = (b - a) / turns
			onlyA, onlyB = onlyA+max(int(a-b), 0), onlyB+max(int(b-a), 0)
		}
		if stat.FlipSigns(d, 0.05, stat.Flips{}).P <= 0.05 {
			signFlip++
		}
		if p, _ := stat.McNemar(onlyA, onlyB); p <= 0.05 {
			mcNemar++
		}
	}
	most := 0.05 + monteCarlo(0.05, n)
	if share := float64(signFlip) / n; share > most {
		t.Errorf("the sign-flip test rejects a true null %.3f of the time", share)
	}
	if share := float64(mcNemar) / n; share <= most {
		t.Errorf("McNemar rejects a true null %.3f of the time only: this test catches nothing", share)
	}
}

func TestMcNemarOfManyTurns(t *testing.T) {
	exact, mid := stat.McNemar(3000, 2800)
	if !(exact > 0.005 && exact < 0.015 && mid < exact) {
		t.Errorf("3000 against 2800: %v, %v", exact, mid)
	}
}

func TestHolm(t *testing.T) {
	got := stat.Holm([]float64{0.01, 0.04, math.NaN(), 0.03, 0.005})
	want := []float64{0.03, 0.06, math.NaN(), 0.06, 0.02}
	near := cmp.Comparer(func(a, b float64) bool { return math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) < 1e-12 })
	if diff := cmp.Diff(want, got, near); diff != "" {
		t.Errorf("adjusted p (-want +got):\n%s", diff)
	}
	if got := stat.Holm([]float64{0.9, 0.8}); got[0] != 1 || got[1] != 1 {
		t.Errorf("p above 1: %v", got)
	}
}
