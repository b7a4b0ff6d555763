package render_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/mattn/go-runewidth"

	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/render"
	"github.com/poimen-memory/mem/harness/render/internal/rendertest"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/harness/stat"
)

// attacks are texts that break tables, terminals, documents or logs of those who do not
// expect them.
func attacks() []string {
	return []string{
		"a|b||c", "a\nb\r\nc", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\x1b]8;;http://evil.example\x1b\\link", "\u009b31m",
		"日本語のモデル", "👍👍🏽👨‍👩‍👧🇩🇪❤️1️⃣", "e\u0301a\u200db", "각한", "\u202egnp.exe\u202c", "\u2066x\u2069", "nul\x00", "bad\xff\xfeutf8",
		"<script>alert(1)</script>", "</details></table>", "]]>&amp;", "`code`` *b* _i_ [l](http://e) @team #1", `back\|slash\\|`,
		"::error file=x::pwned", "  ::stop-commands::tok", "x ##[add-mask]y", "%0A::debug::", "tab\tbed", "line\u2028sep", "~~~~\n```\n# h",
		strings.Repeat("::error::x ", 40), strings.Repeat("::error::", 40), strings.Repeat("long", 100), strings.Repeat("語", 150), "", " ", "\ufeffbom",
	}
}

// hostile is a result every text of which is an attack.
func hostile() *result.Result { return resultOf(attacks()) }

// resultOf is a result whose texts are the given ones.
func resultOf(texts []string) *result.Result {
	r := &result.Result{Experiment: "::error::x", Spec: "s:,%\n.yaml", About: strings.Join(texts, " "), Tokenizer: "tok\x1b[2J"}
	for i, a := range texts {
		r.Gates = append(r.Gates, gateRow(a, 1, "record", i%4), gateRow(a, 2, "x|\n"+a, 4))
		b := rendertest.BudgetTable(a)
		b.Rows[0].Component = "::\x1b|"
		r.Budgets, r.Warnings = append(r.Budgets, b), append(r.Warnings, a)
		cell := plan.Cell{Name: a + "/q", Model: a}
		r.Runs = append(r.Runs, result.Run{Cell: cell, State: record.Incomplete, Reason: a}, result.Run{Cell: cell, State: record.Skipped, Reason: a})
		r.Answers = append(r.Answers, result.AnswerRow{Model: a, Level: 1, ExitGate: "x|\n" + a, Runs: 3, Unreferenced: texts[:min(2, len(texts))], Gates: stat.AnswerTable{NoEvidence: 1}})
		r.Usage = append(r.Usage, result.Usage{Model: a, Unmetered: 1})
		r.Drift = append(r.Drift, check.Drift{Model: a, Overhead: 3, Prompts: 2})
		r.Checks = append(r.Checks,
			check.Result{Check: "golden", Subject: a, Status: check.Fail, Detail: a, Diff: "-" + a + "\n+" + a + "\n" + a, Pos: diag.Pos{File: a, Line: 3, Col: 4}},
			check.Result{Check: "skip" + a, Subject: a, Status: check.Skip, Detail: a},
		)
	}
	return r
}

func terminals() (list []render.Terminal) {
	for _, width := range []int{0, 1, 39, 40, 60, 80, 100, 140} {
		list = append(list, render.Terminal{Width: width}, render.Terminal{Width: width, Detail: render.Quiet}, render.Terminal{Width: width, Detail: render.Verbose})
	}
	return list
}

// shows renders all that a terminal shows of a result.
func shows(t *testing.T, term render.Terminal, r *result.Result) string {
	t.Helper()
	var b bytes.Buffer
	var rows []render.TokenRow
	for _, a := range attacks() {
		rows = append(rows, render.TokenRow{Component: a, Tokens: 1, Limit: 2})
	}
	for _, err := range []error{
		term.Result(&b, r), term.Total(&b, []*result.Result{r, r}), render.Budget(&b, term, tables(r.Budgets)), term.Tokens(&b, r.About, rows),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func TestTerminalIsSafe(t *testing.T) {
	for _, term := range terminals() {
		safeShown(t, term, shows(t, term, hostile()))
	}
}

func safeShown(t *testing.T, term render.Terminal, text string) {
	t.Helper()
	harmless(t, text)
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##[") {
			t.Errorf("width %d: a log reader would interpret %q", term.Width, line)
		}
		if n := columns(line); term.Width > 0 && n > max(term.Width, 40) {
			t.Errorf("width %d: %d columns: %s", term.Width, n, line)
		}
	}
}

// harmless fails on characters that no writer may let through.
func harmless(t *testing.T, text string) {
	t.Helper()
	for _, r := range text {
		if r != '\n' && !unicode.IsGraphic(r) || unicode.Is(unicode.Variation_Selector, r) {
			t.Errorf("found %U", r)
			return
		}
	}
}

// columns is the width of a line as a terminal shows it, by another library's measure,
// which takes whole graphemes.
func columns(line string) int {
	return (&runewidth.Condition{}).StringWidth(line)
}

var rule = regexp.MustCompile(`^─+(  ─+)*$`)

// Every line of every table has blanks where the rule below its head has gaps, and none is
// wider than the rule: no cell, whatever it holds, breaks a table.
func TestTablesHoldTheirColumns(t *testing.T) {
	for _, r := range []*result.Result{rendertest.Passed(), broken(), hostile()} {
		for _, term := range terminals() {
			lines := strings.Split(shows(t, term, r), "\n")
			tables := 0
			for i, line := range lines {
				if rule.MatchString(line) {
					tables++
					holds(t, []rune(line), lines[i+1:])
				}
			}
			if tables == 0 {
				t.Errorf("%s at %d: no table", r.Experiment, term.Width)
			}
		}
	}
}

// legend is a line that may follow a table at once.
var legend = regexp.MustCompile(`^  (turns:|runs:|parse retries:|in percent, |\* for new |n/m: |\d+ more rows? with -v)`)

func holds(t *testing.T, rule []rune, below []string) {
	t.Helper()
	for _, line := range below {
		if line == "" || legend.MatchString(line) || strings.HasPrefix(line, "headroom ") {
			return
		}
		at := 0
		for _, r := range line {
			w := columns(string(r))
			for col := at; col < at+w; col++ {
				if col >= len(rule) || rule[col] == ' ' && r != ' ' {
					t.Errorf("column %d does not hold:\n%s\n%s", col, string(rule), line)
					return
				}
			}
			at += w
		}
	}
}

// Nothing that matters is lost in wrapping: a failure's detail can be read back.
func TestDetailsAreWhole(t *testing.T) {
	r := rendertest.Passed()
	r.Checks[0].Status = check.Fail
	r.Checks[0].Detail = strings.Repeat("want 'a  b', got 日本語 at ", 12) + strings.Repeat("x", 200) + "!"
	squeeze := func(s string) string { return regexp.MustCompile(`[\s│]`).ReplaceAllString(s, "") }
	for _, term := range terminals() {
		if text := shows(t, term, r); !strings.Contains(squeeze(text), squeeze(r.Checks[0].Detail)) {
			t.Errorf("width %d: the detail is not whole:\n%s", term.Width, text)
		}
	}
}

func TestMarkdownIsSafe(t *testing.T) { safeMarkdown(t, hostile(), broken()) }

func safeMarkdown(t *testing.T, rs ...*result.Result) {
	t.Helper()
	var b bytes.Buffer
	if err := render.Markdown(&b, rs...); err != nil {
		t.Fatal(err)
	}
	harmless(t, b.String())
	text := withoutDiffs(b.String())
	tags := regexp.MustCompile(`</?(code|details|summary)>`)
	rest := tags.ReplaceAllString(text, "")
	if i := strings.IndexAny(rest, "<>`*@["); i >= 0 && !strings.HasPrefix(rest[i:], "`summary.json`") && !strings.HasPrefix(rest[i:], "`.") {
		t.Errorf("markup from outside: %q", rest[max(0, i-40):i+20])
	}
	if opened, closed := strings.Count(text, "<details>"), strings.Count(text, "</details>"); opened != closed {
		t.Errorf("%d <details>, %d </details>", opened, closed)
	}
	bars := 0
	for _, line := range strings.Split(text, "\n") {
		n := strings.Count(line, "|")
		if n > 0 && bars > 0 && n != bars {
			t.Errorf("a row of %d bars in a table of %d: %s", n, bars, line)
		}
		bars = n
	}
}

// withoutDiffs leaves out fenced diffs, of which a fence as long as the first ends each.
func withoutDiffs(text string) string {
	var b strings.Builder
	fence := ""
	for line := range strings.Lines(text) {
		open, isOpen := strings.CutSuffix(line, "diff\n")
		switch {
		case fence != "":
			if strings.TrimSuffix(line, "\n") == fence {
				fence = ""
			}
		case isOpen && strings.Trim(open, "~") == "" && len(open) > 2:
			fence = open
		default:
			b.WriteString(line)
		}
	}
	return b.String()
}

// A fence is closed by its own last line only.
func TestMarkdownFence(t *testing.T) {
	r := rendertest.Passed()
	r.Checks[0].Status, r.Checks[0].Diff = check.Fail, "~~~\n~~~~~\n</details>\n"
	var b bytes.Buffer
	if err := render.Markdown(&b, r); err != nil {
		t.Fatal(err)
	}
	if want := "~~~~~~diff\n~~~\n~~~~~\n</details>\n~~~~~~\n"; !strings.Contains(b.String(), want) {
		t.Errorf("want %q in\n%s", want, b.String())
	}
}

// GitHub refuses comments over 65,536 characters.
func TestMarkdownFitsAComment(t *testing.T) {
	r := broken()
	diff := strings.Repeat(strings.Repeat("d", 9000)+"\n", 300)
	for i := range 2000 {
		f := check.Result{Check: "retain", Subject: fmt.Sprintf("%d/%s", i, strings.Repeat("n", 80)), Status: check.Fail, Detail: strings.Repeat("why ", 100)}
		f.Diff = diff
		r.Checks, r.Warnings = append(r.Checks, f), append(r.Warnings, f.Detail)
		r.Runs = append(r.Runs, result.Run{State: record.Incomplete, Reason: f.Subject})
	}
	for _, rs := range [][]*result.Result{{r}, {r, r, r, r, r}} {
		var b bytes.Buffer
		if err := render.Markdown(&b, rs...); err != nil {
			t.Fatal(err)
		}
		if n := len([]rune(b.String())); n > 65536 {
			t.Errorf("%d results: %d characters", len(rs), n)
		}
		if !strings.Contains(b.String(), "more failures in `summary.json`") {
			t.Error("failures left out without saying so")
		}
	}
}

// Each annotation is one line, whose parts a runner reads back as they were.
func TestAnnotationsAreSafe(t *testing.T) {
	safeAnnotations(t, hostile(), 2*len(attacks()))
}

func safeAnnotations(t *testing.T, r *result.Result, want int) {
	t.Helper()
	var b bytes.Buffer
	if err := render.Annotations(&b, []*result.Result{r}); err != nil {
		t.Fatal(err)
	}
	harmless(t, b.String())
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	if len(lines) != want {
		t.Errorf("%d annotations, want %d", len(lines), want)
	}
	command := regexp.MustCompile(`^::error file=[^,:\n]*(,line=\d+,col=\d+)?,title=[^,:\n]*::[^\n]*$`)
	for _, line := range lines {
		if !command.MatchString(line) {
			t.Errorf("found %q", line)
		}
	}
}
