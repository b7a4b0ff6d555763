package stat

import (
	"fmt"
	"math"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/stat/cluster"
)

// fewSessions is the number of sessions below which the interval of unit query is shown too.
const fewSessions = 10

// Estimate is a number with its interval and its sample size. Value, bounds and ICC are nil
// where undefined and rounded to 1e-9, so that they are the same bytes on every machine.
type Estimate struct {
	Value    *float64 `json:"value"`
	Lower    *float64 `json:"lower"` // two-sided 95 %
	Upper    *float64 `json:"upper"`
	Unit     Unit     `json:"unit"`     // what the interval holds for
	Queries  int      `json:"queries"`  // with observations
	Sessions int      `json:"sessions"` // with observations
	X        float64  `json:"x"`        // numerator, or the sum of what is averaged from 0 to 1
	N        float64  `json:"n"`        // denominator: turns, runs or cells
	ICC      *float64 `json:"icc,omitempty"`
	// TheseSessions is the interval of unit query, where it differs or sessions are few.
	TheseSessions *Bounds  `json:"on_these_sessions,omitempty"`
	Notes         []string `json:"notes,omitempty"`
	// Reason says why Value is undefined.
	Reason string `json:"reason,omitempty"`
}

// Bounds are a two-sided 95 % interval; nil where undefined.
type Bounds struct {
	Lower *float64 `json:"lower"`
	Upper *float64 `json:"upper"`
}

// Dash stands for an undefined number in text.
const Dash = "–"

// String is the estimate in one line: "0.947 [0.752, 0.992] (10 queries)", or a dash and
// the reason.
func (e Estimate) String() string {
	size := diag.Count(e.Queries, "query")
	if e.Sessions < e.Queries {
		size += " on " + diag.Count(e.Sessions, "session")
	}
	switch {
	case e.Value == nil:
		return Dash + " (" + e.Reason + ")"
	case e.Lower == nil || e.Upper == nil:
		return fmt.Sprintf("%.3f (%s)", *e.Value, size)
	}
	return fmt.Sprintf("%.3f [%.3f, %.3f] (%s)", *e.Value, *e.Lower, *e.Upper, size)
}

// Estimate is the metric with two-sided 95 % intervals.
func (m Counting) Estimate(unit Unit) Estimate {
	const perSide = 0.025
	if unit == "" {
		unit = Auto
	}
	e := Estimate{Value: Number(m.Value()), Unit: unit}
	e.Queries, e.Sessions, _ = m.Sizes(unit)
	if e.Value == nil {
		e.Reason = m.none
		return e
	}
	e.Notes = append(e.Notes, m.notes...)
	if m.Interval == "" {
		e.X, e.N = m.rate.At(unit).X, m.rate.At(unit).N
		return e
	}
	e.Lower, e.Upper = numbers(m.Bounds(unit, perSide))
	if e.Lower == nil && m.composite != nil {
		e.Notes = append(e.Notes, "no interval: one of the two rates is undefined or rests on a single unit")
	}
	e.addProportion(m.rate.At(unit), m.Interval)
	if unit != ByQuery && m.Interval != byMeans && (e.Sessions < e.Queries || e.Sessions < fewSessions) {
		lower, upper := numbers(m.Bounds(ByQuery, perSide))
		e.TheseSessions = &Bounds{lower, upper}
	}
	return e
}

// addProportion adds what is known of a rate beside its bounds.
func (e *Estimate) addProportion(p cluster.Proportion, interval string) {
	if interval != byMOVER {
		e.X, e.N = *Number(p.X), p.N
	}
	if words := fewSessionsNote(p); words != "" && interval != byMeans {
		e.Notes = append(e.Notes, words)
	}
	if interval != byClusters {
		return
	}
	if icc, ok := p.ICC(); ok {
		e.ICC = Number(icc)
		if icc > cluster.HighICC {
			e.Notes = append(e.Notes, fmt.Sprintf("intra-query correlation %.2f: beyond what was simulated (%v)", icc, cluster.HighICC))
		}
	}
}

// fewSessionsNote says what so few sessions allow; empty from 10 sessions on.
func fewSessionsNote(p cluster.Proportion) string {
	n := p.Sessions()
	switch {
	case p.Unit == ByQuery || n >= fewSessions || n == 0:
		return ""
	case n == 1:
		return "1 session: nothing is known about other sessions; `unit: query` decides for new questions on this one"
	case !p.Defined():
		return ""
	}
	const alpha = 0.05
	effect, _ := p.Assumed()
	return fmt.Sprintf("%d sessions: with none failing the lower bound would be %.3f", n, math.Pow(alpha, max(1, effect)/p.N))
}

// Number is v rounded to 1e-9; nil if it is no number.
func Number(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	const unit = 1e9
	v = math.Round(v*unit)/unit + 0 // + 0: never −0
	return &v
}

func numbers(a, b float64) (*float64, *float64) { return Number(a), Number(b) }
