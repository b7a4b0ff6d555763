package cluster

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mathext"
)

// TestQuantile compares the quantile with its definition where the library's inverse is
// right and where it stops early.
func TestQuantile(t *testing.T) {
	wrong := beta{133300.40389925046, 0.026366326274709424}
	if x := mathext.InvRegIncBeta(wrong.a, wrong.b, 1.9767857859950142e-07); math.Abs(x-0.99992850) < 1e-3 {
		t.Log("the library's inverse is right now: quantile need not check it")
	}
	for _, c := range []struct {
		shape beta
		y     float64
		want  float64
	}{
		{wrong, 1.9767857859950142e-07, 0.9999285031585198},
		{beta{1, 1}, 0.25, 0.25},
		{beta{1, 3}, 0.05, 1 - math.Cbrt(0.95)},
		{beta{2, 1}, 0.04, 0.2},
	} {
		if got := c.shape.quantile(c.y); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("quantile of %v at %v is %v, want %v", c.shape, c.y, got, c.want)
		}
	}
}

// drawCells are random cells: queries crossed with sessions, some missing.
func drawCells(r *rand.Rand) (cells []Cell) {
	queries, sessions := 2+r.IntN(12), 1+r.IntN(8)
	for q := range queries {
		for s := range sessions {
			if r.IntN(3) == 0 {
				n := float64(r.IntN(9))
				cells = append(cells, Cell{
					Query: fmt.Sprint("q", q), Session: fmt.Sprint("s", s), N: n, X: math.Floor(r.Float64() * (n + 1)),
					K: float64(1 + r.IntN(3)), Missing: float64(r.IntN(2)),
				})
			}
		}
	}
	return cells
}

func units() []Unit { return []Unit{Auto, ByQuery, BySession} }

// TestIntervalProperties of random cells: the bounds lie around the rate, widen with
// confidence, and mirror each other when successes and failures change places.
func TestIntervalProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	defined := 0
	for range 500 {
		cells := drawCells(r)
		for _, unit := range units() {
			p := Pool(cells, unit)
			lower, upper := p.Lower(0.05), p.Upper(0.05)
			if !p.Defined() {
				if !math.IsNaN(lower) || !math.IsNaN(upper) {
					t.Fatalf("%d units have the bounds %v and %v", p.Units(), lower, upper)
				}
				continue
			}
			defined++
			if !(0 <= lower && lower <= p.Rate() && p.Rate() <= upper && upper <= 1) {
				t.Fatalf("bounds %v and %v around %v of %v", lower, upper, p.Rate(), cells)
			}
			if p.Lower(0.01) > lower+1e-12 || p.Upper(0.01) < upper-1e-12 {
				t.Fatalf("more confidence gives a narrower interval: %v", cells)
			}
			failures := make([]Cell, len(cells))
			for i, c := range cells {
				failures[i] = c
				failures[i].X = c.N - c.X
			}
			if f := Pool(failures, unit); math.Abs(1-f.Upper(0.05)-lower) > 1e-9 || math.Abs(1-f.Lower(0.05)-upper) > 1e-9 {
				t.Fatalf("the interval of the failures is no mirror image: %v", cells)
			}
		}
	}
	if defined < 500 {
		t.Errorf("only %d random intervals are defined", defined)
	}
}

// TestOwnSessions: where every query has a session of its own, auto, query and session have
// the same clusters; auto and query are the same numbers.
func TestOwnSessions(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 4))
	for range 100 {
		cells := drawCells(r)
		for i := range cells {
			cells[i].Query, cells[i].Session = fmt.Sprint(i), fmt.Sprint(i)
		}
		a, q := Pool(cells, Auto), Pool(cells, ByQuery)
		if a.Defined() && (math.Abs(a.Lower(0.05)-q.Lower(0.05)) > 1e-12 || math.Abs(a.Upper(0.05)-q.Upper(0.05)) > 1e-12) {
			t.Fatalf("auto [%v %v], query [%v %v]", a.Lower(0.05), a.Upper(0.05), q.Lower(0.05), q.Upper(0.05))
		}
	}
}

func TestEmptyCellsAreDropped(t *testing.T) {
	some := []Cell{{Query: "a", X: 3, N: 4, K: 1}, {Query: "b", X: 2, N: 4, K: 1}, {Query: "c", X: 4, N: 4, K: 1}}
	with := append([]Cell{{Query: "d", K: 3}}, some...)
	if a, b := Pool(some, ByQuery), Pool(with, ByQuery); a != b {
		t.Errorf("a query without observations changes %+v to %+v", a, b)
	}
}

// TestFractionsAtTheEdge: sums of fractions that are n but for rounding have no failures.
func TestFractionsAtTheEdge(t *testing.T) {
	var fractions, whole []Cell
	for i := range 24 {
		name := fmt.Sprint(i)
		fractions = append(fractions, Cell{Query: name, Session: name, X: 0.1 + 0.2 + 0.7, N: 1})
		whole = append(whole, Cell{Query: name, Session: name, X: 1, N: 1})
	}
	if a, b := Pool(fractions, Auto).Lower(0.05), Pool(whole, Auto).Lower(0.05); math.Abs(a-b) > 1e-9 {
		t.Errorf("lower bound %v of fractions, want %v", a, b)
	}
}

// TestTable: changing one cell in a Table is pooling the changed cells.
func TestTable(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		cells := drawCells(r)
		if len(cells) < 2 {
			continue
		}
		for _, unit := range units() {
			table := NewTable(cells, unit)
			changed := append([]Cell{}, cells...)
			for range 5 {
				i := r.IntN(len(cells))
				changed[i].N = float64(r.IntN(9))
				changed[i].X = math.Floor(r.Float64() * (changed[i].N + 1))
				want := Pool(changed, unit)
				with := table.With(i, changed[i].X, changed[i].N)
				table.Set(i, changed[i].X, changed[i].N)
				for _, got := range []Proportion{with, table.Proportion} {
					if got.Units() != want.Units() || !same(got.Lower(0.05), want.Lower(0.05)) || !same(got.Upper(0.05), want.Upper(0.05)) {
						t.Fatalf("unit %s: [%v %v], pooled [%v %v]", unit, got.Lower(0.05), got.Upper(0.05), want.Lower(0.05), want.Upper(0.05))
					}
				}
			}
		}
	}
}

func same(a, b float64) bool { return math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) < 1e-10 }

// TestReaches: Reaches is Lower compared with a threshold.
func TestReaches(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 500 {
		p := Pool(drawCells(r), ByQuery)
		b := Bound{Alpha: 0.05}
		y := r.Float64()
		if l := b.Lower(p); !math.IsNaN(l) && math.Abs(l-y) > 1e-9 && (l >= y) != b.Reaches(p, y) {
			t.Fatalf("lower bound %v, and reaching %v is %v", l, y, b.Reaches(p, y))
		}
	}
}

// TestPairedProperties: swapping the sides mirrors the difference, and P is at most 0.05
// exactly if the 95 % interval excludes 0.
func TestPairedProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	significant := 0
	for range 200 {
		var cells []PairedCell
		gain := r.Float64()
		for q := range 5 + r.IntN(20) {
			n := float64(1 + r.IntN(8))
			gained := math.Floor(gain * n)
			lost := math.Floor(r.Float64() * (n - gained + 1) / 2)
			cells = append(cells, PairedCell{
				Query: fmt.Sprint(q), Session: fmt.Sprint(q), N: n, K: 1, A: lost, B: gained, Gained: gained, Lost: lost,
			})
		}
		d := Compare(cells, Auto)
		lower, upper := d.Bounds(0.025)
		if !(lower <= d.Value() && d.Value() <= upper) || math.Abs(d.B-d.A-d.Value()) > 1e-12 {
			t.Fatalf("difference %v of %v and %v, interval [%v %v]", d.Value(), d.A, d.B, lower, upper)
		}
		if p := d.P(); math.Abs(p-0.05) > 1e-6 && (p <= 0.05) != (lower > 0 || upper < 0) {
			t.Fatalf("p %v with the interval [%v %v]", p, lower, upper)
		}
		if d.P() <= 0.05 {
			significant++
		}
		s := d.Swapped()
		l, u := s.Bounds(0.025)
		if math.Abs(l+upper) > 1e-9 || math.Abs(u+lower) > 1e-9 || math.Abs(s.SE()-d.SE()) > 1e-9 || math.Abs(s.Detectable()-d.Detectable()) > 1e-9 {
			t.Fatalf("[%v %v], swapped [%v %v]", lower, upper, l, u)
		}
	}
	if significant == 0 || significant == 200 {
		t.Errorf("%d of 200 differences are significant: the test distinguishes nothing", significant)
	}
}

// TestForecast: the number found is the smallest, and more queries do not lower the chance.
func TestForecast(t *testing.T) {
	var cells []Cell
	for i := range 20 {
		name := fmt.Sprint(i)
		cells = append(cells, Cell{Query: name, Session: name, X: 6 - math.Floor(float64(i)/14), N: 6, K: 3})
	}
	f := Forecast{Seen: Pool(cells, Auto), Threshold: 0.9, Alpha: 0.05}
	holds, ok := f.IfRateHolds()
	if !ok || holds <= 20 {
		t.Fatalf("if the rate holds: %d, %v; lower bound %v", holds, ok, f.Seen.Lower(0.05))
	}
	b := Bound{Alpha: 0.05}
	at := func(g int) bool { return b.Reaches(f.grown(g).with(f.Seen.X*f.ratio(g)), f.Threshold) }
	if !at(holds) || at(holds-1) {
		t.Errorf("%d queries are not the smallest number", holds)
	}
	chance, ok := f.WithChance()
	if !ok || chance < holds || f.Chance(chance) < 0.8 || f.Chance(chance-1) >= 0.8 {
		t.Errorf("with 80 %%: %d, %v; chances %v and %v", chance, ok, f.Chance(chance), f.Chance(chance-1))
	}
	last := 0.0
	for g := 20; g < 400; g += 10 {
		if c := f.Chance(g); c < last-1e-3 || c > f.AtBest()+1e-9 {
			t.Errorf("chance %v with %d queries after %v; at best %v", c, g, last, f.AtBest())
		} else {
			last = c
		}
	}
}

func TestNames(t *testing.T) {
	n := NewNames([]Origin{
		{"L1", "q1", " What  port?", []string{"a"}},
		{"L1", "q2", "what port?", []string{"a"}}, // the same question on the same session
		{"L1", "q3", "what port?", []string{"b"}}, // on another
		{"L1", "q4", "Which port?", []string{"a"}},
		{"L2", "q5", "who?", []string{"a", "b"}}, // joins a and b at L2
		{"L2", "q6", "Who?", []string{"b", "c"}}, // and c
		{"L2", "q7", "why?", []string{"d"}},
	})
	for id, want := range map[string]string{"q1": "q1", "q2": "q1", "q3": "q3", "q4": "q4", "q5": "q5", "q6": "q5", "q7": "q7"} {
		if got := n.Query(id); got != want {
			t.Errorf("%s is query %s, want %s", id, got, want)
		}
	}
	for _, c := range []struct{ level, corpus, want string }{
		{"L1", "a", "a"}, {"L1", "b", "b"}, {"L2", "b", "a"}, {"L2", "c", "a"}, {"L2", "d", "d"},
	} {
		if got := n.Session(c.level, []string{c.corpus}); got != c.want {
			t.Errorf("%s at %s is session %s, want %s", c.corpus, c.level, got, c.want)
		}
	}
	if got := fmt.Sprint(n.Merged()); got != "map[q1:[q1 q2] q5:[q5 q6]]" {
		t.Errorf("merged ids are %s", got)
	}
}

// TestFlipSigns: drawn flips are seeded and near the exact share; zeros change nothing.
func TestFlipSigns(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	d := make([]float64, 20)
	for i := range d {
		d[i] = math.Round(8*(r.Float64()-0.35)) / 8
	}
	exact := FlipSigns(d, 0)
	drawn := FlipSigns(append(append([]float64{}, d...), 0, 0, 0), 7)
	if !exact.Exact || drawn.Exact || math.Abs(exact.P-drawn.P) > 0.01 || drawn != FlipSigns(append(append([]float64{}, d...), 0, 0, 0), 7) {
		t.Errorf("exact %+v, drawn %+v", exact, drawn)
	}
	naive := 0
	for set := range 1 << len(d) {
		sum, total := 0.0, 0.0
		for i, x := range d {
			total += x
			if set>>i&1 == 1 {
				x = -x
			}
			sum += x
		}
		if math.Abs(sum) >= math.Abs(total)-1e-12 {
			naive++
		}
	}
	if want := float64(naive) / math.Exp2(float64(len(d))); exact.P != want {
		t.Errorf("p is %v, want %v", exact.P, want)
	}
	if one := FlipSigns([]float64{0.5}, 0); one.P != 1 {
		t.Errorf("one query has p %v, want 1", one.P)
	}
}

func TestHolm(t *testing.T) {
	got := Holm([]float64{0.04, math.NaN(), 0.01, 0.03})
	want := []float64{0.06, math.NaN(), 0.03, 0.06}
	for i := range want {
		if !same(got[i], want[i]) {
			t.Errorf("adjusted %v, want %v", got, want)
		}
	}
}
