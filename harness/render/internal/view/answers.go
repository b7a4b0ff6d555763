package view

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/render/internal/layout"
	"github.com/poimen-memory/mem/harness/result"
)

// answerKeys says what each row is of; what all rows share is in common.
func answerKeys(rows []result.AnswerRow) (t layout.Table, common []string) {
	gates := make([]result.GateRow, len(rows))
	for i, r := range rows {
		gates[i] = result.GateRow{Model: r.Model, Level: r.Level, ExitGate: r.ExitGate}
	}
	return gateKeys(gates)
}

// answerCount is one count of an AnswerRow: its heading short, below its group's, and in full.
type answerCount struct {
	group, short, full string
	value              func(result.AnswerRow) int
}

func answerCounts() []answerCount {
	return []answerCount{
		{"runs", "all", "runs", func(r result.AnswerRow) int { return r.Runs }},
		{"runs", "none", "without an answer", func(r result.AnswerRow) int { return r.NoAnswer }},
		{"gates right", "✓", "gates right, answer right", func(r result.AnswerRow) int { return r.Gates.Both }},
		{"gates right", "✗", "gates right, answer wrong", func(r result.AnswerRow) int { return r.Gates.GatesOnly }},
		{"gates wrong", "✓", "gates wrong, answer right", func(r result.AnswerRow) int { return r.Gates.AnswerOnly }},
		{"gates wrong", "✗", "both wrong", func(r result.AnswerRow) int { return r.Gates.Neither }},
	}
}

func (c answerCount) column(rows []result.AnswerRow, head string) layout.Column {
	return layout.Column{Head: head, Right: true, Cells: layout.Each(rows, func(r result.AnswerRow) string { return strconv.Itoa(c.value(r)) })}
}

// AnswerTable has a row for each model, level and exit setting: scores, and how often gates
// and answers were right.
func AnswerTable(rows []result.AnswerRow) (t layout.Table, common []string) {
	t, common = answerKeys(rows)
	c := answerCounts()
	pair := func(i int) layout.Column {
		return layout.Group(c[i].group, c[i].column(rows, c[i].short), c[i+1].column(rows, c[i+1].short))
	}
	t = append(t, pair(0))
	t = append(t, answerScores(rows)...)
	return append(t, pair(2), pair(4)), common
}

func answerScores(rows []result.AnswerRow) (t layout.Table) {
	t = append(t, layout.Column{Head: "queries", Right: true, Cells: layout.Each(rows, func(r result.AnswerRow) string {
		e, _ := r.Metric("sub_em")
		return strconv.Itoa(e.Queries)
	})})
	for _, name := range result.AnswerMetrics() {
		t = append(t, layout.Column{Head: name, Right: true, Cells: layout.Each(rows, func(r result.AnswerRow) string {
			e, _ := r.Metric(name)
			return FormatInterval(e)
		})})
	}
	return t
}

// FullAnswerTable is AnswerTable with headings that need no legend.
func FullAnswerTable(rows []result.AnswerRow) layout.Table {
	t := layout.Table{
		{Head: "model", Cells: layout.Each(rows, func(r result.AnswerRow) string { return r.Model })},
		{Head: "level", Cells: layout.Each(rows, func(r result.AnswerRow) string { return r.Level.String() })},
		{Head: "exit gate", Cells: layout.Each(rows, func(r result.AnswerRow) string { return r.ExitGate })},
	}
	t = append(t, answerScores(rows)...)
	for _, c := range answerCounts() {
		t = append(t, c.column(rows, c.full))
	}
	return t
}

func AnswerLegend() []string {
	return []string{
		"runs: all that were asked, and those none of whose replies held an answer, which score 0.",
		"sub_em: the answer holds a reference (of several that belong together, the share of them); answer_em: it is one; answer_f1: of their tokens.",
		GatesRight + " ✓ ✗: the answer holds all that it has to, or not.",
	}
}

// GatesRight is stat.AnswerTable's definition.
const GatesRight = "gates right: all evidence was written, nothing else was, and no exit came before the last evidence."

// AnswerNotes are what the table leaves out, with the rows that each is about.
func AnswerNotes(rows []result.AnswerRow) (notes Notes) {
	for _, r := range rows {
		name := r.Model + " " + r.Level.String() + " " + r.ExitGate
		if n := len(r.Unreferenced); n > 0 {
			some := (&Note{Subjects: r.Unreferenced}).Examples()
			notes.add(fmt.Sprintf("%s without answers to score by: %s", diag.Count(n, "query"), strings.Join(some, ", ")), name)
		}
		if n := r.Gates.NoEvidence; n > 0 {
			notes.add(diag.Count(n, "run")+" without evidence, of which no gates are right or wrong", name)
		}
		for _, m := range result.AnswerMetrics() {
			e, _ := r.Metric(m)
			for _, n := range EstimateNotes(e) {
				notes.add(n, m+" of "+name)
			}
		}
	}
	return notes
}
