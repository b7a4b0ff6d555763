package view

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/render/internal/layout"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/harness/stat/confidence"
)

// SureRows are the rows whose models were asked for log probabilities.
func SureRows(rows []result.GateRow) (list []result.GateRow) {
	for _, r := range rows {
		if r.Confidence != nil {
			list = append(list, r)
		}
	}
	return list
}

// Summaries are those of P(yes) and P(end).
func Summaries(r result.GateRow) []confidence.Summary {
	return []confidence.Summary{r.Confidence.Update, r.Confidence.Exit}
}

// ConfidenceTable is how well the probabilities of gates rank and how true they are.
func ConfidenceTable(rows []result.GateRow) (t layout.Table, common []string) {
	t, common = gateKeys(rows)
	for _, gate := range []struct {
		name string
		of   func(*confidence.Gates) confidence.Summary
	}{
		{"P(yes)", func(g *confidence.Gates) confidence.Summary { return g.Update }},
		{"P(end)", func(g *confidence.Gates) confidence.Summary { return g.Exit }},
	} {
		add := func(head string, of func(confidence.Summary) string) {
			t = append(t, layout.Column{Head: gate.name + "\n" + head, Right: true, Cells: layout.Each(rows, func(r result.GateRow) string { return of(gate.of(r.Confidence)) })})
		}
		add("replies", func(s confidence.Summary) string { return strconv.Itoa(s.Replies) })
		add("AUC", func(s confidence.Summary) string { return FormatRate(s.AUC) })
		add("Brier", func(s confidence.Summary) string { return FormatRate(s.Brier) })
		add("gap", func(s confidence.Summary) string { return FormatRate(s.Gap) })
	}
	return t, common
}

// ConfidenceLegend says how to read a ConfidenceTable.
const ConfidenceLegend = "P(yes) on chunks with evidence against others, P(end) from the last evidence on against before it; AUC: the chance that the one has the higher probability, 0.5 is none; Brier: mean squared error, 0 is best; gap: how far probabilities are from the shares that come true. No interval: nothing is decided on these."

// ConfidenceNotes are the turns without a probability.
func ConfidenceNotes(rows []result.GateRow) (notes Notes) {
	for _, r := range rows {
		for _, m := range r.Confidence.Missing {
			notes.add("no probability: "+m.Reason, fmt.Sprintf("%s of %s %s", diag.Count(m.Turns, "turn"), r.Model, Setting(r)))
		}
	}
	return notes
}

// Calibration is the table of bins of a gate's probabilities.
func Calibration(s confidence.Summary) layout.Table {
	column := func(head string, of func(confidence.Bin) string) layout.Column {
		return layout.Column{Head: head, Right: true, Cells: layout.Each(s.Bins, of)}
	}
	return layout.Table{
		column("said", func(b confidence.Bin) string { return fmt.Sprintf("%.1f–%.1f", b.From, b.To) }),
		column("replies", func(b confidence.Bin) string { return strconv.Itoa(b.Replies) }),
		column("mean", func(b confidence.Bin) string { return fmt.Sprintf("%.3f", b.MeanP) }),
		column("came true", func(b confidence.Bin) string { return fmt.Sprintf("%.3f", b.Share) }),
	}
}

// ROCLine is the points of a ROC as a polyline of a square drawing of that size, from 0, 0 on.
func ROCLine(roc []confidence.Point, size float64) string {
	line := []string{fmt.Sprintf("0,%.5g", size)}
	for _, p := range roc {
		line = append(line, fmt.Sprintf("%.5g,%.5g", size*p.FalsePositive, size*(1-p.TruePositive)))
	}
	return strings.Join(line, " ")
}
