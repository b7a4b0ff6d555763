package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/stat"
)

// decisionHead is what was decided on whom, and what came out.
func decisionHead(d harness.Decision) string {
	of := fmt.Sprintf("Decision %s, %s at %s: ", d.ID, d.Model, d.Level)
	if d.Skipped != "" {
		return of + "not judged, " + d.Skipped
	}
	return of + string(d.Verdict)
}

// decisionTable has a row for each criterion, with the bounds that decide it.
func decisionTable(d harness.Decision) table {
	head, upper := []string{"want", "rate", "lower 95 %"}, "upper"
	if len(d.Criteria) > 0 {
		upper += fmt.Sprintf(" %.4g %%", 100*d.Criteria[0].UpperLevel)
	}
	t := table{{head: "criterion", key: true, cells: each(d.Criteria, func(j stat.Judgment) string { return j.Metric })}}
	for i, of := range []func(stat.Judgment) string{
		func(j stat.Judgment) string { return "≥ " + strconv.FormatFloat(j.Threshold, 'f', -1, 64) },
		func(j stat.Judgment) string { return figure(j.Estimate.Value) },
		func(j stat.Judgment) string { return figure(j.Lower) },
		func(j stat.Judgment) string { return figure(j.Upper) },
		func(j stat.Judgment) string { return strconv.Itoa(j.Estimate.Units) },
		func(j stat.Judgment) string { return share(j.Estimate) },
	} {
		t = append(t, column{head: append(head, upper, "queries", "counts")[i], right: true, cells: each(d.Criteria, of)})
	}
	return append(t, column{head: "verdict", cells: each(d.Criteria, func(j stat.Judgment) string { return string(j.Verdict) })})
}

// figure is a rate, or that it is undefined.
func figure(v *float64) string {
	if v == nil {
		return undefined
	}
	return fmt.Sprintf("%.3f", *v)
}

// share is the counts behind an estimate; a composite has none of its own.
func share(e stat.Estimate) string {
	switch {
	case e.Value == nil:
		return undefined
	case e.N == 0:
		return ""
	}
	return number(e.X) + "/" + number(e.N)
}

func number(v float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", v), "0"), ".")
}

// decisionNotes are the reason and all that must not be overlooked.
func decisionNotes(d harness.Decision) (notes []string) {
	if d.Skipped != "" {
		return nil
	}
	notes = append(notes, d.Reason)
	if d.Further != nil {
		notes = append(notes, "to settle it: "+d.Further.String())
	}
	notes = append(notes, d.Notes...)
	for _, j := range d.Criteria {
		for _, n := range j.Estimate.Notes {
			notes = append(notes, j.Metric+": "+n)
		}
	}
	if d.Level == 2 {
		notes = append(notes, propagated)
	}
	return notes
}

// propagated says what L2 numbers rest on.
const propagated = "labels at L2 are propagated from L1: a memory is evidence when its run committed an evidence chunk"

// estimated are the metrics that a table of estimates shows: those of the shipped
// criteria, and of the experiment's own.
func estimated(r *harness.Result) []string {
	names := harness.DecisionMetrics()
	for _, d := range r.Decisions {
		for _, j := range d.Criteria {
			if !slices.Contains(names, j.Metric) {
				names = append(names, j.Metric)
			}
		}
	}
	return names
}

// estimateTable has a row for each gate row of which a run is complete; common is what
// gateKeys leaves to the heading.
func estimateTable(r *harness.Result) (t table, common []string, notes tally) {
	rows := slices.DeleteFunc(slices.Clone(r.Gates), func(g harness.GateRow) bool { return g.Counts.Runs == 0 || len(g.Metrics) == 0 })
	if len(rows) == 0 {
		return nil, nil, nil
	}
	t, common = gateKeys(rows)
	t = append(t, column{head: "queries", right: true, cells: each(rows, func(g harness.GateRow) string { return strconv.Itoa(len(g.Queries)) })})
	for _, name := range estimated(r) {
		t = append(t, column{head: strings.Replace(name, "_", "\n", 1), right: true, cells: each(rows, func(g harness.GateRow) string {
			e, _ := g.Metric(name)
			return interval(e)
		})})
		for _, g := range rows {
			note(&notes, g, name)
		}
	}
	return t, common, notes
}

// note gathers what an estimate must not travel without.
func note(notes *tally, g harness.GateRow, name string) {
	e, _ := g.Metric(name)
	of := name + " of " + g.Model + " " + setting(g)
	if e.Reason != "" {
		notes.add(undefined+": "+e.Reason, of)
	}
	for _, n := range e.Notes {
		notes.add(n, of)
	}
}

// interval is an estimate with its interval.
func interval(e stat.Estimate) string {
	if e.Value == nil || e.Lower == nil || e.Upper == nil {
		return figure(e.Value)
	}
	return fmt.Sprintf("%.3f %.3f–%.3f", *e.Value, *e.Lower, *e.Upper)
}

// metricTable is all metrics of one gate row.
func metricTable(g harness.GateRow) table {
	text := func(head string, of func(stat.Metric) string) column {
		return column{head: head, cells: each(g.Metrics, of)}
	}
	return table{
		text("metric", func(m stat.Metric) string { return m.Name }),
		text("estimate, 95 % interval", func(m stat.Metric) string { return interval(m.Estimate) }),
		{head: "queries", right: true, cells: each(g.Metrics, func(m stat.Metric) string { return strconv.Itoa(m.Units) })},
		text("counts", func(m stat.Metric) string { return share(m.Estimate) }),
		text("notes", func(m stat.Metric) string { return strings.Join(append(reasons(m.Estimate), m.Notes...), "; ") }),
	}
}

func reasons(e stat.Estimate) []string {
	if e.Reason == "" {
		return nil
	}
	return []string{e.Reason}
}

// hasL2 says whether any row rests on propagated labels.
func hasL2(r *harness.Result) bool {
	return slices.ContainsFunc(r.Runs, func(run harness.Run) bool {
		return run.Level == 2 && run.Session == harness.MemoriesSession
	})
}
