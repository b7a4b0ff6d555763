package stat

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// exactQueries is the number of differences up to which all sign vectors are enumerated.
const exactQueries = 20

// Flips are the random sign flips used above 20 queries; the zero value is 99,999 with
// seed 0. Equal Flips give equal results on every machine.
type Flips struct {
	N    int // 0: 99,999
	Seed uint64
}

// SignFlip is the sign-flip test of differences d_q, one per query (METRICS section 4).
type SignFlip struct {
	Mean    float64
	P       float64 // two-sided: share of sign vectors with |Σ ±d| ≥ |Σ d|, ties counted
	Greater float64 // one-sided: share with Σ ±d ≥ Σ d
	Exact   bool    // all 2^G vectors, not drawn ones

	// Lower and Upper bound the mean difference: every δ within is not rejected by the
	// test of d − δ at alpha. ±Inf: no difference however large would be rejected.
	Lower, Upper float64
}

// FlipSigns tests whether the differences are symmetric around 0, and inverts the test
// at a two-sided alpha. NaN throughout without differences.
//
// A sign vector negates a subset of the queries. With u and v the sums of d−δ over the
// subset and over the rest, it is as extreme as the data, |v−u| ≥ |u+v|, exactly if
// u·v ≤ 0: if δ lies between the mean of the subset and the mean of the rest. The test of
// every δ is therefore known from these pairs of means.
func FlipSigns(d []float64, alpha float64, flips Flips) SignFlip {
	if len(d) == 0 {
		nan := math.NaN()
		return SignFlip{Mean: nan, P: nan, Greater: nan, Lower: nan, Upper: nan}
	}
	t := SignFlip{Mean: average(d), Exact: len(d) <= exactQueries}
	var subsets []subset
	if t.Exact {
		subsets = allSubsets(d)
	} else {
		subsets = drawSubsets(d, flips)
	}
	t.count(d, subsets)
	t.invert(d, subsets, alpha)
	return t
}

// subset is the queries that a sign vector negates: their sum and number.
type subset struct {
	sum float64
	n   int
}

// allSubsets are the 2^G subsets, the empty one first: the vector that flips nothing is
// among them.
func allSubsets(d []float64) []subset {
	all := make([]subset, 1, 1<<len(d))
	for _, x := range d {
		for _, s := range all[:len(all):len(all)] {
			all = append(all, subset{s.sum + x, s.n + 1})
		}
	}
	return all
}

// drawSubsets are seeded random subsets and the empty one, which is the +1 of
// p = (b+1)/(B+1).
func drawSubsets(d []float64, flips Flips) []subset {
	b := flips.N
	if b == 0 {
		b = 99_999
	}
	source := rand.NewPCG(flips.Seed, 0)
	all := make([]subset, 1, b+1)
	for range b {
		all = append(all, drawSubset(d, source))
	}
	return all
}

func drawSubset(d []float64, source *rand.PCG) (s subset) {
	for start := 0; start < len(d); start += 64 {
		signs := source.Uint64()
		for _, x := range d[start:min(start+64, len(d))] {
			negated := signs & 1
			s.sum += x * float64(negated)
			s.n += int(negated)
			signs >>= 1
		}
	}
	return s
}

// count sets the p-values. Sums that differ by no more than rounding are ties.
func (t *SignFlip) count(d []float64, subsets []subset) {
	total, size := sums(d)
	tie := 1e-12 * size
	both, greater := 0, 0
	for _, s := range subsets {
		flipped := total - 2*s.sum
		both += one(math.Abs(flipped) >= math.Abs(total)-tie)
		greater += one(flipped >= total-tie)
	}
	t.P = float64(both) / float64(len(subsets))
	t.Greater = float64(greater) / float64(len(subsets))
}

func sums(d []float64) (total, size float64) {
	for _, x := range d {
		total += x
		size += math.Abs(x)
	}
	return total, size
}

// invert sets the bounds. Every pair of means has the overall mean between them, so that
// the share of pairs around δ falls on both sides of it: the k-th lowest and the k-th
// highest are the bounds, for the least k that leaves p above alpha.
func (t *SignFlip) invert(d []float64, subsets []subset, alpha float64) {
	total, _ := sums(d)
	var low, high []float64
	for _, s := range subsets {
		if s.n == 0 || s.n == len(d) {
			continue // extreme at every δ
		}
		a, b := s.sum/float64(s.n), (total-s.sum)/float64(len(d)-s.n)
		low, high = append(low, min(a, b)), append(high, max(a, b))
	}
	always := len(subsets) - len(low)
	k := int(math.Floor(alpha*float64(len(subsets)))) + 1 - always
	if k < 1 {
		t.Lower, t.Upper = math.Inf(-1), math.Inf(1)
		return
	}
	slices.Sort(low)
	slices.Sort(high)
	t.Lower, t.Upper = min(low[k-1], t.Mean), max(high[len(high)-k], t.Mean)
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
// other: exact binomial, and its mid-p. It takes turns for independent and rejects a true
// null 5–62 % of the time here: it may be shown, named as such, never decided on.
func McNemar(b, c int) (exact, midP float64) {
	smaller := float64(min(b, c))
	half := distuv.Binomial{N: float64(b + c), P: 0.5}
	tails := 2 * half.CDF(smaller)
	return min(1, tails), min(1, tails-half.Prob(smaller))
}
