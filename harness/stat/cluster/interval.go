package cluster

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// Unit says what an interval holds for, and so what its clusters are.
type Unit string

// The units of docs/statistics.md.
const (
	Auto      Unit = "auto"    // new questions on new sessions; the empty Unit too
	ByQuery   Unit = "query"   // new questions on these sessions
	BySession Unit = "session" // these questions on new sessions
)

// Valid reports whether u is a unit.
func (u Unit) Valid() bool { return u == "" || u == Auto || u == ByQuery || u == BySession }

const (
	rho0 = 0.5  // assumed correlation within an unseen query
	rho1 = 0.25 // assumed correlation within an unseen session
	// HighICC is the intra-query correlation up to which the interval was simulated.
	HighICC = 0.6
)

// Cell is what one query contributes to a rate on one session: X successes of N turns or
// runs in K runs. X may be fractional. Missing are turns or runs without a reply that would
// be among N.
type Cell struct {
	Query, Session string
	X, N           float64
	K              float64 // 0: 1
	Missing        float64
}

// moments are the sums over clusters that spread and sizes are computed from.
type moments struct {
	groups     int
	xx, xn, nn float64 // Σx², Σxn, Σn²
}

func (m *moments) add(x, n float64) {
	if n > 0 {
		m.groups++
		m.xx, m.xn, m.nn = m.xx+x*x, m.xn+x*n, m.nn+n*n
	}
}

func (m *moments) remove(x, n float64) {
	if n > 0 {
		m.groups--
		m.xx, m.xn, m.nn = m.xx-x*x, m.xn-x*n, m.nn-n*n
	}
}

// spread is C_h of docs/statistics.md at the rate p.
func (m moments) spread(p float64) float64 {
	c := max(0, m.xx-2*p*m.xn+p*p*m.nn)
	if m.groups > 1 {
		c *= float64(m.groups) / float64(m.groups-1)
	}
	return c
}

// Proportion is a rate pooled over cells, with what its interval needs: pseudo-cluster
// Clopper–Pearson of docs/statistics.md.
type Proportion struct {
	Unit                    Unit
	X, N                    float64
	weightedK               float64 // Σ n·max(1, K)
	queries, sessions, both moments
	effect                  float64 // design effect that a projection assumes; 0: that seen
}

// Rate is cells with their sums, which are the same for every unit.
type Rate struct {
	Cells []Cell
	sums  Proportion
}

// NewRate takes at most one cell of each query and session. Those with N = 0 are dropped from
// the sums; Missing is ignored.
func NewRate(cells []Cell) Rate {
	var p Proportion
	queries, sessions := newClusters(len(cells)), newClusters(len(cells))
	for _, c := range cells {
		if c.N > 0 {
			queries.add(c.Query, c.X, c.N)
			sessions.add(c.Session, c.X, c.N)
			p.both.add(c.X, c.N)
			p.X, p.N, p.weightedK = p.X+c.X, p.N+c.N, p.weightedK+c.N*max(1, c.K)
		}
	}
	p.queries, p.sessions = queries.moments(), sessions.moments()
	p.X = snap(p.X, p.N)
	return Rate{cells, p}
}

// At is the proportion for a unit.
func (r Rate) At(unit Unit) Proportion {
	p := r.sums
	p.Unit = unit
	return p
}

// Imputed counts what is missing as failures (each 0) or as successes (each 1).
func (r Rate) Imputed(each float64) Rate {
	if !slices.ContainsFunc(r.Cells, func(c Cell) bool { return c.Missing > 0 }) {
		return r
	}
	out := make([]Cell, len(r.Cells))
	for i, c := range r.Cells {
		c.X, c.N, c.Missing = c.X+each*c.Missing, c.N+c.Missing, 0
		out[i] = c
	}
	return NewRate(out)
}

// Pool pools cells.
func Pool(cells []Cell, unit Unit) Proportion { return NewRate(cells).At(unit) }

// clusters are sums by name, in the order of first appearance so that rounding does not
// depend on the order of a map.
type clusters struct {
	index map[string]int
	x, n  []float64
}

func newClusters(most int) clusters {
	return clusters{make(map[string]int, most), make([]float64, 0, most), make([]float64, 0, most)}
}

func (c *clusters) add(name string, x, n float64) {
	i, seen := c.index[name]
	if !seen {
		i = len(c.x)
		c.index[name], c.x, c.n = i, append(c.x, 0), append(c.n, 0)
	}
	c.x[i], c.n[i] = c.x[i]+x, c.n[i]+n
}

func (c *clusters) moments() (m moments) {
	for i := range c.x {
		m.add(c.x[i], c.n[i])
	}
	return m
}

// snap takes a sum of fractions that is 0 or n but for rounding to 0 or n: the bounds at
// the edge are others than those beside it.
func snap(x, n float64) float64 {
	const rounding = 1e-9
	switch {
	case math.Abs(x) < rounding*n:
		return 0
	case math.Abs(n-x) < rounding*n:
		return n
	}
	return x
}

// Queries and Sessions are the numbers of clusters with observations.
func (p Proportion) Queries() int  { return p.queries.groups }
func (p Proportion) Sessions() int { return p.sessions.groups }

// Units is G, the number of independent clusters.
func (p Proportion) Units() int {
	switch p.Unit {
	case ByQuery:
		return p.queries.groups
	case BySession:
		return p.sessions.groups
	}
	return min(p.queries.groups, p.sessions.groups)
}

// Counted is what "fewer than 10" and looks count: queries, or sessions under that unit.
func (p Proportion) Counted() int {
	if p.Unit == BySession {
		return p.sessions.groups
	}
	return p.queries.groups
}

// Defined says whether there is an interval: it takes 2 units.
func (p Proportion) Defined() bool { return p.Units() >= 2 }

// Rate is X/N; NaN without any N.
func (p Proportion) Rate() float64 { return p.X / p.N }

// SE is the cluster-robust (CR1) standard error of the rate. It is 0 at a rate of 0 or 1,
// and therefore no basis for an interval.
func (p Proportion) SE() float64 { return math.Sqrt(p.Spread()) / p.N }

// Spread is S, the cluster-robust variance of X.
func (p Proportion) Spread() float64 {
	return p.spreadAround(p.Rate())
}

func (p Proportion) spreadAround(rate float64) float64 {
	q, s := p.queries.spread(rate), p.sessions.spread(rate)
	switch p.Unit {
	case ByQuery:
		return q
	case BySession:
		return s
	}
	return max(q, s, q+s-p.both.spread(rate))
}

// Variance is C, the spread but at least binomial.
func (p Proportion) Variance() float64 {
	if p.effect > 0 {
		return p.effect * p.binomial()
	}
	return max(p.Spread(), p.binomial())
}

func (p Proportion) binomial() float64 { return p.X * (p.N - p.X) / p.N }

// Edge says that the rate is 0 or 1.
func (p Proportion) Edge() bool { return p.X == 0 || p.X == p.N }

// Sizes are m_q, m_s and m_qs: the sizes of a typical query, session and cell.
func (p Proportion) Sizes() (query, session, cell float64) {
	return p.queries.nn / p.N, p.sessions.nn / p.N, p.both.nn / p.N
}

// Repeats is k, the trials that may be copies of each other.
func (p Proportion) Repeats() float64 { return min(p.both.nn/p.N, p.weightedK/p.N) }

// Assumed is D, the design effect assumed where none can be seen, and M, that of clusters
// whose members are all alike.
func (p Proportion) Assumed() (effect, most float64) {
	q, s, cell := p.Sizes()
	k := p.Repeats()
	switch p.Unit {
	case ByQuery:
		return k + (q-k)*rho0, q
	case BySession:
		return k + (s-k)*rho0, s
	}
	return k + (q-k)*rho0 + (s-cell)*rho1, max(q, s)
}

// D0 is the pseudo-cluster: what an unseen bad question or session could hide.
func (p Proportion) D0() float64 {
	effect, most := p.Assumed()
	if p.Edge() {
		return max(1, effect)
	}
	return max(1, effect, min(most, 2*p.Variance()/p.binomial()))
}

// ICC is the intra-query correlation (deff−1)/(m_q−1); ok is false at rates of 0 and 1, and
// where every query has a single observation.
func (p Proportion) ICC() (icc float64, ok bool) {
	binomial, size := p.binomial(), p.queries.nn/p.N
	if p.queries.groups < 2 || binomial == 0 || size <= 1 {
		return 0, false
	}
	return (p.queries.spread(p.Rate())/binomial - 1) / (size - 1), true
}

// Lower is the lower bound of the rate at a one-sided level of 1 − alpha; NaN where it is
// not Defined. Without failures it is alpha^(D0/N).
func (p Proportion) Lower(alpha float64) float64 {
	b := Bound{Alpha: alpha}
	return b.Lower(p)
}

// Upper is the upper bound of the rate at a one-sided level of 1 − alpha; NaN where it is
// not Defined. It is the mirror image of Lower.
func (p Proportion) Upper(alpha float64) float64 { return 1 - p.mirror().Lower(alpha) }

// mirror is the proportion of failures.
func (p Proportion) mirror() Proportion {
	p.X = p.N - p.X
	p.queries, p.sessions, p.both = p.queries.mirror(), p.sessions.mirror(), p.both.mirror()
	return p
}

func (m moments) mirror() moments {
	m.xx, m.xn = m.nn-2*m.xn+m.xx, m.nn-m.xn
	return m
}

// Bound computes lower bounds at one error. It keeps the factor that depends on the number
// of units alone, for callers that compute many.
type Bound struct {
	Alpha float64
	units int
	ratio float64 // of the t to the normal quantile
}

// Lower is the lower bound of a proportion.
func (b *Bound) Lower(p Proportion) float64 {
	switch {
	case !p.Defined():
		return math.NaN()
	case p.X == 0:
		return 0
	}
	return b.shape(p).quantile(b.Alpha)
}

// Reaches says whether Lower(p) ≥ y, without the cost of inverting.
func (b *Bound) Reaches(p Proportion, y float64) bool {
	switch {
	case !p.Defined():
		return false
	case p.X == 0 || y <= 0:
		return y <= 0
	case y >= 1:
		return false
	}
	shape := b.shape(p)
	return mathext.RegIncBeta(shape.a, shape.b, y) <= b.Alpha
}

// beta is the shape of a beta distribution.
type beta struct{ a, b float64 }

// quantile is BetaInv(y). The library's inverse stops early for a large a with a b below 1 and
// a small y, so its result is checked, and searched for where it is wrong.
func (s beta) quantile(y float64) float64 {
	x := mathext.InvRegIncBeta(s.a, s.b, y)
	if math.Abs(mathext.RegIncBeta(s.a, s.b, x)-y) <= 1e-9*y {
		return x
	}
	low, high := 0.0, 1.0
	for range 100 {
		if middle := (low + high) / 2; mathext.RegIncBeta(s.a, s.b, middle) < y {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// shape is the distribution whose quantile at Alpha is the lower bound.
func (b *Bound) shape(p Proportion) beta {
	d0, f := p.D0(), p.N-p.X
	s := (f+d0)*p.X/(b.inflated(p)+d0*d0*p.Rate()) + 1
	return beta{s * p.X / (p.N + d0), s * (f + d0) / (p.N + d0)}
}

// inflated is A: C times the squared ratio of the t to the normal quantile, which accounts
// for the variance being estimated from few units.
func (b *Bound) inflated(p Proportion) float64 {
	if p.Edge() {
		return 0
	}
	if b.units != p.Units() {
		b.units = p.Units()
		b.ratio = tQuantile(b.units-1, b.Alpha) / mathext.NormalQuantile(1-b.Alpha)
	}
	return p.Variance() * b.ratio * b.ratio
}

// tQuantile is t_{df,1−alpha}, alpha at most 1/2.
func tQuantile(df int, alpha float64) float64 {
	nu := float64(df)
	x := mathext.InvRegIncBeta(nu/2, 0.5, 2*alpha) // = ν/(ν+t²), whose distribution function is 2·P(T > t)
	return math.Sqrt(nu * (1 - x) / x)
}
