package render

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/check"
)

// Terminal shows results to a person. Below 40 columns lines are longer than Width.
type Terminal struct {
	Width  int  // columns; 0: no limit
	Colour bool // may write ANSI colours
	Quiet  bool // sentences, decisions, failures and runs that did not complete only
}

// TokenRow is what one component of a prompt takes, in tokens, and what it may take; a
// Limit of 0: it has none of its own.
type TokenRow struct {
	Component     string
	Tokens, Limit int
}

// Failures and lines of a diff that a terminal and a Markdown report show; what they leave
// out they count. summary.json has all.
const (
	mostFailures  = 50
	mostDiffLines = 40
)

// Result shows one experiment: what it came to in a sentence, first and last, and between
// them decisions, checks, failures, gate counts and metrics, answers, comparisons, budget headroom,
// runs that did not complete, and warnings.
func (t Terminal) Result(w io.Writer, r *harness.Result) error {
	p := page{Terminal: t}
	s := total(r)
	p.sentence(s)
	p.variant(r)
	p.decisions(r)
	if t.Quiet {
		p.failures(r)
		p.unfinished(r)
		return p.flush(w)
	}
	p.checks(r)
	p.failures(r)
	p.gates(r)
	p.estimates(r)
	p.answers(r.Answers)
	p.byLength(r.ByLength)
	p.comparisons(r.Comparisons)
	p.headroom(r.Budgets)
	p.usage(r)
	p.unfinished(r)
	p.warnings(r)
	p.line("")
	p.sentence(s)
	return p.flush(w)
}

// Total shows the sentence over several experiments.
func (t Terminal) Total(w io.Writer, rs []*harness.Result) error {
	p := page{Terminal: t}
	p.sentence(total(rs...))
	return p.flush(w)
}

// Tokens shows what one prompt takes, under a title.
func (t Terminal) Tokens(w io.Writer, title string, rows []TokenRow) error {
	p := page{Terminal: t}
	name := column{head: "component", key: true}
	tokens, limit := column{head: "tokens", right: true}, column{head: "limit", right: true}
	for _, row := range rows {
		name.cells = append(name.cells, row.Component)
		tokens.cells = append(tokens.cells, strconv.Itoa(row.Tokens))
		l := undefined
		if row.Limit > 0 {
			l = strconv.Itoa(row.Limit)
		}
		limit.cells = append(limit.cells, l)
	}
	p.heading(title)
	p.table(table{name, tokens, limit})
	return p.flush(w)
}

// budgetTable has a column for the spec's percentile where it is none of the usual ones.
func budgetTable(b check.BudgetTable) table {
	percentiles := map[int]func(check.BudgetRow) int{
		b.Percentile: func(r check.BudgetRow) int { return r.At },
		50:           func(r check.BudgetRow) int { return r.P50 },
		95:           func(r check.BudgetRow) int { return r.P95 },
		99:           func(r check.BudgetRow) int { return r.P99 },
	}
	t := table{{head: "component", key: true, cells: each(b.Rows, func(r check.BudgetRow) string { return string(r.Component) })}}
	number := func(head string, of func(check.BudgetRow) int) {
		cells := each(b.Rows, func(r check.BudgetRow) string { return strconv.Itoa(of(r)) })
		t = append(t, column{head: head, right: true, cells: cells})
	}
	for _, p := range slices.Sorted(maps.Keys(percentiles)) {
		number(fmt.Sprintf("p%d", p), percentiles[p])
	}
	number("max", func(r check.BudgetRow) int { return r.Max })
	number("limit", func(r check.BudgetRow) int { return r.Limit })
	return t
}

func headroom(b check.BudgetTable) string {
	return fmt.Sprintf("%d tokens free at the p%d chunk, %d at the largest", b.Headroom, b.Percentile, b.AtMax)
}

// variant says that another prompt was sent than the paper's.
func (p *page) variant(r *harness.Result) {
	if said := r.Prompt.Note; said != "" {
		p.paragraph("! ", said)
	}
}

// decisions are never left out: they are what the experiment is for.
func (p *page) decisions(r *harness.Result) {
	for _, d := range r.Decisions {
		p.section(decisionHead(d))
		if len(d.Criteria) > 0 {
			p.table(decisionTable(d))
		}
		for _, note := range decisionNotes(d) {
			p.paragraph("  ", note)
		}
	}
}

func (p *page) estimates(r *harness.Result) {
	t, common, notes := estimateTable(r)
	if t == nil {
		return
	}
	p.section(strings.Join(append([]string{"Gate metrics with 95 % intervals over queries"}, common...), ", "))
	p.table(t)
	p.notes(notes)
	if hasL2(r) {
		p.paragraph("! ", propagated)
	}
}

func (p *page) byLength(rows []harness.LengthRow) {
	if len(rows) == 0 {
		return
	}
	t, common := lengthTable(rows)
	p.section(strings.Join(append([]string{"Gates by length, with 95 % intervals over queries"}, common...), ", "))
	p.table(t)
	if rows := deep(rows); len(rows) > 0 {
		p.section("Evidence written, by length and by the depth of the first needle")
		p.table(depthTable(rows))
	}
}

func (p *page) comparisons(list []harness.Comparison) {
	if len(list) == 0 {
		return
	}
	t, common := comparisonTable(list)
	p.section(strings.Join(append([]string{"Comparison of models"}, common...), ", "))
	p.table(t)
	p.paragraph("  ", comparisonLegend)
	p.notes(comparisonNotes(list))
}

func (p *page) notes(notes tally) {
	for _, note := range notes {
		p.paragraph("! ", note.said+": "+strings.Join(note.examples(), ", "))
	}
}

func (p *page) checks(r *harness.Result) {
	if len(r.Checks) == 0 {
		return
	}
	p.section("Checks")
	p.table(checkTable(r.Checks))
}

func (p *page) failures(r *harness.Result) {
	list := failures(r.Checks)
	if len(list) == 0 {
		return
	}
	p.section("Failed")
	for i, f := range list {
		if i == mostFailures {
			p.item(p.red("✗"), plural(len(list)-i, "more failure")+" in summary.json", nil)
			return
		}
		p.failure(f)
	}
}

func (p *page) failure(f check.Result) {
	var body []string
	if f.Pos.File != "" {
		body = append(body, f.Pos.String())
	}
	if f.Detail != "" {
		body = append(body, f.Detail)
	}
	p.item(p.red("✗"), f.Check+": "+f.Subject, append(body, firstLines(f.Diff)...))
}

// firstLines are those of a diff that are shown, and how many are not.
func firstLines(diff string) []string {
	lines := cleanLines(diff)
	if len(lines) > mostDiffLines {
		more := plural(len(lines)-mostDiffLines, "more line")
		lines = append(lines[:mostDiffLines], "… "+more+" in summary.json")
	}
	return lines
}

func (p *page) gates(r *harness.Result) {
	if len(r.Gates) == 0 {
		return
	}
	t, common := gateTable(r.Gates)
	p.section(strings.Join(append([]string{"Gate counts"}, common...), ", "))
	p.table(t)
	for _, line := range legend() {
		p.paragraph("  ", line)
	}
	p.notes(gateNotes(r.Gates))
}

func (p *page) headroom(tables []check.BudgetTable) {
	if len(tables) == 0 {
		return
	}
	p.section("Headroom of prompts with a full memory and the longest question, counted with " + tables[0].Tokenizer)
	for _, b := range tables {
		p.paragraph("  ", b.Corpus+": "+headroom(b))
	}
}

// unfinished lists the runs that did not complete; if quiet, without the skipped ones.
func (p *page) unfinished(r *harness.Result) {
	var failed, skipped tally
	for _, state := range broken() {
		failed = append(failed, inState(r.Runs, state)...)
	}
	if !p.Quiet {
		skipped = inState(r.Runs, harness.Skipped)
	}
	if len(failed)+len(skipped) == 0 {
		return
	}
	p.section("Runs that did not complete")
	p.groups(p.red("✗"), failed)
	p.groups("–", skipped)
}

func (p *page) groups(mark string, t tally) {
	for _, g := range t {
		p.item(mark, plural(len(g.subjects), "run")+" "+g.said, g.examples())
	}
}

func (p *page) warnings(r *harness.Result) {
	if len(r.Warnings) == 0 {
		return
	}
	p.section("Warnings")
	for _, warning := range r.Warnings {
		p.paragraph("! ", warning)
	}
}
