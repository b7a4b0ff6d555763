package page_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/render/internal/rendertest"
	"github.com/poimen-memory/mem/harness/render/page"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/journal"
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

func hostileReport() report { return reportOf(hostileTexts()) }

// reportOf is a report whose texts are the given ones, of which there are seven.
func reportOf(texts []string) report {
	r := &result.Result{Schema: result.SchemaVersion, Experiment: "hostile", About: texts[0], Spec: texts[1], Tokenizer: texts[2]}
	r.Gates = []result.GateRow{{Model: texts[1], Level: 1, ExitGate: "record", Counts: stat.Counts{
		Runs: 7, Turns: 713, TruePos: 311, FalseNeg: 17, FalsePos: 23, TrueNeg: 301, FailedPos: 29, FailedNeg: 32, ExitEarly: 2, ExitOnTime: 5,
	}}}
	for _, text := range texts[:6] { // ids are never a megabyte
		r.ByLength = append(r.ByLength, rendertest.WithLengths(text, text).ByLength...)
		r.ByLength[len(r.ByLength)-1].Metrics[0] = rendertest.UndefinedMetric("recall_committed", text)
	}
	r.Checks = []check.Result{{Check: "golden", Subject: texts[3], Status: check.Fail, Detail: texts[0], Diff: texts[5]}}
	r.Warnings = texts[:6]
	shown := report{Result: r, Turns: map[string][]result.JudgedTurn{}}
	for i, text := range texts {
		run := result.Run{Cell: plan.Cell{Name: fmt.Sprintf("run%d%s", i, text[:min(len(text), 60)]), Session: text, Query: text, Model: text, Level: 1}}
		run.State, run.Chunks, run.FinalMemory = record.Incomplete, 1, &text
		run.Reason = text
		run.Answer = &result.Answer{Text: &text, References: []string{text}}
		if i < 6 { // the long one says no more here
			r.Answers = append(r.Answers, result.AnswerRow{Model: text, Level: 1, ExitGate: text, Unreferenced: []string{text}})
		}
		r.Runs = append(r.Runs, run)
		shown.Turns[run.Name] = []result.JudgedTurn{judged(stat.Turn{Parsed: true, Written: true}, text,
			journal.Call{Turn: 1, Attempt: 1, User: text, Reply: text, Reasoning: text}, journal.Call{Turn: 1, Attempt: 2, Error: text})}
	}
	return shown
}

// report is a result with the turns of its runs.
type report struct {
	Result *result.Result
	Turns  map[string][]result.JudgedTurn // by run name
}

func (r report) turns(run result.Run) iter.Seq2[result.JudgedTurn, error] {
	list, ok := r.Turns[run.Name]
	if !ok {
		return nil
	}
	return func(yield func(result.JudgedTurn, error) bool) {
		for _, t := range list {
			if !yield(t, nil) {
				return
			}
		}
	}
}

// judged is a turn with its memory and calls.
func judged(j stat.Turn, memory string, calls ...journal.Call) result.JudgedTurn {
	t := result.JudgedTurn{Judged: j}
	t.Parsed, t.Update, t.Written, t.Calls = j.Parsed, j.Update, j.Written, calls
	t.Memory = &loop.Memory{Text: memory, Tokens: j.MemoryTokens}
	return t
}

func written(t testing.TB, r report) string {
	t.Helper()
	var b bytes.Buffer
	if err := page.Write(&b, r.Result, r.turns); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestHTMLEscapesHostileText: no text of a model, corpus or spec becomes markup.
func TestHTMLEscapesHostileText(t *testing.T) {
	html := written(t, hostileReport())
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
	html := written(t, hostileReport())
	if found := regexp.MustCompile(`(?i)(src|href|url)\s*[=(]\s*["']?\s*(https?:|//|data:)`).FindString(html); found != "" {
		t.Errorf("the page refers to %q", found)
	}
	if !strings.Contains(html, `content="default-src 'none'`) {
		t.Error("the page does not forbid fetching")
	}
}

// TestHTMLIsTheSameEachTime, byte for byte.
func TestHTMLIsTheSameEachTime(t *testing.T) {
	first := written(t, hostileReport())
	for range 2 {
		if written(t, hostileReport()) != first {
			t.Fatal("two pages of one report differ")
		}
	}
}

// TestLargeReportStaysSmall: 2,000 runs of 50 turns, each turn with texts of its own.
func TestLargeReportStaysSmall(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	html := written(t, largeReport(2000, 50))
	if limit := 20 << 20; len(html) > limit {
		t.Errorf("the page has %d bytes, want at most %d", len(html), limit)
	}
	t.Logf("%d bytes", len(html))
}

func largeReport(runs, turns int) report {
	r := &result.Result{Schema: result.SchemaVersion, Experiment: "large"}
	r.Budget.Memory = 1024
	shown := report{Result: r, Turns: map[string][]result.JudgedTurn{}}
	for i := range runs {
		run := result.Run{Cell: plan.Cell{Name: fmt.Sprintf("s/q%d/L1/m/record", i), Session: "s", Query: fmt.Sprint("q", i), Model: "m", Level: 1, ExitGate: "record"}}
		run.State, run.Chunks, run.Evidence = record.Complete, turns, []int{i%turns + 1}
		r.Runs = append(r.Runs, run)
		var list []result.JudgedTurn
		for n := range turns {
			text := fmt.Sprintf("<check>yes</check><update>run %d, turn %d: port %d</update><next>continue</next>", i, n, i*n%9973)
			list = append(list, judged(stat.Turn{Parsed: n%9 != 0, Update: n%3 == 0, Written: n%3 == 0, MemoryTokens: 10 * n}, text, journal.Call{Turn: n + 1, Attempt: 1, Reply: text}))
		}
		shown.Turns[run.Name] = list
	}
	return shown
}

// BenchmarkHTML measures many short runs and a few long ones.
func BenchmarkHTML(b *testing.B) {
	for _, size := range []struct{ runs, turns int }{{2000, 50}, {5, 20000}} {
		b.Run(fmt.Sprintf("%dx%d", size.runs, size.turns), func(b *testing.B) {
			shown := largeReport(size.runs, size.turns)
			b.ReportAllocs()
			for b.Loop() {
				b.SetBytes(int64(len(written(b, shown))))
			}
		})
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
	shown := hostileReport()
	file := filepath.Join(t.TempDir(), "report.html")
	// A reader opens every run; what must not be there is then counted in the title.
	html := strings.Replace(written(t, shown), "</body>", `<script>
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
	numbersEqual(t, dom, shown.Result)
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

func numbersEqual(t *testing.T, dom string, r *result.Result) {
	t.Helper()
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(r); err != nil {
		t.Fatal(err)
	}
	var summary struct {
		Gates []struct{ Counts map[string]int }
	}
	if err := json.Unmarshal(b.Bytes(), &summary); err != nil {
		t.Fatal(err)
	}
	if metrics := r.ByLength[0].Depths[0].Metrics; !strings.Contains(dom, fmt.Sprintf("<strong>%.2f</strong><small>%.2f–%.2f</small><small>n %d</small>",
		*metrics[0].Value, *metrics[0].Lower, *metrics[0].Upper, metrics[0].Queries)) {
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
	html := written(t, report{Result: &result.Result{
		Usage: []result.Usage{{Model: "grumem-3b", Calls: 4711, PromptTokens: 90210, USD: &usd, ParseRetries: 17, RetriesHelped: 13}},
		Drift: []check.Drift{{Model: "grumem-3b", Tokenizer: "cl100k_base", Prompts: 4711, Overhead: 21, P95: 0.191}},
	}})
	for _, want := range []string{">4711<", ">90210<", ">1.250<", ">17<", ">13<", ">21<", ">0.191<", "cl100k_base"} {
		if !strings.Contains(html, want) {
			t.Errorf("the page does not show %s", want)
		}
	}
}
