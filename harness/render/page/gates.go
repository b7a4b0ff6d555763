package page

import (
	"fmt"
	"math"

	"github.com/poimen-memory/mem/harness/render/internal/view"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/harness/stat/decide"
)

// decision is a decision with its criteria drawn against their thresholds.
type decision struct {
	result.Decision
	Head                string
	Notes               []string
	Criteria            []criterion
	Below, Above, Units string // heads of the bounds and of what is counted
	Worst               []timeline
}

type criterion struct {
	decide.Judgment
	Name         string
	Text, Counts string
	Bar          intervalBar
}

// intervalBar is an interval on a scale from 0 to 1, in units of a drawing 200 wide.
type intervalBar struct {
	From, To, At, Threshold float64
	Drawn                   bool
}

const barWidth = 200

func newDecision(d result.Decision) decision {
	h := decision{Decision: d, Head: fmt.Sprintf("%s: %s at %s", d.ID, d.Model, d.Level), Notes: append(view.DecisionNotes(d), view.Reading(d)...)}
	h.Below, h.Above, h.Units = view.BoundHeads(d)
	if d.Skipped != "" {
		h.Notes = []string{d.Skipped}
	}
	for _, j := range d.Criteria {
		h.Criteria = append(h.Criteria, criterion{
			Judgment: j, Name: view.ClaimName(j), Text: j.Estimate.String(), Counts: view.FormatCounts(j.Estimate),
			Bar: newIntervalBar(j.Metric, j.Estimate.Value, j.Lower, j.Upper, j.Claimed),
		})
	}
	return h
}

// newIntervalBar draws a metric on its own scale.
func newIntervalBar(metric string, value, lower, upper *float64, threshold float64) intervalBar {
	d, _ := stat.Define(metric)
	at := func(v float64) float64 {
		if d.High > d.Low {
			v = (v - d.Low) / (d.High - d.Low)
		}
		return barWidth * v
	}
	b := intervalBar{Threshold: at(threshold)}
	if value == nil || lower == nil || upper == nil {
		return b
	}
	b.Drawn = true
	b.At, b.From, b.To = at(*value), at(*lower), at(*upper)
	return b
}

// gateGroup is one small multiple: a model at a level and exit setting.
type gateGroup struct {
	result.GateRow
	Title   string
	Update  []stacked
	Exit    stacked
	Metrics []metricBar
	Rows    []queryCounts
	Growth  string // memory_slope
}

type metricBar struct {
	Name, Text string
	Bar        intervalBar
}

type queryCounts struct {
	result.QueryRow
	Right, Wrong, Failed int
}

// stacked is a bar of shares, each with what it counts.
type stacked struct {
	Label string
	Parts []segment
	Total int
}

type segment struct {
	Name, Class string
	N           int
	X, Width    float64
}

func stack(label string, parts ...segment) stacked {
	s := stacked{Label: label}
	for _, p := range parts {
		s.Total += p.N
	}
	x := 0.0
	for _, p := range parts {
		if p.N == 0 {
			continue
		}
		p.X, p.Width = x, barWidth*float64(p.N)/float64(s.Total)
		x += p.Width
		s.Parts = append(s.Parts, p)
	}
	return s
}

// drawnMetrics are the metrics with an interval that a small multiple draws.
func drawnMetrics() []string {
	return []string{"recall_strict", "recall_committed", "specificity_strict", "exit_useful", "exit_timely", "first_try_parse", "balanced_accuracy"}
}

func newGroup(row result.GateRow) gateGroup {
	c := row.Counts
	g := gateGroup{GateRow: row, Title: fmt.Sprintf("%s, %s, exit gate %s", row.Model, row.Level, row.ExitGate)}
	g.Update = []stacked{
		stack("on evidence", segment{Name: "yes, right", Class: "right", N: c.TruePos}, segment{Name: "no, wrong", Class: "wrong", N: c.FalseNeg},
			segment{Name: "not parsed", Class: "failed", N: c.FailedPos}),
		stack("without evidence", segment{Name: "no, right", Class: "right", N: c.TrueNeg}, segment{Name: "yes, wrong", Class: "wrong", N: c.FalsePos},
			segment{Name: "not parsed", Class: "failed", N: c.FailedNeg}),
	}
	g.Exit = stack("exit", segment{Name: "early", Class: "wrong", N: c.ExitEarly}, segment{Name: "on time", Class: "right", N: c.ExitOnTime},
		segment{Name: "late", Class: "late", N: c.ExitLate}, segment{Name: "never", Class: "never", N: c.ExitNever})
	for _, name := range drawnMetrics() {
		if e, ok := row.Metric(name); ok {
			g.Metrics = append(g.Metrics, metricBar{name, rateText(e), newIntervalBar(name, e.Value, e.Lower, e.Upper, math.Inf(-1))})
		}
	}
	if e, ok := row.Metric("memory_slope"); ok {
		g.Growth = rateText(e)
	}
	for _, q := range row.Queries {
		g.Rows = append(g.Rows, queryCounts{q, q.Counts.TruePos + q.Counts.TrueNeg, q.Counts.FalsePos + q.Counts.FalseNeg, q.Counts.ParseFailed()})
	}
	return g
}

// rateText is an estimate without its number of queries, which its neighbours share.
func rateText(e stat.Estimate) string {
	if e.Value == nil || e.Lower == nil || e.Upper == nil {
		return e.String()
	}
	return fmt.Sprintf("%.3f [%.3f, %.3f]", *e.Value, *e.Lower, *e.Upper)
}
