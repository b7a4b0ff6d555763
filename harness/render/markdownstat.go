package render

import (
	"strings"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/render/internal/layout"
	"github.com/poimen-memory/mem/harness/render/internal/view"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/harness/result/paired"
)

// Of a report: gate rows whose metrics are all shown, each of some five thousand
// characters, decisions, comparisons, and lengths, each of some thousand characters.
const (
	mostMetrics     = 4
	mostDecisions   = 10
	mostComparisons = 50
	mostLengths     = 16
	mostTagRows     = 40
)

func (d *document) decisions(list []result.Decision) {
	shown := list[:min(len(list), d.most(mostDecisions))]
	for _, one := range shown {
		d.line("**%s**\n", escape(view.DecisionHead(one)))
		if len(one.Criteria) > 0 {
			d.table(view.FullDecisionTable(one))
		}
		d.list(append(view.DecisionNotes(one), view.Reading(one)...))
	}
	d.more(len(list)-len(shown), "decision")
}

// more says what was left out.
func (d *document) more(n int, noun string) {
	if n > 0 {
		d.line("… and %s in `summary.json`.\n", diag.Count(n, "more "+noun))
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

func (d *document) estimates(r *result.Result) {
	t, common, notes := view.EstimateTable(r)
	if t == nil {
		return
	}
	d.line("Gate metrics with 95 %% intervals%s.\n", strings.Join(append([]string{""}, common...), ", "))
	d.table(t)
	d.list([]string{view.EstimateLegend(r)})
	d.notes(notes)
	if view.HasPropagatedLabels(r) {
		d.list([]string{view.PropagatedLabels})
	}
	for _, g := range r.Gates[:min(len(r.Gates), d.most(mostMetrics))] {
		d.fold("All metrics of "+code(g.Model+" "+view.Setting(g)), func() { d.table(view.MetricTable(g)) })
	}
}

func (d *document) byLength(rows []result.LengthRow) {
	if len(rows) == 0 {
		return
	}
	left := len(rows)
	rows = rows[:min(left, d.most(mostLengths))]
	t, common := view.LengthTable(rows)
	d.line("Gates by length, with 95 %% intervals%s.\n", strings.Join(append([]string{""}, common...), ", "))
	d.table(t)
	d.list([]string{view.LengthLegend()})
	d.more(left-len(rows), "length")
	if rows = view.WithDepths(rows); len(rows) == 0 {
		return
	}
	d.line("Evidence written, by length and by the depth of the first needle.\n")
	d.table(view.EvidenceByDepth(rows))
	for _, metric := range result.Mapped() {
		d.fold(code(metric)+" by length and depth; n is queries", func() { d.table(view.MetricByDepth(rows, metric)) })
	}
}

// byTag folds a table for each tag.
func (d *document) byTag(r *result.Result) {
	for _, tag := range r.Tags() {
		rows := view.RowsOf(r.ByTag, tag)
		shown := rows[:min(len(rows), d.most(mostTagRows))]
		t, common := view.TagTable(shown)
		d.fold("Gates by "+code(tag)+escape(strings.Join(append([]string{""}, common...), ", ")), func() {
			d.table(t)
			d.list([]string{view.TagLegend(shown)})
			d.more(len(rows)-len(shown), "row")
		})
	}
}

func (d *document) comparisons(list []paired.Comparison) {
	if len(list) == 0 {
		return
	}
	shown := list[:min(len(list), d.most(mostComparisons))]
	t, common := view.ComparisonTable(shown)
	d.line("Comparison%s; %s\n", strings.Join(append([]string{""}, common...), ", "), escape(view.ComparisonLegend))
	d.table(t)
	d.list([]string{view.ComparedInWords(shown)})
	d.more(len(list)-len(shown), "comparison")
	d.notes(view.ComparisonNotes(shown))
}

func (d *document) notes(notes view.Notes) {
	var lines []string
	for i, n := range notes {
		if i == d.most(mostWarnings) {
			lines = append(lines, diag.Count(len(notes)-i, "more note")+" in summary.json")
			break
		}
		lines = append(lines, n.Text+": "+strings.Join(n.Examples(), ", "))
	}
	d.list(lines)
}

func (d *document) answers(rows []result.AnswerRow) {
	if len(rows) == 0 {
		return
	}
	d.line("Answers from the final memory; %s\n", view.GatesRight)
	d.table(view.FullAnswerTable(rows))
	for _, note := range view.AnswerNotes(rows) {
		d.line("- %s: %s", escape(note.Text), strings.Join(layout.Each(note.Examples(), code), ", "))
	}
	d.line("")
}

func (d *document) usage(r *result.Result) {
	if len(r.Usage) == 0 {
		return
	}
	d.line("Calls, as servers count:\n")
	d.table(view.UsageTable(r))
	for _, note := range view.UsageNotes(r) {
		d.line("- %s", escape(note))
	}
	d.line("")
}
