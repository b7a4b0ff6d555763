package render

import (
	"io"
	"strconv"
	"strings"

	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/render/internal/layout"
	"github.com/poimen-memory/mem/harness/render/internal/view"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/harness/result/paired"
)

// Terminal shows results to a person. Below 40 columns lines are longer than Width.
type Terminal struct {
	Width  int      // columns; 0: no limit
	Colour bool     // may write ANSI colours
	Detail Detail   // how much of a result
	By     []string // tags of queries to show gates by, whatever the detail
	Folder string   // that of the result, for commands and paths; empty: not known
	Among  bool     // the result is one of several: if Brief, one that passed is a line
}

// Detail is how much of a result is shown.
type Detail int

// The details of a result.
const (
	Brief   Detail = iota // verdicts in words, main rates, failures, where to look next
	Quiet                 // verdicts and failures only
	Verbose               // all tables
)

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

// Result shows one experiment: its verdicts first, last what it came to in a sentence.
func (t Terminal) Result(w io.Writer, r *result.Result) error {
	p := screen{Terminal: t}
	for _, said := range view.OtherPrompts(r) {
		p.paragraph("! ", said)
	}
	s := view.NewSentence(r)
	if t.Among && t.Detail == Brief && s.Exit == 0 && len(r.Decisions) == 0 && len(t.By) == 0 {
		p.sentence(s)
		return p.flush(w)
	}
	switch t.Detail {
	case Verbose:
		p.verbose(r)
	case Quiet:
		p.verdicts(r)
		p.byTag(r.ByTag)
		p.failures(r)
		p.unfinished(r)
	default:
		p.brief(r)
	}
	p.gap()
	p.sentence(s)
	if t.Detail != Quiet {
		p.next(r)
	}
	return p.flush(w)
}

// brief is what fits a screen.
func (p *screen) brief(r *result.Result) {
	p.verdicts(r)
	p.gap()
	p.briefGates(r)
	p.briefAnswers(r.Answers)
	p.byTag(r.ByTag)
	p.failures(r)
	p.unfinished(r)
	if len(r.Warnings) > 0 {
		p.gap()
		p.briefWarnings(r)
	}
}

// verbose is all that there is.
func (p *screen) verbose(r *result.Result) {
	p.decisions(r)
	p.variants(r)
	p.checks(r)
	p.failures(r)
	p.gates(r)
	p.estimates(r)
	sure(p, r.Gates)
	p.answers(r.Answers)
	p.byLength(r.ByLength)
	p.byTag(r.ByTag)
	p.comparisons(r.Comparisons)
	p.headroom(r.Budgets)
	p.usage(r)
	p.unfinished(r)
	p.warnings(r)
}

// Total shows the sentence over several experiments.
func (t Terminal) Total(w io.Writer, rs []*result.Result) error {
	p := screen{Terminal: t}
	p.sentence(view.NewSentence(rs...))
	return p.flush(w)
}

// Tokens shows what one prompt takes, under a title.
func (t Terminal) Tokens(w io.Writer, title string, rows []TokenRow) error {
	p := screen{Terminal: t}
	name := layout.Column{Head: "component", Key: true}
	tokens, limit := layout.Column{Head: "tokens", Right: true}, layout.Column{Head: "limit", Right: true}
	for _, row := range rows {
		name.Cells = append(name.Cells, row.Component)
		tokens.Cells = append(tokens.Cells, strconv.Itoa(row.Tokens))
		l := view.Undefined
		if row.Limit > 0 {
			l = strconv.Itoa(row.Limit)
		}
		limit.Cells = append(limit.Cells, l)
	}
	p.heading(title)
	p.table(layout.Table{name, tokens, limit})
	return p.flush(w)
}

func (p *screen) variants(r *result.Result) {
	if r.Variants != nil {
		p.section("Variants, in which each model was evaluated")
	}
	for _, v := range r.Variants {
		p.paragraph("  ", v.String())
	}
}

// decisions are never left out: they are what the experiment is for.
func (p *screen) decisions(r *result.Result) {
	for _, d := range r.Decisions {
		p.section(view.DecisionHead(d))
		if len(d.Criteria) > 0 {
			p.table(view.DecisionTable(d))
			p.paragraph("  ", view.DecisionLegend(d))
		}
		for _, note := range append(view.DecisionNotes(d), view.Reading(d)...) {
			p.paragraph("  ", note)
		}
	}
}

func (p *screen) estimates(r *result.Result) {
	t, common, notes := view.EstimateTable(r)
	if t == nil {
		return
	}
	p.section(strings.Join(append([]string{"Gate metrics with 95 % intervals"}, common...), ", "))
	p.table(t)
	p.paragraph("  ", view.EstimateLegend(r))
	p.notes(notes)
	if view.HasPropagatedLabels(r) {
		p.paragraph("! ", view.PropagatedLabels)
	}
}

func (p *screen) byLength(rows []result.LengthRow) {
	if len(rows) == 0 {
		return
	}
	t, common := view.LengthTable(rows)
	p.section(strings.Join(append([]string{"Gates by length, with 95 % intervals"}, common...), ", "))
	p.table(t)
	p.paragraph("  ", view.LengthLegend())
	if rows := view.WithDepths(rows); len(rows) > 0 {
		p.section("Evidence written, by length and by the depth of the first needle")
		p.table(view.EvidenceByDepth(rows))
	}
}

// byTag shows the tags that were asked for.
func (p *screen) byTag(rows []result.TagRow) {
	for _, tag := range p.By {
		of := view.RowsOf(rows, tag)
		if len(of) == 0 {
			continue
		}
		t, common := view.TagTable(of)
		p.section(strings.Join(append([]string{"Gates by " + tag + ", with 95 % intervals"}, common...), ", "))
		p.table(t)
		p.paragraph("  ", view.TagLegend(of))
	}
}

func (p *screen) comparisons(list []paired.Comparison) {
	if len(list) == 0 {
		return
	}
	t, common := view.ComparisonTable(list)
	p.section(strings.Join(append([]string{"Comparison"}, common...), ", "))
	p.table(t)
	p.paragraph("  ", view.ComparedInWords(list))
	p.paragraph("  ", view.ComparisonLegend)
	p.notes(view.ComparisonNotes(list))
}

func (p *screen) notes(notes view.Notes) {
	for _, note := range notes {
		p.paragraph("! ", note.Text+": "+strings.Join(note.Examples(), ", "))
	}
}

func (p *screen) checks(r *result.Result) {
	if len(r.Checks) == 0 {
		return
	}
	p.section("Checks")
	p.table(view.CheckTable(r.Checks))
}

func (p *screen) failures(r *result.Result) {
	list := view.Failures(r.Checks)
	if len(list) == 0 {
		return
	}
	p.section("Failed")
	for i, f := range list {
		if i == mostFailures {
			p.item(p.red("✗"), diag.Count(len(list)-i, "more failure")+" in summary.json", nil)
			return
		}
		p.failure(f)
	}
}

func (p *screen) failure(f check.Result) {
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
	lines := layout.CleanLines(diff)
	if len(lines) > mostDiffLines {
		more := diag.Count(len(lines)-mostDiffLines, "more line")
		lines = append(lines[:mostDiffLines], "… "+more+" in summary.json")
	}
	return lines
}

func (p *screen) gates(r *result.Result) {
	if len(r.Gates) == 0 {
		return
	}
	t, common := view.GateTable(r.Gates)
	p.section(strings.Join(append([]string{"Gate counts"}, common...), ", "))
	p.table(t)
	for _, line := range view.GateLegend() {
		p.paragraph("  ", line)
	}
	p.notes(view.GateNotes(r.Gates))
}

func (p *screen) headroom(tables []check.BudgetTable) {
	if len(tables) == 0 {
		return
	}
	p.section("Headroom of prompts with a full memory and the longest question, counted with " + tables[0].Tokenizer)
	for _, b := range tables {
		p.paragraph("  ", b.Corpus+": "+view.Headroom(b))
	}
}

// unfinished lists the runs that did not complete; if brief, of skipped ones the reasons; if quiet,
// without those.
func (p *screen) unfinished(r *result.Result) {
	var failed, skipped view.Notes
	for _, state := range view.UnfinishedStates() {
		failed = append(failed, view.RunsByReason(r.Runs, state)...)
	}
	if p.Detail != Quiet {
		skipped = view.RunsByReason(r.Runs, record.Skipped)
	}
	if len(failed)+len(skipped) == 0 {
		return
	}
	p.section("Runs that did not complete")
	p.groups(p.red("✗"), failed)
	p.groups("–", skipped)
}

func (p *screen) groups(mark string, t view.Notes) {
	for _, g := range t {
		examples := g.Examples()
		if mark == "–" && p.Detail == Brief {
			examples = nil
		}
		p.item(mark, diag.Count(len(g.Subjects), "run")+" "+g.Text, examples)
	}
}

func (p *screen) warnings(r *result.Result) {
	if len(r.Warnings) == 0 {
		return
	}
	p.section("Warnings")
	for _, warning := range r.Warnings {
		p.paragraph("! ", warning)
	}
}

func (p *screen) answers(rows []result.AnswerRow) {
	if len(rows) == 0 {
		return
	}
	t, common := view.AnswerTable(rows)
	p.section(strings.Join(append([]string{"Answers from the final memory, with 95 % intervals"}, common...), ", "))
	p.table(t)
	for _, line := range view.AnswerLegend() {
		p.paragraph("  ", line)
	}
	p.notes(view.AnswerNotes(rows))
}

func (p *screen) usage(r *result.Result) {
	if len(r.Usage) == 0 {
		return
	}
	p.section("Calls, as servers count")
	p.table(view.UsageTable(r))
	for _, note := range view.UsageNotes(r) {
		p.paragraph("  ", note)
	}
}
