package cluster

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

const (
	exactQueries = 20     // differences up to which all sign vectors are enumerated
	drawnFlips   = 99_999 // above
)

// SignFlip is the sign-flip test of differences, one per query. It tests whether two models
// are interchangeable on every query, not whether their mean difference is 0: it is shown as
// p_exchangeable, and nothing is decided on it.
type SignFlip struct {
	P       float64 // two-sided: share of sign vectors with |Σ ±d| ≥ |Σ d|, ties counted
	Greater float64 // one-sided: share with Σ ±d ≥ Σ d
	Exact   bool    // all 2^G vectors, not drawn ones
}

// FlipSigns tests whether the differences are symmetric around 0. Equal seeds give equal
// results on every machine. NaN without differences.
func FlipSigns(d []float64, seed uint64) SignFlip {
	if len(d) == 0 {
		return SignFlip{P: math.NaN(), Greater: math.NaN()}
	}
	t := SignFlip{Exact: len(d) <= exactQueries}
	table := newSubsetTable(d)
	total, size := 0.0, 0.0
	for _, x := range d {
		total, size = total+x, size+math.Abs(x)
	}
	tie := 1e-12 * size // sums that differ by no more than rounding are ties
	vectors, both, greater := 0, 0, 0
	count := func(signs []uint64) {
		flipped := total - 2*table.sum(signs)
		vectors++
		if flipped >= total-tie {
			greater++
		}
		if math.Abs(flipped) >= math.Abs(total)-tie {
			both++
		}
	}
	if t.Exact {
		for signs := range uint64(1) << len(d) {
			count([]uint64{signs})
		}
	} else {
		drawSigns(len(d), seed, count)
	}
	t.P, t.Greater = float64(both)/float64(vectors), float64(greater)/float64(vectors)
	return t
}

// drawSigns visits the vector that flips nothing, which is the +1 of p = (b+1)/(B+1), and
// seeded random ones.
func drawSigns(n int, seed uint64, visit func(signs []uint64)) {
	source := rand.NewPCG(seed, 0)
	signs := make([]uint64, (n+63)/64)
	visit(signs)
	for range drawnFlips {
		for i := range signs {
			signs[i] = source.Uint64()
		}
		visit(signs)
	}
}

// subsetTable has the sum of every subset of each 8 differences, so that a vector of signs
// costs a look-up for 8 queries.
type subsetTable [][256]float64

func newSubsetTable(d []float64) subsetTable {
	table := make(subsetTable, (len(d)+7)/8)
	for i := range 8 * len(table) {
		x := 0.0 // beyond the last difference
		if i < len(d) {
			x = d[i]
		}
		bit := 1 << (i % 8)
		for set := range bit {
			table[i/8][set|bit] = table[i/8][set] + x
		}
	}
	return table
}

// sum adds up the differences whose bit is set.
func (t subsetTable) sum(signs []uint64) (sum float64) {
	for i := range t {
		sum += t[i][byte(signs[i/8]>>(i%8*8))]
	}
	return sum
}

// Holm are the p-values adjusted for all of them being claimed at once (Holm 1979), in
// their order. NaN is no claim and stays.
func Holm(p []float64) []float64 {
	adjusted := slices.Clone(p)
	var order []int
	for i, v := range p {
		if !math.IsNaN(v) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	highest := 0.0
	for rank, i := range order {
		highest = max(highest, min(1, float64(len(order)-rank)*p[i]))
		adjusted[i] = highest
	}
	return adjusted
}

// McNemar is the test of paired turns, b of which only one side got right and c only the
// other: exact binomial, and its mid-p. It takes turns for independent, which they are not:
// it may be shown, named as such, never decided on.
func McNemar(b, c int) (exact, midP float64) {
	if b+c == 0 {
		return 1, 1
	}
	n, k := float64(b+c), float64(min(b, c))
	tail := mathext.RegIncBeta(n-k, k+1, 0.5) // P(X ≤ k) of Binomial(n, 1/2)
	point := math.Exp(logFactorial(n) - logFactorial(k) - logFactorial(n-k) - n*math.Ln2)
	return min(1, 2*tail), min(1, 2*tail-point)
}

func logFactorial(n float64) float64 {
	l, _ := math.Lgamma(n + 1)
	return l
}
