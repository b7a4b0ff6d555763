package render

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/render/internal/layout"
	"github.com/poimen-memory/mem/harness/render/internal/view"
	"github.com/poimen-memory/mem/harness/result"
)

// Markdown writes a report in GitHub's Markdown, fit for a pull request's comment: what
// the experiments came to, what failed, and all else folded. A comment may hold 65,536
// characters, so of very many failures it shows the first and counts the rest.
func Markdown(w io.Writer, rs ...*result.Result) error {
	var d document
	if len(rs) != 1 {
		d.line("## %s", d.sentence(rs...))
		d.line("")
	}
	for _, r := range rs {
		d.share = len(rs)
		d.result(r)
	}
	_, err := d.out.WriteTo(w)
	return err
}

// document gathers Markdown. Experiments that share a comment share its length.
type document struct {
	out   bytes.Buffer
	share int
}

// Of a report: diffs that are shown, columns of their lines, and of any other text.
const (
	mostDiffs    = 5
	widestDiff   = 120
	longestText  = 600
	mostWarnings = 20
)

func (d *document) line(format string, args ...any) { fmt.Fprintf(&d.out, format+"\n", args...) }

func (d *document) most(n int) int { return max(n/max(d.share, 1), 1) }

func (d *document) sentence(rs ...*result.Result) string {
	s := view.NewSentence(rs...)
	mark := "✗"
	if s.Exit == 0 {
		mark = "✓"
	}
	return mark + " " + escape(s.String())
}

func (d *document) result(r *result.Result) {
	d.line("### %s", d.sentence(r))
	d.line("")
	for _, said := range view.OtherPrompts(r) {
		d.line("**%s**\n", escape(said))
	}
	d.decisions(r.Decisions)
	d.failures(view.Failures(r.Checks))
	d.unfinished(r.Runs)
	d.fold("Checks, gate counts and metrics, budget", func() { d.rest(r) })
}

func (d *document) failures(list []check.Result) {
	if len(list) == 0 {
		return
	}
	shown := list[:min(len(list), d.most(mostFailures))]
	d.row("failed", "subject", "where", "what")
	d.row("---", "---", "---", "---")
	for _, f := range shown {
		d.row(escape(f.Check), code(f.Subject), code(f.Pos.String()), code(f.Detail))
	}
	d.line("")
	if n := len(list) - len(shown); n > 0 {
		d.line("… and %s in `summary.json`.\n", diag.Count(n, "more failure"))
	}
	d.diffs(list)
}

func (d *document) diffs(list []check.Result) {
	left := d.most(mostDiffs)
	for _, f := range list {
		if f.Diff == "" || left == 0 {
			continue
		}
		left--
		d.fold("Diff of "+code(f.Subject), func() { d.fence(firstLines(f.Diff)) })
	}
}

// fence writes lines as they are, between fences longer than any in them.
func (d *document) fence(lines []string) {
	fence := strings.Repeat("~", max(3, 1+longestRun(strings.Join(lines, "\n"), '~')))
	d.line("%sdiff", fence)
	for _, line := range lines {
		d.line("%s", layout.Cut(line, widestDiff))
	}
	d.line("%s\n", fence)
}

func longestRun(s string, of rune) (longest int) {
	n := 0
	for _, r := range s {
		n++
		if r != of {
			n = 0
		}
		longest = max(longest, n)
	}
	return longest
}

func (d *document) unfinished(runs []result.Run) {
	var groups view.Notes
	for _, state := range append(view.UnfinishedStates(), record.Skipped) {
		groups = append(groups, view.RunsByReason(runs, state)...)
	}
	most := d.most(mostWarnings)
	for i, g := range groups {
		if i == most {
			d.line("- … and %s in `summary.json`", diag.Count(len(groups)-i, "more reason"))
			break
		}
		d.line("- %s %s (%s)", diag.Count(len(g.Subjects), "run"), code(g.Text), strings.Join(layout.Each(g.Examples(), code), ", "))
	}
	if groups != nil {
		d.line("")
	}
}

// fold writes what is shown on demand, under a summary that is ours or escaped.
func (d *document) fold(summary string, body func()) {
	d.line("<details><summary>%s</summary>\n", summary)
	body()
	d.line("</details>\n")
}

func (d *document) rest(r *result.Result) {
	d.line("Spec %s, tokens of %s.\n", code(r.Spec), code(r.Tokenizer))
	if r.About != "" {
		d.line("About: %s\n", code(r.About))
	}
	for _, v := range r.Variants {
		d.line("- %s", code(v.String()))
	}
	if r.Variants != nil {
		d.line("")
	}
	d.checks(r.Checks)
	d.gates(r.Gates)
	d.estimates(r)
	sureMarkdown(d, r.Gates)
	d.answers(r.Answers)
	d.byLength(r.ByLength)
	d.byTag(r)
	d.comparisons(r.Comparisons)
	for _, b := range r.Budgets[:min(len(r.Budgets), d.most(mostWarnings))] {
		d.line("Prompt tokens over %s, counted with %s; %s.\n", code(b.Corpus), code(b.Tokenizer), view.Headroom(b))
		d.table(view.BudgetTable(b))
	}
	d.usage(r)
	for _, warning := range r.Warnings[:min(len(r.Warnings), d.most(mostWarnings))] {
		d.line("- Warning: %s", code(warning))
	}
	if len(r.Warnings) > 0 {
		d.line("")
	}
}

func (d *document) checks(results []check.Result) {
	if len(results) > 0 {
		d.table(view.CheckTable(results))
	}
}

// gates needs no legend: headings are in full.
func (d *document) gates(rows []result.GateRow) {
	if len(rows) == 0 {
		return
	}
	d.table(view.FullGateTable(rows))
	for _, note := range view.GateNotes(rows) {
		d.line("- %s: %s", escape(note.Text), strings.Join(layout.Each(note.Examples(), code), ", "))
	}
	d.line("")
}

func (d *document) table(t layout.Table) {
	d.row(layout.Each(t, func(c layout.Column) string { return strings.ReplaceAll(c.Head, "\n", " ") })...)
	d.row(layout.Each(t, columnRule)...)
	for i := range t[0].Cells {
		d.row(layout.Each(t, func(c layout.Column) string { return markdownCell(c, i) })...)
	}
	d.line("")
}

// columnRule is the line below a column's head, which sets its alignment.
func columnRule(c layout.Column) string {
	if c.Right {
		return "---:"
	}
	return "---"
}

// markdownCell is one cell of a column. Numbers need no escape.
func markdownCell(c layout.Column, row int) string {
	if c.Right {
		return c.Cells[row]
	}
	return code(c.Cells[row])
}

func (d *document) row(cells ...string) { d.line("| %s |", strings.Join(cells, " | ")) }

// escape is any text as one line of Markdown that reads as just that text: no markup, no
// HTML, no link, no cell's end. Escapes are character references, which never count as markup.
func escape(s string) string {
	var b strings.Builder
	before := ' '
	text := []rune(layout.Cut(layout.Clean(s), longestText))
	for i, r := range text {
		inWord := r == '_' && isWord(before) && i+1 < len(text) && isWord(text[i+1])
		if strings.ContainsRune("&<>|\\`*_~[]@#$!", r) && !inWord {
			fmt.Fprintf(&b, "&#%d;", r)
		} else {
			b.WriteRune(r)
		}
		before = r
	}
	return strings.NewReplacer("://", "&#58;//", "www.", "www&#46;").Replace(b.String())
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// code is escape in a fixed-width face, where no @name is a mention.
func code(s string) string {
	if s == "" {
		return ""
	}
	return "<code>" + escape(s) + "</code>"
}
