package stat_test

import (
	"encoding/json"
	"math"
	"testing"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"

	stat "github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/harness/stat/cluster"
)

// interval is what an implementation makes of a vector's cells at side per side.
type interval func(cells []stat.Cell, unit stat.Unit, side float64) (lower, upper float64)

// formula is the interval of docs/statistics.md with its parts exposed, so that each can be
// broken.
type formula struct {
	d0       func(p cluster.Proportion) float64
	variance func(p cluster.Proportion) float64
	ratio    func(p cluster.Proportion, side float64) float64 // t over normal quantile
}

func exact() formula {
	return formula{cluster.Proportion.D0, cluster.Proportion.Variance, func(p cluster.Proportion, side float64) float64 {
		return distuv.StudentsT{Sigma: 1, Nu: float64(p.Units() - 1)}.Quantile(1-side) / distuv.UnitNormal.Quantile(1-side)
	}}
}

func (f formula) interval(cells []stat.Cell, unit stat.Unit, side float64) (lower, upper float64) {
	p := cluster.Pool(cells, unit)
	if !p.Defined() {
		return math.NaN(), math.NaN()
	}
	bound := func(x float64) float64 {
		if x == 0 {
			return 0
		}
		a, d0 := 0.0, f.d0(p)
		if !p.Edge() {
			r := f.ratio(p, side)
			a = f.variance(p) * r * r
		}
		s := (p.N-x+d0)*x/(a+d0*d0*x/p.N) + 1
		return mathext.InvRegIncBeta(s*x/(p.N+d0), s*(p.N-x+d0)/(p.N+d0), side)
	}
	return bound(p.X), 1 - bound(p.N-p.X)
}

// TestBrokenIntervalsAreFound: the worked examples reject every implementation that leaves
// out a part of the interval or takes another.
func TestBrokenIntervalsAreFound(t *testing.T) {
	if failed := rejected(t, exact().interval); failed > 0 {
		t.Fatalf("the formula itself is rejected by %d vectors", failed)
	}
	broken := func(change func(f *formula)) interval {
		f := exact()
		change(&f)
		return f.interval
	}
	for name, of := range map[string]interval{
		"pooled instead of clustered": broken(func(f *formula) {
			f.d0 = func(cluster.Proportion) float64 { return 1 }
			f.variance = func(p cluster.Proportion) float64 { return p.X * (p.N - p.X) / p.N }
		}),
		"Wilson over turns": func(cells []stat.Cell, unit stat.Unit, side float64) (float64, float64) {
			p := cluster.Pool(cells, unit)
			return wilson(p.X, p.N, side)
		},
		"without the t factor":       broken(func(f *formula) { f.ratio = func(cluster.Proportion, float64) float64 { return 1 } }),
		"spread below binomial":      broken(func(f *formula) { f.variance = cluster.Proportion.Spread }),
		"version 1's pseudo-cluster": broken(func(f *formula) { f.d0 = version1 }),
		"the design effect seen, once": broken(func(f *formula) {
			f.d0 = func(p cluster.Proportion) float64 {
				effect, most := p.Assumed()
				if p.Edge() {
					return max(1, effect)
				}
				return max(1, effect, min(most, p.Variance()*p.N/(p.X*(p.N-p.X))))
			}
		}),
		"auto as query": func(cells []stat.Cell, _ stat.Unit, side float64) (float64, float64) {
			return exact().interval(cells, stat.ByQuery, side)
		},
		"auto as session": func(cells []stat.Cell, unit stat.Unit, side float64) (float64, float64) {
			if unit != stat.ByQuery {
				unit = stat.BySession
			}
			return exact().interval(cells, unit, side)
		},
		"trials that are no copies": func(cells []stat.Cell, unit stat.Unit, side float64) (float64, float64) {
			once := make([]stat.Cell, len(cells))
			for i, c := range cells {
				once[i] = c
				once[i].K = 1
			}
			return exact().interval(once, unit, side)
		},
	} {
		if rejected(t, of) == 0 {
			t.Errorf("no vector rejects: %s", name)
		}
	}
}

// version1 is d0 of version 1: max(1, k(1 + (m/k − 1)·0.25)).
func version1(p cluster.Proportion) float64 {
	m, _, _ := p.Sizes()
	k := p.Repeats()
	return max(1, k*(1+(m/k-1)*0.25))
}

// rejected is the number of vectors that an interval does not reproduce.
func rejected(t *testing.T, of interval) (failed int) {
	t.Helper()
	v := readVectors(t)
	for _, group := range v.Vectors {
		if group.Kind != "pccp_interval" && group.Kind != "pccp_cells" {
			continue
		}
		for _, e := range group.Cases {
			var in table
			if err := json.Unmarshal(e.Input, &in); err != nil {
				t.Fatal(err)
			}
			want := e.Expected["two_sided_95"].([]any)
			lower, upper := of(in.cells(), in.Unit, 0.025)
			if !near(want[0], lower, v.Tolerance) || !near(want[1], upper, v.Tolerance) {
				failed++
			}
		}
	}
	return failed
}
