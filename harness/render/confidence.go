package render

import (
	"strings"

	"github.com/poimen-memory/mem/harness/render/internal/view"
	"github.com/poimen-memory/mem/harness/result"
)

// sure shows how sure models were of their gates.
func sure(p *screen, rows []result.GateRow) {
	if rows = view.SureRows(rows); len(rows) == 0 {
		return
	}
	t, common := view.ConfidenceTable(rows)
	p.section(strings.Join(append([]string{"Probabilities of the gates, by the tokens of replies"}, common...), ", "))
	p.table(t)
	p.paragraph("  ", view.ConfidenceLegend)
	p.notes(view.ConfidenceNotes(rows))
}

// sureMarkdown is sure with the calibration of each row.
func sureMarkdown(d *document, rows []result.GateRow) {
	if rows = view.SureRows(rows); len(rows) == 0 {
		return
	}
	shown := rows[:min(len(rows), d.most(mostMetrics))]
	t, common := view.ConfidenceTable(rows)
	d.line("Probabilities of the gates, by the tokens of replies%s.\n", strings.Join(append([]string{""}, common...), ", "))
	d.table(t)
	d.list([]string{view.ConfidenceLegend})
	d.notes(view.ConfidenceNotes(rows))
	for _, g := range shown {
		for i, s := range view.Summaries(g) {
			if len(s.Bins) > 0 {
				d.fold("Calibration of "+[]string{"P(yes)", "P(end)"}[i]+", "+code(g.Model+" "+view.Setting(g)), func() { d.table(view.Calibration(s)) })
			}
		}
	}
}
