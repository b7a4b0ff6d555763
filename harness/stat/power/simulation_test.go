package power_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	stat "github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/harness/stat/cluster"
	"github.com/poimen-memory/mem/harness/stat/decide"
	"github.com/poimen-memory/mem/harness/stat/power"
)

// The simulations run a small sample of each setting always, and the whole one with
//
//	go test ./harness/stat/power -run Simulated -v -long
//
// They call the code that decides, on queries whose rates are drawn from a beta distribution,
// with fixed seeds. docs/statistics.md has the results of the whole ones.
var long = flag.Bool("long", false, "simulate in full")

func repetitions(small, full int) int {
	if *long {
		return full
	}
	return small
}

// within is a share with four standard errors of the simulation added.
func within(share float64, repetitions int) float64 {
	return share + 4*math.Sqrt(share*(1-share)/float64(repetitions))
}

// setting is what one simulated experiment is like. Sessions 0: every query has its own.
type setting struct {
	power.BetaBinomial
	queries, perTrial, trials int
	sessions                  int
	sessionICC                float64
}

func (s setting) String() string {
	return fmt.Sprintf("rate %v, ICC %v, %d queries × %d trials × %d, %d sessions of ICC %v", s.Rate, s.ICC, s.queries, s.trials, s.perTrial, s.sessions, s.sessionICC)
}

// draw draws the cells. A session has a rate of its own, from which its queries draw theirs.
func (s setting) draw(source rand.Source) []stat.Cell {
	sessions := make([]float64, s.sessions)
	for i := range sessions {
		sessions[i] = power.BetaBinomial{Rate: s.Rate, ICC: s.sessionICC}.DrawRate(source)
	}
	n := s.trials * s.perTrial
	list := make([]stat.Cell, s.queries)
	for i := range list {
		rate, session := s.Rate, fmt.Sprint("own", i)
		if s.sessions > 0 {
			rate, session = sessions[i%s.sessions], fmt.Sprint("s", i%s.sessions)
		}
		x := power.BetaBinomial{Rate: rate, ICC: s.ICC}.Draw(n, source)
		list[i] = stat.Cell{Query: fmt.Sprint("q", i), Session: session, X: x, N: float64(n), K: float64(s.trials)}
	}
	return list
}

// settings are shapes of recall, specificity and exit.
func settings(rates, iccs []float64, queries ...int) (list []setting) {
	for _, shape := range []setting{{perTrial: 2, trials: 3}, {perTrial: 37, trials: 3}, {perTrial: 1, trials: 3}, {perTrial: 12, trials: 1}} {
		for _, shape.queries = range queries {
			for _, shape.ICC = range iccs {
				for _, shape.Rate = range rates {
					list = append(list, shape)
				}
			}
		}
	}
	return list
}

// interval is an interval at side per side.
type interval func(cells []stat.Cell, side float64) (lower, upper float64)

func shipped(unit stat.Unit) interval {
	return func(cells []stat.Cell, side float64) (float64, float64) {
		p := cluster.Pool(cells, unit)
		return p.Lower(side), p.Upper(side)
	}
}

// wilson is Wilson's interval over turns.
func wilson(cells []stat.Cell, side float64) (lower, upper float64) {
	p := cluster.Pool(cells, stat.ByQuery)
	z, rate, n := distuv.UnitNormal.Quantile(1-side), p.Rate(), p.N
	centre := (rate + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(rate*(1-rate)/n+z*z/(4*n*n))
	return centre - half, centre + half
}

// clusterT is the cluster-robust t interval.
func clusterT(cells []stat.Cell, side float64) (lower, upper float64) {
	p := cluster.Pool(cells, stat.ByQuery)
	half := distuv.StudentsT{Sigma: 1, Nu: float64(p.Queries() - 1)}.Quantile(1-side) * p.SE()
	return p.Rate() - half, p.Rate() + half
}

// bootstrap is the percentile interval of 400 resamples of the queries.
func bootstrap(cells []stat.Cell, side float64) (lower, upper float64) {
	random := rand.New(rand.NewPCG(4, 4))
	rates := make([]float64, 400)
	for i := range rates {
		x, n := 0.0, 0.0
		for range cells {
			c := cells[random.IntN(len(cells))]
			x, n = x+c.X, n+c.N
		}
		rates[i] = x / n
	}
	slices.Sort(rates)
	k := int(side * float64(len(rates)))
	return rates[k], rates[len(rates)-1-k]
}

// worst is how often an interval misses at worst: the rate is under its lower bound (false
// GO), over its upper (false NO-GO), or either at two sides.
type worst struct {
	lower, upper, either float64
	where                setting // of lower
}

func misses(list []setting, repetitions int, of interval) (w worst) {
	for i, s := range list {
		source := rand.NewPCG(1, uint64(i))
		lower, upper, either := 0, 0, 0
		for range repetitions {
			cells := s.draw(source)
			l, u := of(cells, 0.05)
			l2, u2 := of(cells, 0.025)
			lower += count(l > s.Rate)
			upper += count(u < s.Rate)
			either += count(l2 > s.Rate || u2 < s.Rate)
		}
		share := func(n int) float64 { return float64(n) / float64(repetitions) }
		if share(lower) > w.lower {
			w.lower, w.where = share(lower), s
		}
		w.upper, w.either = max(w.upper, share(upper)), max(w.either, share(either))
	}
	return w
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestSimulatedCoverage: one-sided 95 % bounds miss at most 5 % of the time, two-sided ones
// too; intervals over turns, and those that trust few clusters, do not.
func TestSimulatedCoverage(t *testing.T) {
	n := repetitions(60, 2000)
	rates, iccs, queries := []float64{0.85, 0.95}, []float64{0, 0.2, 0.6}, []int{10, 30}
	if *long {
		rates, iccs, queries = []float64{0.80, 0.85, 0.90, 0.95}, []float64{0, 0.05, 0.2, 0.4, 0.6}, []int{10, 20, 50, 100}
	}
	list := settings(rates, iccs, queries...)
	w := misses(list, n, shipped(stat.Auto))
	t.Logf("%d settings × %d: shipped misses below %.3f, above %.3f, two-sided %.3f (%v)", len(list), n, w.lower, w.upper, w.either, w.where)
	if most := within(0.05, n); w.lower > most || w.upper > most || w.either > most {
		t.Errorf("misses %+v, want at most %.3f", w, most)
	}
	for name, of := range map[string]interval{"Wilson over turns": wilson, "cluster-robust t": clusterT, "bootstrap of queries": bootstrap} {
		few := repetitions(60, 500)
		w := misses(list, few, of)
		t.Logf("%s misses below %.3f, above %.3f, two-sided %.3f", name, w.lower, w.upper, w.either)
		if w.either <= within(0.05, few) {
			t.Errorf("%s passes: it misses %.3f of the time at worst", name, w.either)
		}
	}
}

// TestSimulatedSessions: unit auto holds for new sessions; unit query does not claim to, and
// an implementation that takes it for auto is found.
func TestSimulatedSessions(t *testing.T) {
	n := repetitions(100, 2000)
	var list []setting
	for _, shape := range settings([]float64{0.85}, []float64{0.05, 0.2}, 50) {
		for _, shape.sessions = range []int{2, 5, 10, 20} {
			shape.sessionICC = 0.2
			list = append(list, shape)
		}
	}
	auto, query := misses(list, n, shipped(stat.Auto)), misses(list, n, shipped(stat.ByQuery))
	t.Logf("%d settings × %d: unit auto misses below %.3f, above %.3f; unit query %.3f, %.3f", len(list), n, auto.lower, auto.upper, query.lower, query.upper)
	if most := within(0.05, n); auto.lower > most || auto.upper > most {
		t.Errorf("unit auto misses %+v, want at most %.3f", auto, most)
	}
	if query.lower <= within(0.05, n) {
		t.Errorf("unit query passes for auto: it misses %.3f at worst", query.lower)
	}
}

// TestSimulatedDecisions: the whole default rule with every criterion at its threshold says
// GO and NO-GO at most 5 % of the time each.
func TestSimulatedDecisions(t *testing.T) {
	n := repetitions(60, 1500)
	for _, icc := range []float64{0, 0.2, 0.6} {
		for _, queries := range []int{30, 100} {
			p := plan(0)
			p.Repetitions = n
			for i := range p.Assume {
				p.Assume[i].ICC = icc
			}
			at, err := p.At(queries)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("ICC %v, %d queries × %d: false GO %.3f, false NO-GO %.3f", icc, queries, n, at.Go, at.NoGo)
			if most := within(0.05, n); at.Go > most || at.NoGo > most {
				t.Errorf("ICC %v, %d queries: %+v, want at most %.3f", icc, queries, at, most)
			}
		}
	}
}

// anyGo decides on one criterion at several looks at growing data; it is true if any is GO.
func anyGo(cells []stat.Cell, looks []int, rule decide.Rule) (bool, error) {
	for i, units := range looks {
		c := decide.Criterion{Metric: "exit_useful", Threshold: 0.85}
		v, err := decide.VerdictOf([]decide.Counted{{Criterion: c, Cells: cells[:units]}}, rule)
		if err != nil || v == decide.Go {
			return v == decide.Go, err
		}
		made := decide.Made{Units: units}
		if rule.Looks != nil {
			made.Look = i + 1
		}
		rule.Made = append(rule.Made, made)
	}
	return false, nil
}

// TestSimulatedLooks: planned looks share the error; looking every 5 queries at the full
// error, which the rule refuses, would not.
func TestSimulatedLooks(t *testing.T) {
	n := repetitions(120, 2000)
	planned := []int{20, 50, 100}
	var often []int
	for units := 10; units <= 100; units += 5 {
		often = append(often, units)
	}
	worst := map[string]float64{}
	for i, s := range settings([]float64{0.85}, []float64{0.05, 0.6}, 100) {
		source := rand.NewPCG(2, uint64(i))
		hits := map[string]int{}
		for range n {
			cells := s.draw(source)
			for name, look := range map[string]func() (bool, error){
				"planned":   func() (bool, error) { return anyGo(cells, planned, decide.Rule{Looks: planned}) },
				"unplanned": func() (bool, error) { return anyGo(cells, often, decide.Rule{}) },
				"forgetful": func() (bool, error) { // does not tell the rule about earlier looks
					for _, units := range often {
						if ok, err := anyGo(cells, []int{units}, decide.Rule{}); ok || err != nil {
							return ok, err
						}
					}
					return false, nil
				},
			} {
				ok, err := look()
				if err != nil {
					t.Fatal(err)
				}
				hits[name] += count(ok)
			}
		}
		for name, hit := range hits {
			worst[name] = max(worst[name], float64(hit)/float64(n))
		}
	}
	t.Logf("false GO at worst of %d: %v", n, worst)
	most := within(0.05, n)
	if worst["planned"] > most || worst["unplanned"] > most {
		t.Errorf("false GO %v, want at most %.3f", worst, most)
	}
	if worst["forgetful"] <= most {
		t.Errorf("looks that are kept from the rule pass: %v", worst)
	}
}

// TestSimulatedGroups: with by, a group at its floor keeps GO away, whatever the others are;
// without, the mix decides.
func TestSimulatedGroups(t *testing.T) {
	n := repetitions(60, 1000)
	for _, size := range []int{3, 20} {
		hits := map[bool]int{}
		source := rand.NewPCG(3, uint64(size))
		for range n {
			strong := setting{BetaBinomial: power.BetaBinomial{Rate: 0.98, ICC: 0.05}, queries: 60, perTrial: 2, trials: 3}
			weak := strong
			weak.Rate, weak.queries = 0.85, size
			cells := strong.draw(source)
			kinds := map[string]string{}
			for _, c := range weak.draw(source) {
				c.Query, c.Session = "weak "+c.Query, "weak "+c.Session
				kinds[c.Query] = "weak"
				cells = append(cells, c)
			}
			for _, by := range []string{"", "kind"} {
				c := decide.Criterion{Metric: "recall_strict", Threshold: 0.85, By: by}
				v, err := decide.VerdictOf([]decide.Counted{{Criterion: c, Cells: cells, Groups: kinds}}, decide.Rule{})
				if err != nil {
					t.Fatal(err)
				}
				hits[by != ""] += count(v == decide.Go)
			}
		}
		t.Logf("60 queries at .98 and %d at .85: GO %.3f without by, %.3f with", size, float64(hits[false])/float64(n), float64(hits[true])/float64(n))
		if with := float64(hits[true]) / float64(n); with > within(0.05, n) || hits[false] < n/2 {
			t.Errorf("%d weak queries: GO %v of %d without by, %v with", size, hits[false], n, hits[true])
		}
	}
}

// TestSimulatedMargins: of a model that is worse by exactly the margin, NOT-WORSE is said at
// most 5 % of the time, and WORSE too; equal models near 1 are covered.
func TestSimulatedMargins(t *testing.T) {
	n := repetitions(100, 2000)
	const margin = 0.1
	for _, queries := range []int{20, 50} {
		random := rand.New(rand.NewPCG(5, uint64(queries)))
		hits := map[cluster.MarginVerdict]int{}
		missed := 0
		for range n {
			worse := cluster.Compare(drawPairs(random, queries, 0.95, margin), stat.Auto)
			hits[worse.Margin(margin)]++
			equal := cluster.Compare(drawPairs(random, queries, 0.97, 0), stat.Auto)
			lower, upper := equal.Bounds(0.025)
			missed += count(lower > 0 || upper < 0)
		}
		share := func(n int, of int) float64 { return float64(n) / float64(of) }
		t.Logf("%d queries × %d: at the margin NOT-WORSE %.3f, WORSE %.3f; equal models differ %.3f", queries, n,
			share(hits[cluster.NotWorse], n), share(hits[cluster.Worse], n), share(missed, n))
		most := within(0.05, n)
		if share(hits[cluster.NotWorse], n) > most || share(hits[cluster.Worse], n) > most || share(missed, n) > most {
			t.Errorf("%d queries: %v, equal models differ %d of %d, want at most %.3f", queries, hits, missed, n, most)
		}
	}
}

// drawPairs are queries of 4 turns; A has the rate in each, B loses a share of them more on
// some queries than on others.
func drawPairs(random *rand.Rand, queries int, rate, loss float64) []cluster.PairedCell {
	list := make([]cluster.PairedCell, queries)
	for i := range list {
		c := cluster.PairedCell{Query: fmt.Sprint(i), Session: fmt.Sprint(i), N: 4, K: 1}
		lost := loss * 2 * float64(random.IntN(2))
		for range 4 {
			a := count(random.Float64() < rate)
			b := count(random.Float64() < rate-lost)
			c.A, c.B = c.A+float64(a), c.B+float64(b)
			c.Gained, c.Lost = c.Gained+float64(max(b-a, 0)), c.Lost+float64(max(a-b, 0))
		}
		list[i] = c
	}
	return list
}
