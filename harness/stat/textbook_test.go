package stat_test

import (
	"math"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/poimen-memory/mem/harness/stat/cluster"
)

// The intervals that are usual and wrong for these data: the vectors hold them to their
// textbook values, and the simulations show that the tests would reject them.

// wilson is Wilson's score interval over turns.
func wilson(x, n, side float64) (lower, upper float64) {
	z := distuv.UnitNormal.Quantile(1 - side)
	p := x / n
	centre := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return max(0, centre-half), min(1, centre+half)
}

// clopperPearson is the exact interval over turns.
func clopperPearson(x, n, side float64) (lower, upper float64) {
	upper = 1
	if x > 0 {
		lower = mathext.InvRegIncBeta(x, n-x+1, side)
	}
	if x < n {
		upper = mathext.InvRegIncBeta(x+1, n-x, 1-side)
	}
	return lower, upper
}

// jeffreys is the interval of the beta posterior under Jeffreys' prior, over turns.
func jeffreys(x, n, side float64) (lower, upper float64) {
	upper = 1
	if x > 0 {
		lower = mathext.InvRegIncBeta(x+0.5, n-x+0.5, side)
	}
	if x < n {
		upper = mathext.InvRegIncBeta(x+0.5, n-x+0.5, 1-side)
	}
	return lower, upper
}

// meanT is the cluster-robust t interval: it has no width at a rate of 0 or 1.
func meanT(p cluster.Proportion, side float64) (lower, upper float64) {
	half := distuv.StudentsT{Sigma: 1, Nu: float64(p.Queries() - 1)}.Quantile(1-side) * p.SE()
	return p.Rate() - half, p.Rate() + half
}

// logitT is meanT on the logit scale; undefined at a rate of 0 or 1.
func logitT(p cluster.Proportion, side float64) (lower, upper float64) {
	rate := p.Rate()
	logit := math.Log(rate / (1 - rate))
	half := distuv.StudentsT{Sigma: 1, Nu: float64(p.Queries() - 1)}.Quantile(1-side) * p.SE() / (rate * (1 - rate))
	back := func(v float64) float64 { return 1 / (1 + math.Exp(-v)) }
	return back(logit - half), back(logit + half)
}
