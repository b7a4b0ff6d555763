package render

import (
	"strings"

	"github.com/poimen-memory/mem/harness"
)

// Of a report: gate rows whose metrics are all shown, each of some five thousand
// characters, decisions, comparisons, and lengths, each of some thousand characters.
const (
	mostMetrics     = 4
	mostDecisions   = 10
	mostComparisons = 50
	mostLengths     = 16
)

func (d *document) decisions(list []harness.Decision) {
	shown := list[:min(len(list), d.most(mostDecisions))]
	for _, one := range shown {
		d.line("**%s**\n", escape(decisionHead(one)))
		if len(one.Criteria) > 0 {
			d.table(decisionTable(one))
		}
		d.list(decisionNotes(one))
	}
	d.more(len(list)-len(shown), "decision")
}

// more says what was left out.
func (d *document) more(n int, noun string) {
	if n > 0 {
		d.line("… and %s in `summary.json`.\n", plural(n, "more "+noun))
	}
}

func (d *document) list(notes []string) {
	for _, note := range notes {
		d.line("- %s", escape(note))
	}
	if len(notes) > 0 {
		d.line("")
	}
}

func (d *document) estimates(r *harness.Result) {
	t, common, notes := estimateTable(r)
	if t == nil {
		return
	}
	d.line("Gate metrics with 95 %% intervals over queries%s.\n", strings.Join(append([]string{""}, common...), ", "))
	d.table(t)
	d.notes(notes)
	if hasL2(r) {
		d.list([]string{propagated})
	}
	for _, g := range r.Gates[:min(len(r.Gates), d.most(mostMetrics))] {
		d.fold("All metrics of "+code(g.Model+" "+setting(g)), func() { d.table(metricTable(g)) })
	}
}

func (d *document) byLength(rows []harness.LengthRow) {
	if len(rows) == 0 {
		return
	}
	left := len(rows)
	rows = rows[:min(left, d.most(mostLengths))]
	t, common := lengthTable(rows)
	d.line("Gates by length, with 95 %% intervals over queries%s.\n", strings.Join(append([]string{""}, common...), ", "))
	d.table(t)
	d.more(left-len(rows), "length")
	if rows = deep(rows); len(rows) == 0 {
		return
	}
	d.line("Evidence written, by length and by the depth of the first needle.\n")
	d.table(depthTable(rows))
	for _, metric := range harness.Mapped() {
		d.fold(code(metric)+" by length and depth; n is queries", func() { d.table(mapTable(rows, metric)) })
	}
}

func (d *document) comparisons(list []harness.Comparison) {
	if len(list) == 0 {
		return
	}
	shown := list[:min(len(list), d.most(mostComparisons))]
	t, common := comparisonTable(shown)
	d.line("Comparison of models%s; %s\n", strings.Join(append([]string{""}, common...), ", "), escape(comparisonLegend))
	d.table(t)
	d.more(len(list)-len(shown), "comparison")
	d.notes(comparisonNotes(shown))
}

func (d *document) notes(notes tally) {
	var lines []string
	for i, n := range notes {
		if i == d.most(mostWarnings) {
			lines = append(lines, plural(len(notes)-i, "more note")+" in summary.json")
			break
		}
		lines = append(lines, n.said+": "+strings.Join(n.examples(), ", "))
	}
	d.list(lines)
}
