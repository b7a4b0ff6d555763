package stat

import (
	"fmt"
	"math"
)

// MinQueries is the number of queries below which no criterion is decided and every
// interval carries a note.
const MinQueries = 10

// Estimate is a number with all that it must not travel without. Value, Lower, Upper and
// ICC are nil where undefined and rounded to 1e-9, so that they are the same bytes on
// every machine.
type Estimate struct {
	Value *float64 `json:"value"`
	Lower *float64 `json:"lower"` // two-sided 95 %
	Upper *float64 `json:"upper"`
	Units int      `json:"queries"` // independent units: the queries behind it, not the turns
	X     float64  `json:"x"`       // numerator, or the sum of what is averaged
	N     float64  `json:"n"`       // denominator: turns, runs or cells
	ICC   *float64 `json:"icc,omitempty"`
	Notes []string `json:"notes,omitempty"`
	// Reason says why Value is undefined.
	Reason string `json:"reason,omitempty"`
}

// Dash stands for an undefined number in text.
const Dash = "–"

// String is the estimate in one line: "0.947 [0.752, 0.992] (10 queries)", or a dash and
// the reason.
func (e Estimate) String() string {
	switch {
	case e.Value == nil:
		return Dash + " (" + e.Reason + ")"
	case e.Lower == nil || e.Upper == nil:
		return fmt.Sprintf("%.3f (%s)", *e.Value, plural(e.Units, "query", "queries"))
	}
	return fmt.Sprintf("%.3f [%.3f, %.3f] (%s)", *e.Value, *e.Lower, *e.Upper, plural(e.Units, "query", "queries"))
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", many)
}

// number is v rounded to 1e-9; nil if it is no number.
func number(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	const unit = 1e9
	v = math.Round(v*unit)/unit + 0 // + 0: never −0
	return &v
}

// defined is number, or nil if not ok.
func defined(v float64, ok bool) *float64 {
	if !ok {
		return nil
	}
	return number(v)
}
