package render

import (
	"path/filepath"
	"strings"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/render/internal/layout"
	"github.com/poimen-memory/mem/harness/render/internal/view"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/harness/stat/decide"
)

// Rows and lines of a brief result; what it leaves out it counts.
const (
	mostBriefRows     = 12
	mostBriefWarnings = 3
	briefWidth        = 80 // where the terminal's width is not known
)

// verdicts shows each decision in plain words, its criteria a line each.
func (p *screen) verdicts(r *result.Result) {
	for _, d := range r.Decisions {
		mark := view.Mark(d.Verdict)
		if d.Skipped != "" {
			mark = "?"
		}
		p.ends(p.verdictColour(mark), mark, view.DecisionTitle(d), view.DecisionSample(d))
		if d.Skipped != "" {
			p.paragraph("  ", d.Skipped)
			continue
		}
		p.claims(view.Claims(d))
		for _, note := range view.BriefNotes(d) {
			p.paragraph("  ", note)
		}
	}
}

// claims are lines whose columns agree.
func (p *screen) claims(list []view.Claim) {
	width := func(of func(view.Claim) string) (n int) {
		for _, c := range list {
			n = max(n, layout.Width(layout.Clean(of(c))))
		}
		return n
	}
	label := width(func(c view.Claim) string { return c.Label })
	rate := width(func(c view.Claim) string { return c.Rate })
	bounds := width(func(c view.Claim) string { return c.Bounds })
	needs := width(func(c view.Claim) string { return c.Needs })
	for _, c := range list {
		mark := view.Mark(c.Verdict)
		line := padRight(layout.Clean(c.Label), label) + "  " + padLeft(c.Rate, rate) + "  " + padLeft(c.Bounds, bounds) + "  " + padRight(c.Needs, needs) + " " + c.More
		if line = strings.TrimRight(line, " "); p.Width > 0 && layout.Width(line) > p.textWidth() {
			line = strings.Join(strings.Fields(line), " ")
		}
		p.paragraph("  "+p.verdictColour(mark)(mark)+" ", line)
	}
}

// ends writes a line with a mark, and something at its right end where there is space.
func (p *screen) ends(paint func(string) string, mark, left, right string) {
	left, right = layout.Clean(left), layout.Clean(right)
	columns := p.Width
	if columns == 0 {
		columns = briefWidth
	}
	space := min(columns, briefWidth) - layout.Width(mark) - 1 - layout.Width(left) - layout.Width(right)
	if space < 2 {
		p.pieces(paint(mark)+" ", left, p.bold)
		if right != "" {
			p.paragraph("  ", right)
		}
		return
	}
	p.line(paint(mark) + " " + p.bold(left) + strings.Repeat(" ", space) + right)
}

func (p *screen) verdictColour(mark string) func(string) string {
	return map[string]func(string) string{"✓": p.green, "✗": p.red, "?": p.yellow}[mark]
}

func padLeft(s string, n int) string  { return strings.Repeat(" ", max(n-layout.Width(s), 0)) + s }
func padRight(s string, n int) string { return s + strings.Repeat(" ", max(n-layout.Width(s), 0)) }

// briefGates shows the shipped metrics of each model, level and exit setting, where no decision does.
func (p *screen) briefGates(r *result.Result) {
	if len(r.Decisions) > 0 {
		return
	}
	t, rows, common := view.BriefTable(r, mostBriefRows)
	if t == nil {
		return
	}
	p.heading(strings.Join(append([]string{"Gates"}, common...), ", "))
	p.table(t)
	for _, line := range view.BriefLegend(t) {
		p.paragraph("  ", line)
	}
	if rows > mostBriefRows {
		p.paragraph("  ", diag.Count(rows-mostBriefRows, "more row")+" with -v")
	}
}

func (p *screen) briefAnswers(rows []result.AnswerRow) {
	if len(rows) == 0 {
		return
	}
	t, common := view.AnswerTable(rows[:min(len(rows), mostBriefRows)])
	p.section(strings.Join(append([]string{"Answers from the final memory, with 95 % intervals"}, common...), ", "))
	p.table(t)
	if n := len(rows) - mostBriefRows; n > 0 {
		p.paragraph("  ", diag.Count(n, "more row")+" with -v")
	}
}

func (p *screen) briefWarnings(r *result.Result) {
	for i, warning := range r.Warnings {
		if i == mostBriefWarnings {
			p.paragraph(p.yellow("!")+" ", diag.Count(len(r.Warnings)-i, "more warning")+" with -v")
			return
		}
		p.paragraph(p.yellow("!")+" ", warning)
	}
}

// next says where to look further: the run to look at first, and the page.
func (p *screen) next(r *result.Result) {
	if p.Folder == "" {
		return
	}
	dir := ShellWord(filepath.ToSlash(p.Folder))
	runs := r.Runs
	if i := undecided(r.Decisions); i >= 0 { // that of the first model that did not pass
		d := r.Decisions[i]
		runs = nil
		for _, run := range r.Runs {
			if run.Model == d.Model && run.Level == d.Level {
				runs = append(runs, run)
			}
		}
	}
	command := "mem show " + dir
	if worst, ok := view.WorstRun(runs); ok {
		command += " " + ShellWord(view.ShortName(r.Runs, worst.Name)) + "   (the worst run)"
	}
	p.line("  " + layout.Clean(command))
	p.line("  " + layout.Clean(filepath.ToSlash(filepath.Join(p.Folder, "report.html"))))
}

// undecided is the first decision that is judged and not GO, -1 if all are.
func undecided(list []result.Decision) int {
	for i, d := range list {
		if d.Skipped == "" && d.Verdict != decide.Go {
			return i
		}
	}
	return -1
}

// ShellWord is a word as a shell takes it: quoted where it must be.
func ShellWord(s string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@%+=,~", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !safe(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// ShellWords are words as a shell takes them.
func ShellWords(words []string) string {
	var quoted []string
	for _, w := range words {
		quoted = append(quoted, ShellWord(w))
	}
	return strings.Join(quoted, " ")
}
