package view

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/render/internal/layout"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/harness/stat/decide"
	"github.com/poimen-memory/mem/harness/stat/glossary"
)

// DecisionHead is the decision, its model and level, and the verdict.
func DecisionHead(d result.Decision) string {
	of := fmt.Sprintf("Decision %s, %s at %s: ", d.ID, d.Model, d.Level)
	if d.Skipped != "" {
		return of + "not judged, " + d.Skipped
	}
	return of + d.String()
}

// DecisionTable has a row for each criterion, with the bounds that decide it.
func DecisionTable(d result.Decision) layout.Table {
	lower, upper, units := BoundHeads(d)
	t := layout.Table{{Head: "criterion", Key: true, Cells: layout.Each(d.Criteria, ClaimName)}}
	number := func(head string, of func(decide.Judgment) string) {
		t = append(t, layout.Column{Head: head, Right: true, Cells: layout.Each(d.Criteria, of)})
	}
	number("want", func(j decide.Judgment) string { return "≥ " + strconv.FormatFloat(j.Claimed, 'f', -1, 64) })
	number("rate", func(j decide.Judgment) string { return FormatRate(j.Estimate.Value) })
	number(lower, func(j decide.Judgment) string { return FormatRate(j.Lower) })
	number(upper, func(j decide.Judgment) string { return FormatRate(j.Upper) })
	number(units, func(j decide.Judgment) string { return strconv.Itoa(j.Units) })
	number("counts", func(j decide.Judgment) string { return FormatCounts(j.Estimate) })
	return append(t, layout.Column{Head: "verdict", Cells: layout.Each(d.Criteria, func(j decide.Judgment) string { return string(j.Verdict) })})
}

// FullDecisionTable is DecisionTable with what each metric is in words beside its name.
func FullDecisionTable(d result.Decision) layout.Table {
	words := layout.Column{Head: "in words", Cells: layout.Each(d.Criteria, func(j decide.Judgment) string { return glossary.Label(j.Metric) })}
	return slices.Insert(DecisionTable(d), 1, words)
}

// DecisionLegend is what the metrics of DecisionTable are.
func DecisionLegend(d result.Decision) string {
	return InWords(slices.Compact(layout.Each(d.Criteria, func(j decide.Judgment) string { return j.Metric })))
}

// BoundHeads are the heads of the bounds, with their one-sided level, and of what is counted.
func BoundHeads(d result.Decision) (lower, upper, units string) {
	lower, upper, units = "lower", "upper", "queries"
	if d.Unit == stat.BySession {
		units = "sessions"
	}
	if len(d.Criteria) > 0 && d.Look.Alpha > 0 {
		lower += fmt.Sprintf(" %.4g %%", 100*(1-d.Criteria[0].LowerAlpha))
		upper += fmt.Sprintf(" %.4g %%", 100*(1-d.Criteria[0].UpperAlpha))
	}
	return lower, upper, units
}

// ClaimName is a criterion, with the group that it is judged in.
func ClaimName(j decide.Judgment) string {
	if j.Group == "" {
		return j.Metric
	}
	return j.Metric + ", " + j.By + " " + j.Group
}

// FormatRate is a rate, or that it is undefined.
func FormatRate(v *float64) string {
	if v == nil {
		return Undefined
	}
	return fmt.Sprintf("%.3f", *v)
}

// FormatCounts is the counts behind an estimate; a composite has none of its own.
func FormatCounts(e stat.Estimate) string {
	switch {
	case e.Value == nil:
		return Undefined
	case e.N == 0:
		return ""
	}
	return FormatNumber(e.X) + "/" + FormatNumber(e.N)
}

func FormatNumber(v float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", v), "0"), ".")
}

// DecisionNotes are the reason and all that must not be overlooked.
func DecisionNotes(d result.Decision) (notes []string) {
	if d.Skipped != "" {
		return nil
	}
	notes = append(notes, d.Reason)
	if d.Further != nil {
		notes = append(notes, "to settle it: "+d.Further.String())
	}
	if d.Labels != nil {
		notes = append(notes, d.Labels.String())
	}
	if weakest := weakestGroups(d); weakest != "" {
		notes = append(notes, weakest)
	}
	notes = append(notes, slices.DeleteFunc(slices.Clone(d.Notes), func(n string) bool { return n == d.Reason })...)
	for _, j := range d.Criteria {
		for _, n := range j.Estimate.Notes {
			notes = append(notes, ClaimName(j)+": "+n)
		}
	}
	if d.Level == 2 {
		notes = append(notes, PropagatedLabels)
	}
	return notes
}

// weakestGroups names, for each criterion, the group of questions with the lowest value, where
// that is below the value of all.
func weakestGroups(d result.Decision) string {
	var list []string
	grouped := false
	for _, j := range d.Criteria {
		least := j.Weakest
		if j.By != "" && j.Group == "" {
			least = leastGroup(d.Criteria, j)
		}
		if least == nil {
			continue
		}
		grouped = true
		if e := least.Estimate; j.Estimate.Value == nil || *e.Value < *j.Estimate.Value {
			list = append(list, fmt.Sprintf("%s %s in %s %s (%s)", glossary.Label(j.Metric), inPercent(e.Value, *j.Estimate.Value, " %"), least.Tag, least.Value, diag.Count(e.Queries, "question")))
		}
	}
	switch {
	case list != nil:
		return "weakest groups: " + strings.Join(list, ", ")
	case grouped:
		return "weakest groups: none is below the whole"
	}
	return ""
}

// leastGroup is the judged group of a criterion with the lowest value, nil if no group has one.
func leastGroup(list []decide.Judgment, of decide.Judgment) (least *decide.Weakest) {
	for _, j := range list {
		if j.Metric == of.Metric && j.Group != "" && j.Estimate.Value != nil && (least == nil || *j.Estimate.Value < *least.Estimate.Value) {
			least = &decide.Weakest{Group: stat.Group{Tag: of.By, Value: j.Group, Estimate: j.Estimate}}
		}
	}
	return least
}

// PropagatedLabels says what L2 numbers rest on.
const PropagatedLabels = "labels at L2 are propagated from L1: a memory is evidence when its run committed an evidence chunk"

// estimateMetrics are the metrics that a table of estimates shows: those of the shipped
// criteria, and of the experiment's own.
func estimateMetrics(r *result.Result) []string {
	names := plan.DecisionMetrics()
	for _, d := range r.Decisions {
		for _, j := range d.Criteria {
			if !slices.Contains(names, j.Metric) {
				names = append(names, j.Metric)
			}
		}
	}
	return names
}

// InWords says what metrics are in plain words.
func InWords(metrics []string) string {
	return strings.Join(layout.Each(metrics, func(m string) string { return m + ": " + glossary.Label(m) }), "; ")
}

// EstimateLegend is what the metrics of EstimateTable are.
func EstimateLegend(r *result.Result) string { return InWords(estimateMetrics(r)) }

// EstimateTable has a row for each gate row of which a run is complete; common is what
// gateKeys leaves to the heading.
func EstimateTable(r *result.Result) (t layout.Table, common []string, notes Notes) {
	rows := slices.DeleteFunc(slices.Clone(r.Gates), func(g result.GateRow) bool { return g.Counts.Runs == 0 || len(g.Metrics) == 0 })
	if len(rows) == 0 {
		return nil, nil, nil
	}
	t, common = gateKeys(rows)
	t = append(t, layout.Column{Head: "queries", Right: true, Cells: layout.Each(rows, func(g result.GateRow) string { return strconv.Itoa(len(g.Queries)) })})
	for _, name := range estimateMetrics(r) {
		t = append(t, layout.Column{Head: strings.Replace(name, "_", "\n", 1), Right: true, Cells: layout.Each(rows, func(g result.GateRow) string {
			e, _ := g.Metric(name)
			return FormatInterval(e)
		})})
		for _, g := range rows {
			addEstimateNotes(&notes, g, name)
		}
	}
	return t, common, notes
}

// addEstimateNotes adds why an estimate is undefined, and its notes.
func addEstimateNotes(notes *Notes, g result.GateRow, name string) {
	e, _ := g.Metric(name)
	of := name + " of " + g.Model + " " + Setting(g)
	if e.Reason != "" {
		notes.add(Undefined+": "+e.Reason, of)
	}
	for _, n := range e.Notes {
		notes.add(n, of)
	}
}

// FormatInterval is an estimate with its interval; in parentheses, one that holds for new
// questions on these sessions only.
func FormatInterval(e stat.Estimate) string {
	these := e.TheseSessions
	switch {
	case e.Value != nil && e.Lower != nil && e.Upper != nil:
		return fmt.Sprintf("%.3f %.3f–%.3f", *e.Value, *e.Lower, *e.Upper)
	case e.Value != nil && these != nil && these.Lower != nil && these.Upper != nil:
		return fmt.Sprintf("%.3f (%.3f–%.3f)", *e.Value, *these.Lower, *these.Upper)
	}
	return FormatRate(e.Value)
}

// MetricTable is all metrics of one gate row.
func MetricTable(g result.GateRow) layout.Table {
	text := func(head string, of func(stat.Metric) string) layout.Column {
		return layout.Column{Head: head, Cells: layout.Each(g.Metrics, of)}
	}
	return layout.Table{
		text("metric", func(m stat.Metric) string { return m.Name }),
		text("in words", func(m stat.Metric) string { return glossary.Label(m.Name) }),
		text("estimate, 95 % interval", func(m stat.Metric) string { return FormatInterval(m.Estimate) }),
		{Head: "queries", Right: true, Cells: layout.Each(g.Metrics, func(m stat.Metric) string { return strconv.Itoa(m.Queries) })},
		text("counts", func(m stat.Metric) string { return FormatCounts(m.Estimate) }),
		text("notes", func(m stat.Metric) string { return strings.Join(EstimateNotes(m.Estimate), "; ") }),
	}
}

// EstimateNotes says why an estimate is undefined, and its notes.
func EstimateNotes(e stat.Estimate) []string {
	if e.Reason == "" {
		return e.Notes
	}
	return append([]string{e.Reason}, e.Notes...)
}

// HasPropagatedLabels reports whether any row rests on propagated labels.
func HasPropagatedLabels(r *result.Result) bool {
	return slices.ContainsFunc(r.Runs, func(run result.Run) bool {
		return run.OverMemories()
	})
}
