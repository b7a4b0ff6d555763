package render_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/render"
	"github.com/poimen-memory/mem/harness/stat"
)

// hostileTexts try to leave their place in a page.
func hostileTexts() []string {
	long := 1 << 18
	if testing.Short() {
		long = 1 << 12
	}
	return []string{
		"</script><script>document.title='pwned'</script>",
		"<img src=x onerror=\"document.title='pwned'\">",
		"</template><script>document.title='pwned'</script>",
		"\"><svg onload=\"document.title='pwned'\">",
		"{{.}} ${document.title='pwned'} javascript:document.title='pwned'",
		"\u202eevil\u202c \x1b[31mred\x1b[0m \x00 nul \u2028",
		strings.Repeat("<b>", long) + strings.Repeat("x", long),
	}
}

func hostileReport() render.Report {
	texts := hostileTexts()
	r := &harness.Result{Schema: harness.SchemaVersion, Experiment: "hostile", About: texts[0], Spec: texts[1], Tokenizer: texts[2]}
	r.Gates = []harness.GateRow{{Model: texts[1], Level: 1, ExitGate: "record", Counts: stat.Counts{
		Runs: 7, Turns: 713, TruePos: 311, FalseNeg: 17, FalsePos: 23, TrueNeg: 301, FailedPos: 29, FailedNeg: 32, ExitEarly: 2, ExitOnTime: 5,
	}}}
	for _, text := range texts[:6] { // ids are never a megabyte
		r.ByLength = append(r.ByLength, laddered(text, text).ByLength...)
		r.ByLength[len(r.ByLength)-1].Metrics[0] = undefinedFigure("recall_committed", text)
	}
	r.Checks = []check.Result{{Check: "golden", Subject: texts[3], Status: check.Fail, Detail: texts[0], Diff: texts[5]}}
	r.Warnings = texts[:6]
	report := render.Report{Result: r, Turns: map[string][]render.Turn{}, Timing: texts[0]}
	for i, text := range texts {
		run := harness.Run{Cell: harness.Cell{Name: fmt.Sprintf("run%d%s", i, text[:min(len(text), 60)]), Session: text, Query: text, Model: text, Level: 1}}
		run.State, run.Chunks, run.FinalMemory = harness.Incomplete, 1, &text
		run.Reason = text
		run.Answer = &harness.Answer{Text: &text, References: []string{text}}
		if i < 6 { // the long one says no more here
			r.Answers = append(r.Answers, harness.AnswerRow{Model: text, Level: 1, ExitGate: text, Unreferenced: []string{text}})
		}
		r.Runs = append(r.Runs, run)
		report.Turns[run.Name] = []render.Turn{{Parsed: true, Memory: &text, Prompt: text, Calls: []render.Answer{{Reply: text, Reasoning: text, Wrong: text, Error: text}}}}
	}
	return report
}

func page(t testing.TB, r render.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := render.HTML(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestHTMLEscapesHostileText: no text of a model, corpus or spec becomes markup.
func TestHTMLEscapesHostileText(t *testing.T) {
	html := page(t, hostileReport())
	if n := strings.Count(html, "<script"); n != 1 {
		t.Errorf("the page has %d scripts, want its own alone", n)
	}
	for _, mark := range []string{"<img", "<svg onload", "\u202e", "\x1b", "\x00", "<b>"} {
		if strings.Contains(html, mark) {
			t.Errorf("%q stands in the page", mark)
		}
	}
}

// TestHTMLIsOneFile: nothing is fetched, whatever opens it.
func TestHTMLIsOneFile(t *testing.T) {
	html := page(t, hostileReport())
	if found := regexp.MustCompile(`(?i)(src|href|url)\s*[=(]\s*["']?\s*(https?:|//|data:)`).FindString(html); found != "" {
		t.Errorf("the page refers to %q", found)
	}
	if !strings.Contains(html, `content="default-src 'none'`) {
		t.Error("the page does not forbid fetching")
	}
}

// TestHTMLIsTheSameEachTime, byte for byte.
func TestHTMLIsTheSameEachTime(t *testing.T) {
	first := page(t, hostileReport())
	for range 2 {
		if page(t, hostileReport()) != first {
			t.Fatal("two pages of one report differ")
		}
	}
}

// TestLargeReportStaysSmall: 2,000 runs of 50 turns, each turn with texts of its own.
func TestLargeReportStaysSmall(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	html := page(t, largeReport(2000, 50))
	if limit := 20 << 20; len(html) > limit {
		t.Errorf("the page has %d bytes, want at most %d", len(html), limit)
	}
	t.Logf("%d bytes", len(html))
}

func largeReport(runs, turns int) render.Report {
	r := &harness.Result{Schema: harness.SchemaVersion, Experiment: "large"}
	r.Budget.Memory = 1024
	report := render.Report{Result: r, Turns: map[string][]render.Turn{}}
	for i := range runs {
		run := harness.Run{Cell: harness.Cell{Name: fmt.Sprintf("s/q%d/L1/m/record", i), Session: "s", Query: fmt.Sprint("q", i), Model: "m", Level: 1, ExitGate: "record"}}
		run.State, run.Chunks, run.Evidence = harness.Complete, turns, []int{i%turns + 1}
		r.Runs = append(r.Runs, run)
		var list []render.Turn
		for n := range turns {
			text := fmt.Sprintf("<check>yes</check><update>run %d, turn %d: port %d</update><next>continue</next>", i, n, i*n%9973)
			list = append(list, render.Turn{Parsed: n%9 != 0, Update: n%3 == 0, Written: n%3 == 0, Tokens: 10 * n, Memory: &text, Calls: []render.Answer{{Reply: text}}})
		}
		report.Turns[run.Name] = list
	}
	return report
}

func BenchmarkHTML(b *testing.B) {
	report := largeReport(2000, 50)
	for b.Loop() {
		b.SetBytes(int64(len(page(b, report))))
	}
}

// TestHTMLInABrowser opens hostile pages in headless Chromium: nothing executes but the
// page's own script, and the numbers on it are those of the JSON summary.
func TestHTMLInABrowser(t *testing.T) {
	browser, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("chromium is missing: CI must install it (Debian: chromium)")
		}
		t.Skip("SKIPPED: chromium is not installed, so the report was NOT opened in a browser (Debian: apt-get install chromium)")
	}
	report := hostileReport()
	file := filepath.Join(t.TempDir(), "report.html")
	// A reader opens every run; what must not be there is then counted in the title.
	html := strings.Replace(page(t, report), "</body>", `<script>
document.querySelectorAll("details").forEach(d => { d.open = true; });
setTimeout(() => { document.title += " " + document.querySelectorAll("img, b, svg[onload], [onerror]").length; }, 3000);
</script></body>`, 1)
	if err := os.WriteFile(file, []byte(html), 0o666); err != nil {
		t.Fatal(err)
	}
	dom := dump(t, browser, file)
	if title := regexp.MustCompile(`<title>[^<]*</title>`).FindString(dom); title != "<title>hostile: unjudged 0</title>" {
		t.Errorf("after loading, the title is %s, want hostile: unjudged 0: something executed, or hostile elements are in the document", title)
	}
	if !strings.Contains(dom, `<form class="filter">`) {
		t.Error("the page's own script did not run")
	}
	if !strings.Contains(dom, "reply, attempt 1") {
		t.Error("an opened run does not show its first turn")
	}
	numbersEqual(t, dom, report.Result)
}

// dump is the document after its scripts ran.
func dump(t *testing.T, browser, file string) string {
	t.Helper()
	cmd := exec.Command(browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync",
		"--user-data-dir="+t.TempDir(), "--virtual-time-budget=5000", "--dump-dom", "file://"+file)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func numbersEqual(t *testing.T, dom string, r *harness.Result) {
	t.Helper()
	var b bytes.Buffer
	if err := render.JSON(&b, r); err != nil {
		t.Fatal(err)
	}
	var summary struct {
		Gates []struct{ Counts map[string]int }
	}
	if err := json.Unmarshal(b.Bytes(), &summary); err != nil {
		t.Fatal(err)
	}
	if metrics := r.ByLength[0].Depths[0].Metrics; !strings.Contains(dom, fmt.Sprintf("<strong>%.2f</strong><small>%.2f–%.2f</small><small>n %d</small>",
		*metrics[0].Value, *metrics[0].Lower, *metrics[0].Upper, metrics[0].Units)) {
		t.Error("the page does not map the first depth of the first length")
	}
	c := summary.Gates[0].Counts
	for _, want := range []string{
		fmt.Sprintf(`%d yes, right · %d no, wrong · %d not parsed`, c["yes_on_evidence"], c["no_on_evidence"], c["parse_failed_on_evidence"]),
		fmt.Sprintf(`%d no, right · %d yes, wrong · %d not parsed`, c["no_on_free"], c["yes_on_free"], c["parse_failed_on_free"]),
		fmt.Sprintf(`%d early · %d on time`, c["exit_early"], c["exit_on_time"]),
		fmt.Sprintf(`<dt>turns</dt><dd>%d</dd>`, c["turns"]),
	} {
		if !strings.Contains(dom, want) {
			t.Errorf("the page does not say %q, which summary.json does", want)
		}
	}
}

// TestHTMLShowsUsageAndDrift of live models.
func TestHTMLShowsUsageAndDrift(t *testing.T) {
	usd := 1.25
	html := page(t, render.Report{Result: &harness.Result{
		Usage: []harness.Usage{{Model: "grumem-3b", Calls: 4711, PromptTokens: 90210, USD: &usd, ParseRetries: 17, RetriesHelped: 13}},
		Drift: []check.Drift{{Model: "grumem-3b", Tokenizer: "cl100k_base", Prompts: 4711, Overhead: 21, P95: 0.191}},
	}})
	for _, want := range []string{">4711<", ">90210<", ">1.250<", ">17<", ">13<", ">21<", ">0.191<", "cl100k_base"} {
		if !strings.Contains(html, want) {
			t.Errorf("the page does not show %s", want)
		}
	}
}
