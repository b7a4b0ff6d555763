package stat_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/poimen-memory/mem/harness/stat"
)

// project is the definition, written out: try every number of queries in turn.
func project(p stat.Proportion, threshold, z float64, most int) (int, bool) {
	for g := p.Queries + 1; g <= most; g++ {
		s := float64(g) / float64(p.Queries)
		n, a := p.N*s, 0.0
		if p.X > 0 && p.X < p.N {
			a = max(p.Spread, p.X*(p.N-p.X)/p.N) * s
		}
		rate := max(0, p.Rate()-z*math.Sqrt(a)/n)
		if p.X < p.N {
			t := distuv.StudentsT{Sigma: 1, Nu: float64(g - 1)}.Quantile(0.95) / distuv.UnitNormal.Quantile(0.95)
			a *= t * t
		}
		x, f := rate*n, n-rate*n
		if x == 0 {
			continue
		}
		k := (f+p.D0)*x/(a+p.D0*p.D0*rate) + 1
		if (distuv.Beta{Alpha: k * x / (n + p.D0), Beta: k * (f + p.D0) / (n + p.D0)}).CDF(threshold) <= 0.05 {
			return g, true
		}
	}
	return 0, false
}

// TestProjectionIsTheSmallest: searching finds what trying every number finds.
func TestProjectionIsTheSmallest(t *testing.T) {
	source := rand.NewPCG(2, 3)
	reached := 0
	for range 40 {
		s := setting{BetaBinomial: stat.BetaBinomial{Rate: 0.92, ICC: 0.1}, queries: 3 + int(source.Uint64()%20), perTrial: 1 + int(source.Uint64()%5), trials: 1 + int(source.Uint64()%3)}
		p := stat.Pool(s.draw(source))
		for _, z := range []float64{0, 0.841621} {
			const most = 150
			got, ok := p.Project(0.85, 0.05, z)
			if p.Rate() < 0.85 {
				if ok {
					t.Errorf("%v: a rate of %v reaches 0.85 with %d queries", s, p.Rate(), got)
				}
				continue
			}
			want, within := project(p, 0.85, z, most)
			if within && got != want || !within && ok && got <= most {
				t.Errorf("%v, z %v: %d queries, want %d (%v)", s, z, got, want, within)
			}
			if within {
				reached++
			}
		}
	}
	if reached < 20 {
		t.Errorf("only %d projections arrive: this test catches little", reached)
	}
}

// TestProjectionHasACap: what would take more than 10,000 queries is not reachable.
func TestProjectionHasACap(t *testing.T) {
	list := make([]stat.Cluster, 20)
	for i := range list {
		list[i] = stat.Cluster{X: 1702 + float64(i%2*8), N: 2004, K: 1}
	}
	p := stat.Pool(list)
	if n, ok := p.Project(p.Rate()-8e-5, 0.05, 0); ok { // some 27,000
		t.Errorf("reachable with %d queries", n)
	}
	if n, ok := p.Project(p.Rate()-2e-4, 0.05, 0); !ok || n < 1000 {
		t.Errorf("a wider margin takes %d queries (%v)", n, ok)
	}
}
