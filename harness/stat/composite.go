package stat

import (
	"math"

	"github.com/poimen-memory/mem/harness/stat/cluster"
)

// composite is a function of two rates, and of the observed prevalence of evidence among
// the turns of the two.
type composite struct {
	recall, specificity string // the names of the rates
	// of is the value of a confusion table; ok is false where it is undefined.
	of func(tp, fn, fp, tn float64) (value float64, ok bool)
}

// compositeMetrics are over parsed turns but for balanced_accuracy_strict. Their bounds
// are MOVER's (Zou & Donner 2008; docs/statistics.md).
func compositeMetrics() []metric {
	of := func(name, formula, none string, low float64, c composite) metric {
		return metric{
			Definition: Definition{
				Name: name, Formula: formula, Better: Higher, Interval: byMOVER, Low: low, High: 1,
				Unpaired: "it is not counted turn by turn or run by run",
			},
			none: none, composite: &c,
		}
	}
	parsed := func(f func(tp, fn, fp, tn float64) (float64, bool)) composite {
		return composite{"recall_parsed", "specificity_parsed", f}
	}
	const halves = "no parsed evidence turns, or no parsed evidence-free turns"
	return []metric{
		of("precision", "TP / (TP + FP), parsed turns", "no parsed yes-turns", 0, parsed(precision)),
		of("f1", "2TP / (2TP + FP + FN), parsed turns", "no parsed evidence turns and no yes", 0, parsed(f1)),
		of("mcc", "Matthews' correlation, parsed turns", "a margin of the table of parsed turns is 0", -1, parsed(mcc)),
		of("balanced_accuracy", "(recall_parsed + specificity_parsed) / 2", halves, 0, parsed(balanced)),
		of("balanced_accuracy_strict", "(recall_strict + specificity_strict) / 2", "no evidence turns, or no evidence-free turns", 0,
			composite{"recall_strict", "specificity_strict", balanced}),
	}
}

func ratio(x, of float64) (float64, bool) {
	if of == 0 {
		return 0, false
	}
	return x / of, true
}

func precision(tp, _, fp, _ float64) (float64, bool) { return ratio(tp, tp+fp) }

func f1(tp, fn, fp, _ float64) (float64, bool) { return ratio(2*tp, 2*tp+fp+fn) }

func balanced(tp, fn, fp, tn float64) (float64, bool) {
	recall, ok1 := ratio(tp, tp+fn)
	specificity, ok2 := ratio(tn, tn+fp)
	return (recall + specificity) / 2, ok1 && ok2
}

func mcc(tp, fn, fp, tn float64) (float64, bool) {
	margins := math.Sqrt(tp+fn) * math.Sqrt(tp+fp) * math.Sqrt(tn+fp) * math.Sqrt(tn+fn)
	if margins == 0 {
		return 0, false
	}
	return (tp*tn - fp*fn) / margins, true
}

// at is the value at two rates and a prevalence; NaN where undefined.
func (c composite) at(recall, specificity, prevalence float64) float64 {
	free := 1 - prevalence
	v, ok := c.of(recall*prevalence, (1-recall)*prevalence, (1-specificity)*free, specificity*free)
	if !ok {
		return math.NaN()
	}
	return v
}

// value is that of the counts: it may be defined where one of the rates is not.
func (c composite) value(recall, specificity cluster.Proportion) float64 {
	v, ok := c.of(recall.X, recall.N-recall.X, specificity.N-specificity.X, specificity.X)
	if !ok {
		return math.NaN()
	}
	return v
}
