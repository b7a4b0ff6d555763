package cluster

import (
	"math"
	"slices"
)

// MOVER bounds a function of two rates by their bounds at alpha per side; NaN where
// undefined (Zou & Donner 2008). of is increasing in both and gets the prevalence n_a/(n_a+n_b):
//
//	lower = f̂ − √(u²+v²+2ruv), u = f̂ − f(L_a, b̂), v = f̂ − f(â, L_b)
//
// and the mirror image for the upper.
func MOVER(of func(a, b, prevalence float64) float64, a, b Rate, unit Unit, alpha float64) (lower, upper float64) {
	pa, pb := a.At(unit), b.At(unit)
	if !pa.Defined() || !pb.Defined() {
		return math.NaN(), math.NaN()
	}
	r, prevalence := ResidualCorrelation(a, b, unit), pa.N/(pa.N+pb.N)
	value := of(pa.Rate(), pb.Rate(), prevalence)
	side := func(bound func(Proportion, float64) float64) float64 {
		u := value - of(bound(pa, alpha), pb.Rate(), prevalence)
		v := value - of(pa.Rate(), bound(pb, alpha), prevalence)
		return math.Sqrt(u*u + v*v + 2*r*u*v)
	}
	return value - side(Proportion.Lower), value + side(Proportion.Upper)
}

// ResidualCorrelation is the correlation of x_h − p·n_h of two rates, over sessions where
// these are the fewer clusters of the unit, else over queries. It is at least 0: a negative
// one, estimated from few clusters, must not narrow an interval.
func ResidualCorrelation(a, b Rate, unit Unit) float64 {
	both := slices.Concat(a.Cells, b.Cells)
	all := Pool(both, unit)
	bySession := unit == BySession || unit != ByQuery && all.Sessions() < all.Queries()
	names := newClusters(len(both))
	for _, c := range both {
		if c.N > 0 {
			names.add(c.name(bySession), 0, c.N)
		}
	}
	ra, rb := residuals(a, names.index, bySession), residuals(b, names.index, bySession)
	var ab, aa, bb float64
	for h := range ra {
		ab, aa, bb = ab+ra[h]*rb[h], aa+ra[h]*ra[h], bb+rb[h]*rb[h]
	}
	if aa == 0 || bb == 0 { // one of them does not vary
		return 0
	}
	return max(0, ab/math.Sqrt(aa*bb))
}

// residuals are x_h − p·n_h of the clusters of an index. Their sum is 0, for p is the rate of all.
func residuals(of Rate, index map[string]int, bySession bool) []float64 {
	r := make([]float64, len(index))
	rate := of.At(ByQuery).Rate()
	for _, c := range of.Cells {
		if c.N > 0 {
			r[index[c.name(bySession)]] += c.X - rate*c.N
		}
	}
	return r
}

// name is that of the cell's cluster.
func (c Cell) name(bySession bool) string {
	if bySession {
		return c.Session
	}
	return c.Query
}
