package stat

import (
	"math"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// Rho0 is the correlation that the interval assumes between the trials of a query even
// where the data show none (METRICS section 2).
const Rho0 = 0.25

// HighICC is the intra-query correlation above which an estimate carries a warning.
const HighICC = 0.25

// Cluster is what one query contributes to a rate: X successes of N in K trials. X may be
// fractional (pass_k).
type Cluster struct {
	X, N float64
	K    float64 // 0: 1
}

// Proportion is a rate pooled over queries, with what its interval needs (METRICS section
// 2, pseudo-cluster Clopper–Pearson). Queries with N = 0 are not in it.
type Proportion struct {
	Queries int     // G, those with N > 0
	X, N    float64 // Σ x_g, Σ n_g
	M       float64 // Σ n_g²/n, the size of a typical query
	K       float64 // min(m, Σ n_g·K_g/n)
	D0      float64 // max(1, k(1+(m/k−1)ρ0)): the design effect that is assumed at the edge
	Spread  float64 // G/(G−1)·Σ(x_g−p·n_g)², the CR1 variance of X; NaN below 2 queries
	A       float64 // the variance of X that the bounds use, before the t factor: at least binomial; 0 at a rate of 0 or 1
}

// Pool pools clusters.
func Pool(clusters []Cluster) Proportion {
	p := Proportion{Spread: math.NaN()}
	for _, c := range clusters {
		if c.N > 0 {
			p.Queries++
			p.X, p.N, p.M, p.K = p.X+c.X, p.N+c.N, p.M+c.N*c.N, p.K+c.N*max(1, c.K)
		}
	}
	if p.Queries == 0 {
		return p
	}
	p.M /= p.N
	p.K = min(p.M, p.K/p.N)
	p.D0 = max(1, p.K*(1+(p.M/p.K-1)*Rho0))
	p.X = snap(p.X, p.N)
	if g := float64(p.Queries); g > 1 {
		p.Spread = g / (g - 1) * squares(residuals(clusters, p.X/p.N))
	}
	if p.X > 0 && p.X < p.N {
		p.A = max(p.Spread, p.binomial())
	}
	return p
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

// residuals are x_g − p·n_g, in the order of the clusters.
func residuals(clusters []Cluster, rate float64) []float64 {
	r := make([]float64, len(clusters))
	for i, c := range clusters {
		r[i] = c.X - rate*c.N
	}
	return r
}

func squares(v []float64) (sum float64) {
	for _, x := range v {
		sum += x * x
	}
	return sum
}

// Defined says whether there is an interval: it takes 2 queries.
func (p Proportion) Defined() bool { return p.Queries >= 2 }

// Rate is X/N; NaN without any N.
func (p Proportion) Rate() float64 { return p.X / p.N }

// SE is the cluster-robust (CR1) standard error of the rate. It is 0 at a rate of 0 or 1,
// and therefore no basis for an interval.
func (p Proportion) SE() float64 { return math.Sqrt(p.Spread) / p.N }

// ICC is the intra-query correlation (deff−1)/(m−1), deff = Spread/(n·p·q); ok is false
// at rates of 0 and 1, and where every query has a single observation.
func (p Proportion) ICC() (icc float64, ok bool) {
	binomial := p.binomial()
	if !p.Defined() || binomial == 0 || p.M <= 1 {
		return 0, false
	}
	return (p.Spread/binomial - 1) / (p.M - 1), true
}

func (p Proportion) binomial() float64 { return p.X * (p.N - p.X) / p.N }

// Lower is the lower bound of the rate at a one-sided level of 1 − alpha; NaN below 2
// queries. Without failures it is alpha^(D0/N).
func (p Proportion) Lower(alpha float64) float64 {
	switch {
	case !p.Defined():
		return math.NaN()
	case p.X == 0:
		return 0
	}
	return mathext.InvRegIncBeta(p.lowerShape(alpha, alpha))
}

// lowerShape is the beta distribution whose quantile at alpha is the lower bound, followed
// by that alpha: s·x/(n+d0), s·(f+d0)/(n+d0).
func (p Proportion) lowerShape(alpha, at float64) (a, b, y float64) {
	f, rate := p.N-p.X, p.Rate()
	s := (f+p.D0)*p.X/(p.variance(alpha)+p.D0*p.D0*rate) + 1
	return s * p.X / (p.N + p.D0), s * (f + p.D0) / (p.N + p.D0), at
}

// Upper is the upper bound of the rate at a one-sided level of 1 − alpha; NaN below 2
// queries. It is the mirror image of Lower.
func (p Proportion) Upper(alpha float64) float64 {
	return 1 - p.mirror().Lower(alpha)
}

// mirror is the proportion of failures.
func (p Proportion) mirror() Proportion {
	p.X = p.N - p.X
	return p
}

// reaches says whether Lower(alpha) ≥ threshold, without the cost of inverting.
func (p Proportion) reaches(threshold, alpha float64) bool {
	if p.X == 0 || threshold <= 0 {
		return threshold <= 0
	}
	return mathext.RegIncBeta(p.lowerShape(alpha, threshold)) <= alpha
}

// variance is A times the squared ratio of the t to the normal quantile, which pays for
// the variance being estimated from few queries.
func (p Proportion) variance(alpha float64) float64 {
	if p.A == 0 {
		return 0
	}
	ratio := tQuantile(p.Queries-1, alpha) / distuv.UnitNormal.Quantile(1-alpha)
	return p.A * ratio * ratio
}

// tQuantile is t_{df,1−alpha}.
func tQuantile(df int, alpha float64) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(df)}.Quantile(1 - alpha)
}

// scaled is the proportion as it would be with so many queries of the same kind, the rate
// z standard errors (of that many queries) under the one seen.
func (p Proportion) scaled(queries int, z float64) Proportion {
	s := float64(queries) / float64(p.Queries)
	p.Queries, p.N, p.Spread, p.A = queries, p.N*s, p.Spread*s, p.A*s
	p.X = max(0, p.X*s-z*math.Sqrt(p.A))
	return p
}

// meanBounds is the interval of the mean of the queries' means: t with G−1 degrees of
// freedom, alpha per side; NaN below 2 queries.
func meanBounds(clusters []Cluster, alpha float64) (lower, upper float64) {
	means := queryMeans(clusters)
	if len(means) < 2 {
		return math.NaN(), math.NaN()
	}
	g := float64(len(means))
	mean := average(means)
	for i := range means {
		means[i] -= mean
	}
	half := tQuantile(len(means)-1, alpha) * math.Sqrt(squares(means)/(g-1)/g)
	return mean - half, mean + half
}

func queryMeans(clusters []Cluster) (means []float64) {
	for _, c := range clusters {
		if c.N > 0 {
			means = append(means, c.X/c.N)
		}
	}
	return means
}

func average(v []float64) (mean float64) {
	for _, x := range v {
		mean += x
	}
	return mean / float64(len(v))
}
