package render

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/check"
)

// Markdown writes a report in GitHub's Markdown, fit for a pull request's comment: what
// the experiments came to, what failed, and all else folded. A comment may hold 65,536
// characters, so of very many failures it shows the first and counts the rest.
func Markdown(w io.Writer, rs ...*harness.Result) error {
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

// document gathers Markdown. Experiments that share a comment share its room.
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

func (d *document) sentence(rs ...*harness.Result) string {
	s := total(rs...)
	mark := "✗"
	if s.exit == 0 {
		mark = "✓"
	}
	return mark + " " + escape(s.String())
}

func (d *document) result(r *harness.Result) {
	d.line("### %s", d.sentence(r))
	d.line("")
	if said := r.Prompt.Note; said != "" {
		d.line("**%s**\n", escape(said))
	}
	d.decisions(r.Decisions)
	d.failures(failures(r.Checks))
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
		d.line("… and %s in `summary.json`.\n", plural(n, "more failure"))
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
		d.line("%s", cut(line, widestDiff))
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

func (d *document) unfinished(runs []harness.Run) {
	var groups tally
	for _, state := range append(broken(), harness.Skipped) {
		groups = append(groups, inState(runs, state)...)
	}
	most := d.most(mostWarnings)
	for i, g := range groups {
		if i == most {
			d.line("- … and %s in `summary.json`", plural(len(groups)-i, "more reason"))
			break
		}
		d.line("- %s %s (%s)", plural(len(g.subjects), "run"), code(g.said), strings.Join(each(g.examples(), code), ", "))
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

func (d *document) rest(r *harness.Result) {
	d.line("Spec %s, tokens of %s.\n", code(r.Spec), code(r.Tokenizer))
	if r.About != "" {
		d.line("About: %s\n", code(r.About))
	}
	d.checks(r.Checks)
	d.gates(r.Gates)
	d.estimates(r)
	d.answers(r.Answers)
	d.byLength(r.ByLength)
	d.comparisons(r.Comparisons)
	for _, b := range r.Budgets[:min(len(r.Budgets), d.most(mostWarnings))] {
		d.line("Prompt tokens over %s, counted with %s; %s.\n", code(b.Corpus), code(b.Tokenizer), headroom(b))
		d.table(budgetTable(b))
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
		d.table(checkTable(results))
	}
}

// gates needs no legend: headings are in full.
func (d *document) gates(rows []harness.GateRow) {
	if len(rows) == 0 {
		return
	}
	t := table{
		{head: "model", cells: each(rows, model)}, {head: "level", cells: each(rows, level)}, {head: "exit gate", cells: each(rows, exit)},
		{head: "runs", right: true, cells: each(rows, func(r harness.GateRow) string { return strconv.Itoa(r.Counts.Runs) })},
		{head: "not ended", right: true, cells: each(rows, func(r harness.GateRow) string { return strconv.Itoa(r.Excluded) })},
	}
	for _, m := range measures() {
		t = append(t, column{head: m.full, right: true, cells: each(rows, m.of)})
	}
	d.table(t)
	for _, note := range gateNotes(rows) {
		d.line("- %s: %s", escape(note.said), strings.Join(each(note.examples(), code), ", "))
	}
	d.line("")
}

func (d *document) table(t table) {
	d.row(each(t, func(c column) string { return strings.ReplaceAll(c.head, "\n", " ") })...)
	d.row(each(t, column.rule)...)
	for i := range t[0].cells {
		d.row(each(t, func(c column) string { return c.markdown(i) })...)
	}
	d.line("")
}

// rule is the line below a column's head, which sets its alignment.
func (c column) rule() string {
	if c.right {
		return "---:"
	}
	return "---"
}

// markdown is a cell; numbers need no escape.
func (c column) markdown(row int) string {
	if c.right {
		return c.cells[row]
	}
	return code(c.cells[row])
}

func (d *document) row(cells ...string) { d.line("| %s |", strings.Join(cells, " | ")) }

// escape is any text as one line of Markdown that reads as just that text: no markup, no
// HTML, no link, no cell's end. Escapes are character references, which never count as markup.
func escape(s string) string {
	var b strings.Builder
	before := ' '
	text := []rune(cut(clean(s), longestText))
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
