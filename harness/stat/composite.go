package stat

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// composite is a function of two rates, and of the observed prevalence of evidence among
// the turns of the two.
type composite struct {
	recall, specificity string // the names of the rates
	of                  func(recall, specificity, prevalence float64) float64
	// count is the value from the counts alone: it may be defined where one of the rates,
	// and with it the interval, is not.
	count func(Counts) (float64, bool)
}

// compositeMetrics are over parsed turns but for balanced_accuracy_strict. Their bounds
// are MOVER's (Zou & Donner 2008; METRICS section 2).
func compositeMetrics() []metric {
	parsed := func(name, formula, none string, of func(r, s, pi float64) float64, count func(Counts) (float64, bool)) metric {
		return metric{
			Definition: Definition{name, formula, Higher, byMOVER}, none: none,
			composite: &composite{"recall_parsed", "specificity_parsed", of, count},
		}
	}
	const halves = "no parsed evidence turns, or no parsed evidence-free turns"
	strict := metric{
		Definition: Definition{"balanced_accuracy_strict", "(recall_strict + specificity_strict) / 2", Higher, byMOVER},
		none:       "no evidence turns, or no evidence-free turns",
		composite:  &composite{"recall_strict", "specificity_strict", balanced, Counts.balancedStrict},
	}
	return []metric{
		parsed("precision", "TP / (TP + FP), parsed turns", "no parsed yes-turns", precision, Counts.Precision),
		parsed("f1", "2TP / (2TP + FP + FN), parsed turns", "no parsed evidence turns and no yes", f1, Counts.F1),
		parsed("mcc", "Matthews' correlation, parsed turns", "a margin of the table of parsed turns is 0", matthews, Counts.MCC),
		parsed("balanced_accuracy", "(recall_parsed + specificity_parsed) / 2", halves, balanced, Counts.BalancedAccuracy),
		strict,
	}
}

// table is the confusion table per turn.
func table(r, s, pi float64) (tp, fn, fp, tn float64) {
	return r * pi, (1 - r) * pi, (1 - s) * (1 - pi), s * (1 - pi)
}

func precision(r, s, pi float64) float64 {
	tp, _, fp, _ := table(r, s, pi)
	return tp / (tp + fp)
}

func f1(r, s, pi float64) float64 {
	tp, fn, fp, _ := table(r, s, pi)
	return 2 * tp / (2*tp + fp + fn)
}

func matthews(r, s, pi float64) float64 {
	c, ok := mcc(table(r, s, pi))
	if !ok {
		return math.NaN()
	}
	return c
}

func balanced(r, s, _ float64) float64 { return (r + s) / 2 }

// mover bounds a composite by the two rates' bounds at alpha per side:
//
//	lower = f̂ − √(a²+b²+2rab), a = f̂ − f(L_recall, ŝ), b = f̂ − f(r̂, L_specificity)
//
// and the mirror image for the upper; r is the queries' correlation. NaN where undefined.
func (c composite) mover(recall, specificity []Cluster, alpha float64) (lower, upper float64) {
	r, s := Pool(recall), Pool(specificity)
	if !r.Defined() || !s.Defined() {
		return math.NaN(), math.NaN()
	}
	corr := ResidualCorrelation(recall, specificity)
	at := func(recall, specificity float64) float64 { return c.of(recall, specificity, r.N/(r.N+s.N)) }
	value := at(r.Rate(), s.Rate())
	side := func(bound func(Proportion, float64) float64) float64 {
		a := value - at(bound(r, alpha), s.Rate())
		b := value - at(r.Rate(), bound(s, alpha))
		return math.Sqrt(a*a + b*b + 2*corr*a*b)
	}
	return value - side(Proportion.Lower), value + side(Proportion.Upper)
}

// ResidualCorrelation is the correlation over queries of x_g − p·n_g of two rates, at
// least 0: an anticorrelation, estimated from few queries, must not narrow an interval.
func ResidualCorrelation(a, b []Cluster) float64 {
	r := stat.Correlation(residuals(a, Pool(a).Rate()), residuals(b, Pool(b).Rate()), nil)
	if math.IsNaN(r) { // one of them does not vary
		return 0
	}
	return max(0, r)
}
