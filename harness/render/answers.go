package render

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/poimen-memory/mem/harness"
)

// answerKeys says what each row is of; what all rows share is in common.
func answerKeys(rows []harness.AnswerRow) (t table, common []string) {
	gates := make([]harness.GateRow, len(rows))
	for i, r := range rows {
		gates[i] = harness.GateRow{Model: r.Model, Level: r.Level, ExitGate: r.ExitGate}
	}
	return gateKeys(gates)
}

// answerCount is one count of an AnswerRow: its heading short, below its group's, and in full.
type answerCount struct {
	group, short, full string
	value              func(harness.AnswerRow) int
}

func answerCounts() []answerCount {
	return []answerCount{
		{"runs", "all", "runs", func(r harness.AnswerRow) int { return r.Runs }},
		{"runs", "none", "without an answer", func(r harness.AnswerRow) int { return r.NoAnswer }},
		{"gates right", "✓", "gates right, answer right", func(r harness.AnswerRow) int { return r.Gates.Both }},
		{"gates right", "✗", "gates right, answer wrong", func(r harness.AnswerRow) int { return r.Gates.GatesOnly }},
		{"gates wrong", "✓", "gates wrong, answer right", func(r harness.AnswerRow) int { return r.Gates.AnswerOnly }},
		{"gates wrong", "✗", "both wrong", func(r harness.AnswerRow) int { return r.Gates.Neither }},
	}
}

func (c answerCount) column(rows []harness.AnswerRow, head string) column {
	return column{head: head, right: true, cells: each(rows, func(r harness.AnswerRow) string { return strconv.Itoa(c.value(r)) })}
}

// answerTable has a row for each model, level and exit setting: scores, and how often gates
// and answers were right.
func answerTable(rows []harness.AnswerRow) (t table, common []string) {
	t, common = answerKeys(rows)
	c := answerCounts()
	pair := func(i int) column {
		return group(c[i].group, c[i].column(rows, c[i].short), c[i+1].column(rows, c[i+1].short))
	}
	t = append(t, pair(0))
	t = append(t, answerScores(rows)...)
	return append(t, pair(2), pair(4)), common
}

func answerScores(rows []harness.AnswerRow) (t table) {
	t = append(t, column{head: "queries", right: true, cells: each(rows, func(r harness.AnswerRow) string {
		e, _ := r.Metric("sub_em")
		return strconv.Itoa(e.Units)
	})})
	for _, name := range harness.AnswerMetrics() {
		t = append(t, column{head: name, right: true, cells: each(rows, func(r harness.AnswerRow) string {
			e, _ := r.Metric(name)
			return interval(e)
		})})
	}
	return t
}

// fullAnswerTable is answerTable with headings that need no legend.
func fullAnswerTable(rows []harness.AnswerRow) table {
	t := table{
		{head: "model", cells: each(rows, func(r harness.AnswerRow) string { return r.Model })},
		{head: "level", cells: each(rows, func(r harness.AnswerRow) string { return r.Level.String() })},
		{head: "exit gate", cells: each(rows, func(r harness.AnswerRow) string { return r.ExitGate })},
	}
	t = append(t, answerScores(rows)...)
	for _, c := range answerCounts() {
		t = append(t, c.column(rows, c.full))
	}
	return t
}

func answerLegend() []string {
	return []string{
		"runs: all that were asked, and those none of whose replies held an answer, which score 0.",
		"sub_em: the answer holds a reference (of several that belong together, the share of them); answer_em: it is one; answer_f1: of their tokens.",
		gatesRight + " ✓ ✗: the answer holds all that it has to, or not.",
	}
}

// gatesRight is stat.AnswerTable's definition.
const gatesRight = "gates right: all evidence was written, nothing else was, and no exit came before the last evidence."

// answerNotes are what the table leaves out, with the rows that each is about.
func answerNotes(rows []harness.AnswerRow) (notes tally) {
	for _, r := range rows {
		name := r.Model + " " + r.Level.String() + " " + r.ExitGate
		if n := len(r.Unreferenced); n > 0 {
			some := (&tallied{subjects: r.Unreferenced}).examples()
			notes.add(fmt.Sprintf("%s without answers to score by: %s", queries(n), strings.Join(some, ", ")), name)
		}
		if n := r.Gates.NoEvidence; n > 0 {
			notes.add(plural(n, "run")+" without evidence, of which no gates are right or wrong", name)
		}
		for _, m := range harness.AnswerMetrics() {
			e, _ := r.Metric(m)
			for _, n := range append(reasons(e), e.Notes...) {
				notes.add(n, m+" of "+name)
			}
		}
	}
	return notes
}

func (p *page) answers(rows []harness.AnswerRow) {
	if len(rows) == 0 {
		return
	}
	t, common := answerTable(rows)
	p.section(strings.Join(append([]string{"Answers from the final memory, with 95 % intervals over queries"}, common...), ", "))
	p.table(t)
	for _, line := range answerLegend() {
		p.paragraph("  ", line)
	}
	p.notes(answerNotes(rows))
}

func (d *document) answers(rows []harness.AnswerRow) {
	if len(rows) == 0 {
		return
	}
	d.line("Answers from the final memory; %s\n", gatesRight)
	d.table(fullAnswerTable(rows))
	for _, note := range answerNotes(rows) {
		d.line("- %s: %s", escape(note.said), strings.Join(each(note.examples(), code), ", "))
	}
	d.line("")
}

// htmlAnswers is the table of answers, cell by cell.
type htmlAnswers struct {
	Heads  []string
	Rows   [][]string
	Legend string
	Notes  []string
}

func newAnswers(rows []harness.AnswerRow) *htmlAnswers {
	if len(rows) == 0 {
		return nil
	}
	t := fullAnswerTable(rows)
	a := &htmlAnswers{Heads: each(t, func(c column) string { return c.head }), Legend: gatesRight}
	for i := range rows {
		a.Rows = append(a.Rows, each(t, func(c column) string { return c.cells[i] }))
	}
	for _, note := range answerNotes(rows) {
		a.Notes = append(a.Notes, note.said+": "+strings.Join(note.examples(), ", "))
	}
	return a
}
