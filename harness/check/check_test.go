package check_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/internal/digest"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/eventlog"
	"github.com/poimen-memory/mem/prompt"
)

func usage(chunks ...int) check.Usage {
	return check.Usage{
		Fixed: prompt.Tokens{Template: 300}, Questions: []int{10, 20}, Chunks: chunks, Memories: []int{4, 900}, Prompts: []int{1000},
	}
}

func headroom() check.Headroom {
	return check.Headroom{Budget: prompt.Budget{}.WithDefaults(), Percentile: 95}
}

func TestHeadroomArithmetic(t *testing.T) {
	h := headroom()
	h.Percentile = 50
	got := h.Table("c", "words", usage(100, 200, 4000))
	// 32768 − 2048 − 300 template − 20 longest question − 1024 full memory = 29376
	if got.Headroom != 29376-200 || got.AtMax != 29376-4000 {
		t.Errorf("headroom is %d and %d at max, want %d and %d", got.Headroom, got.AtMax, 29176, 25376)
	}
	want := check.BudgetRow{Component: prompt.Memory, P50: 4, At: 4, P95: 900, P99: 900, Max: 900, Limit: 1024}
	if diff := cmp.Diff(want, got.Rows[2]); diff != "" {
		t.Errorf("memory (-want +got):\n%s", diff)
	}
}

// TestBudgetTableToTheLastField, of components whose every number is another one.
func TestBudgetTableToTheLastField(t *testing.T) {
	u := check.Usage{
		Fixed: prompt.Tokens{System: 30, Template: 300}, Questions: []int{10, 20}, Chunks: upTo(400), Memories: []int{4, 900},
		Prompts: []int{1000, 2000}, Answers: []int{500, 700},
	}
	h := check.Headroom{Budget: prompt.Budget{}.WithDefaults(), Percentile: 75}
	row := func(c prompt.Component, p50, at, p95, p99, most, limit int) check.BudgetRow {
		return check.BudgetRow{Component: c, P50: p50, At: at, P95: p95, P99: p99, Max: most, Limit: limit}
	}
	want := check.BudgetTable{
		Corpus: "c", Tokenizer: "words", Percentile: 75,
		// 32768 − 2048 − 300 template − 30 system − 20 longest question − 1024 full memory = 29346
		Headroom: 29346 - 300, AtMax: 29346 - 400,
		Rows: []check.BudgetRow{
			row(prompt.Template, 330, 330, 330, 330, 330, 400), row(prompt.Problem, 10, 20, 20, 20, 20, 256), row(prompt.Memory, 4, 900, 900, 900, 900, 1024),
			row(prompt.Section, 200, 300, 380, 396, 400, 5000), row(prompt.Whole, 1000, 2000, 2000, 2000, 2000, 30720), row(prompt.AnswerPrompt, 500, 700, 700, 700, 700, 30720),
		},
	}
	if diff := cmp.Diff(want, h.Table("c", "words", u)); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
	u.Answers = nil
	want.Rows = want.Rows[:5]
	if diff := cmp.Diff(want, h.Table("c", "words", u)); diff != "" {
		t.Errorf("without answers (-want +got):\n%s", diff)
	}
}

func upTo(n int) (list []int) {
	for i := range n {
		list = append(list, i+1)
	}
	return list
}

func many(n, tokens int, more ...int) []int {
	for range n {
		more = append(more, tokens)
	}
	return more
}

func TestBudgetCheck(t *testing.T) {
	with := func(change func(*check.Usage)) check.Usage {
		u := usage(1000)
		change(&u)
		return u
	}
	for _, test := range []struct {
		name   string
		h      func(*check.Headroom)
		u      check.Usage
		status check.Status
		says   string
	}{
		{"fits", nil, usage(many(20, 4000)...), check.Pass, "headroom 25376 tokens"},
		{"median fits, p95 does not", nil, usage(many(18, 1000, 7900, 7900)...), check.Fail, "section is over budget: limit 5000 tokens, p50 1000, p95 7900"},
		{"p95 fits, max does not", nil, usage(many(99, 1000, 5001)...), check.Fail, "section is over budget: limit 5000 tokens, p50 1000, p95 1000, max 5001"},
		{"template", nil, with(func(u *check.Usage) { u.Fixed.Template = 401 }), check.Fail, "template is over budget: limit 400 tokens, p50 401, p95 401, max 401 (words)"},
		{"system message", nil, with(func(u *check.Usage) { u.Fixed.System = 101 }), check.Fail, "template is over budget: limit 400 tokens, p50 401"},
		{"question", nil, with(func(u *check.Usage) { u.Questions = []int{257} }), check.Fail, "problem is over budget: limit 256"},
		{"memory", nil, with(func(u *check.Usage) { u.Memories = []int{1, 1025} }), check.Fail, "memory is over budget: limit 1024"},
		{"prompt", nil, with(func(u *check.Usage) { u.Prompts = []int{30721} }), check.Fail, "prompt is over budget: limit 30720"},
		{"answer", nil, with(func(u *check.Usage) { u.Answers = []int{30721} }), check.Fail, "answer is over budget: limit 30720"},
		{"all at their limits", nil, check.Usage{
			Fixed: prompt.Tokens{System: 100, Template: 300}, Questions: []int{256}, Memories: []int{1024}, Chunks: []int{5000}, Prompts: []int{30720}, Answers: []int{30720},
		}, check.Pass, "headroom 24040 tokens with a full memory, the longest question and a p95 chunk of 5000 tokens (words)"},
		{"headroom", func(h *check.Headroom) { h.Min = 28377 }, usage(1000), check.Fail, "headroom is 28376 tokens, want at least 28377"},
		{"headroom just kept", func(h *check.Headroom) { h.Min = 28376 }, usage(1000), check.Pass, "headroom 28376"},
		{"worst prompt", func(h *check.Headroom) { h.Budget.Window = 7000 }, usage(many(99, 1000, 4000)...), check.Fail, "prompt is over budget by 392 tokens with the largest chunk"},
		{"worst prompt just fits", func(h *check.Headroom) { h.Budget.Window = 7392 }, usage(many(99, 1000, 4000)...), check.Pass, "headroom 3000"},
		{"no chunk", nil, usage(), check.Skip, "no chunk"},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := headroom()
			if test.h != nil {
				test.h(&h)
			}
			got := h.Check(h.Table("c", "words", test.u))
			if got.Status != test.status || !strings.Contains(got.Detail, test.says) {
				t.Errorf("%s: %s; want %s, about %q", got.Status, got.Detail, test.status, test.says)
			}
		})
	}
}

func TestLogAgainstTheRunsEnd(t *testing.T) {
	for _, test := range []struct {
		ended bool
		state eventlog.State
		want  check.Status
	}{
		{true, eventlog.Complete, check.Pass},
		{true, eventlog.Interrupted, check.Fail},
		{true, eventlog.Corrupt, check.Fail},
		{false, eventlog.Complete, check.Fail},
		{false, eventlog.Interrupted, check.Pass},
		{false, eventlog.Corrupt, check.Fail},
	} {
		if got := check.Log("run", check.LogOf{StoppedBy: map[bool]loop.StoppedBy{true: loop.SourceEnd}[test.ended]}, eventlog.Report{State: test.state}); got.Status != test.want {
			t.Errorf("ended %v, log %s: %s, want %s", test.ended, test.state, got.Status, test.want)
		}
	}
}

// TestLogOfAnotherRun: a log that verifies is still not the run's if it opens otherwise,
// stops short of the source, or the outcome says something else.
func TestLogOfAnotherRun(t *testing.T) {
	start := loop.RunStart{Schema: 1, Level: 1, QuerySHA: "q", UseExitGate: true, MemoryBudget: 1024, Tokenizer: "words"}
	of := check.LogOf{Start: start, Chunks: 5, Seen: 5, Used: 2, StoppedBy: loop.SourceEnd}
	report := eventlog.Report{State: eventlog.Complete, Turns: 5, Used: 2, Start: &start}
	if got := check.Log("run", of, report); got.Status != check.Pass {
		t.Fatalf("the run's own log: %s: %s", got.Status, got.Detail)
	}
	early := of
	early.Chunks, early.StoppedBy = 6, loop.ExitGate
	if got := check.Log("run", early, report); got.Status != check.Pass {
		t.Errorf("the log of a run that its exit gate stopped: %s: %s", got.Status, got.Detail)
	}
	for name, change := range map[string]func(*check.LogOf){
		"level":       func(of *check.LogOf) { of.Start.Level = 2 },
		"query":       func(of *check.LogOf) { of.Start.QuerySHA = "Q" },
		"exit gate":   func(of *check.LogOf) { of.Start.UseExitGate = false },
		"budget":      func(of *check.LogOf) { of.Start.MemoryBudget = 1 },
		"tokenizer":   func(of *check.LogOf) { of.Start.Tokenizer = "other" },
		"source":      func(of *check.LogOf) { of.Chunks = 6 },
		"chunks seen": func(of *check.LogOf) { of.Seen = 99 },
		"chunks used": func(of *check.LogOf) { of.Used = 8 },
		"chunk":       func(of *check.LogOf) { of.Foreign = 3 },
	} {
		other := of
		change(&other)
		if got := check.Log("run", other, report); got.Status != check.Fail {
			t.Errorf("%s differs: %s", name, got.Status)
		}
	}
}

func log(t *testing.T, level loop.Level, change func([]loop.Event) []loop.Event) string {
	t.Helper()
	events := []loop.Event{
		loop.RunStart{Schema: 1, Level: level, QuerySHA: "q"},
		loop.Gate{Level: level, Turn: 1, ChunkSHA: "c", Update: true, Attempts: 1},
		loop.Evidence{Level: level - 1, Turn: 1, SHA: "c", Bytes: 3},
		loop.Memory{Level: level, Turn: 1, SHA: "m", Parents: []string{"c"}, Text: `"level":1 in a text`},
		loop.RunEnd{Level: level, ChunksSeen: 1, ChunksUsed: 1, StoppedBy: loop.SourceEnd},
	}
	if change != nil {
		events = change(events)
	}
	var b strings.Builder
	if err := (eventlog.Writer{W: &b}).Emit(events); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestLevels(t *testing.T) {
	for _, test := range []struct {
		name   string
		upper  func([]loop.Event) []loop.Event
		status check.Status
		says   string
	}{
		{"the level alone", nil, check.Pass, "5 events"},
		{"a digest", func(e []loop.Event) []loop.Event { e[0] = loop.RunStart{Schema: 1, Level: 2, QuerySHA: "Q"}; return e }, check.Fail, "line 1: more than the level differs"},
		{"a text that names a level", func(e []loop.Event) []loop.Event {
			e[3] = loop.Memory{Level: 2, Turn: 1, SHA: "m", Parents: []string{"c"}, Text: `"level":2 in a text`}
			return e
		}, check.Fail, "line 4: more than the level differs"},
		{"one level stays", func(e []loop.Event) []loop.Event {
			e[2] = loop.Evidence{Level: 0, Turn: 1, SHA: "c", Bytes: 3}
			return e
		}, check.Fail, "line 3: evidence: levels are 0 apart, want 1"},
		{"another event", func(e []loop.Event) []loop.Event { e[4] = e[1]; return e }, check.Fail, "line 5: more than the level differs"},
		{"another event of another level", func(e []loop.Event) []loop.Event { e[4] = e[2]; return e }, check.Fail, "line 5: more than the level differs"},
		{"shorter", func(e []loop.Event) []loop.Event { return e[:4] }, check.Fail, "line 5: the log of the upper level ends, the other goes on"},
		{"longer", func(e []loop.Event) []loop.Event { return append(e, e[4]) }, check.Fail, "line 6: the log of the lower level ends, the other goes on"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := check.Levels("s", 1, strings.NewReader(log(t, 1, nil)), strings.NewReader(log(t, 2, test.upper)))
			if got.Status != test.status || !strings.Contains(got.Detail, test.says) {
				t.Errorf("%s: %s; want %s, about %q", got.Status, got.Detail, test.status, test.says)
			}
		})
	}
	if got := check.Levels("s", 1, strings.NewReader(log(t, 1, nil)), strings.NewReader(log(t, 1, nil))); got.Status != check.Fail {
		t.Errorf("a loop that ignores its level: %s", got.Status)
	}
	for _, logs := range [][2]string{{"{}\n", log(t, 2, nil)}, {log(t, 1, nil), "{}\n"}} {
		if got := check.Levels("s", 1, strings.NewReader(logs[0]), strings.NewReader(logs[1])); got.Status != check.Fail || got.Detail != `line 1: unknown event type ""` {
			t.Errorf("a log with a line that is no event: %s: %s", got.Status, got.Detail)
		}
	}
	if got := check.Levels("s", 1, strings.NewReader(""), strings.NewReader("")); got.Status != check.Skip {
		t.Errorf("two empty logs: %s, want a skip", got.Status)
	}
}

func TestGolden(t *testing.T) {
	file := filepath.Join(t.TempDir(), "g.txt")
	if err := os.WriteFile(file, []byte("one\ntwo \nthree"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, prompt string
		status       check.Status
		says, diff   string
	}{
		{"same", "one\ntwo \nthree", check.Pass, "14 bytes", ""},
		{"added newline", "one\ntwo \nthree\n", check.Fail, `at byte 14 want its end, got "\n"`, `\ No newline at end of file`},
		{"lost space", "one\ntwo\nthree", check.Fail, `at byte 7 want " \nthree", got "\nthree"`, "-two·\n+two\n"},
		{"look-alike", "оne\ntwo \nthree", check.Fail, `at byte 0 want "one\ntwo \nthree", got "\u043ene`, `+\u{43e}ne`},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := check.Golden{File: file, Prompt: test.prompt, Update: "mem golden update s.yaml"}
			got := g.Check()
			if got.Status != test.status || !strings.Contains(got.Detail, test.says) || !strings.Contains(got.Diff, test.diff) {
				t.Errorf("%s: %s\n%s\nwant %s, about %q, with %q", got.Status, got.Detail, got.Diff, test.status, test.says, test.diff)
			}
			if got.Status == check.Fail && !strings.HasSuffix(got.Detail, "mem golden update s.yaml") {
				t.Errorf("detail does not say what to do: %s", got.Detail)
			}
		})
	}
	refused := check.Golden{File: file, Err: fmt.Errorf("section is over budget")}
	missing := check.Golden{File: file + "s", Update: "mem golden update s.yaml", Pos: at(0).Pos}
	if got := missing.Check(); got.Status != check.Fail || got.Detail != "the file is missing; to make it: mem golden update s.yaml" || got.Pos != missing.Pos {
		t.Errorf("a missing file: %+v", got)
	}
	folder := check.Golden{File: filepath.Dir(file), Prompt: ""}
	if got := folder.Check(); got.Status != check.Fail || !strings.HasPrefix(got.Detail, "read "+folder.File) {
		t.Errorf("a folder: %+v", got)
	}
	if got := refused.Check(); got.Status != check.Fail || !strings.Contains(got.Detail, "section is over budget") {
		t.Errorf("a prompt that the budget refuses: %+v", got)
	}
}

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain  text": "plain  text", "end  ": "end··", "a \nb\t": "a·\nb\\x09", "\x1b[31m": `\x1b[31m`,
		"naïve": `na\u{ef}ve`, "\u202e": `\u{202e}`, "\xff": `\xff`, "\ufffd": `\u{fffd}`, "\r\n": "\\x0d\n", "\x00": `\x00`, "\x7f\u0080": `\x7f\u{80}`,
		`C:\path \n`: `C:\path \n`, `\x09 \u{e9}`: `\x5cx09 \x5cu{e9}`,
	} {
		if got := check.Visible(in); got != want {
			t.Errorf("Visible(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestLedger: the newest entry about a file must name its bytes, whatever the prompt is.
func TestLedger(t *testing.T) {
	sha := digest.Of("one")
	entry := func(file, sha string) string {
		return fmt.Sprintf(`{"date":"2026-11-30","file":%q,"old":null,"new":%q,"reason":"because"}`, file, sha) + "\n"
	}
	for _, test := range []struct {
		name, file, ledger string
		status             check.Status
		says               string
	}{
		{"recorded", "one", entry("g.txt", "0") + entry("g.txt", sha) + entry("h.txt", "1"), check.Pass, "recorded on 2026-11-30: because"},
		{"edited", "one\n", entry("g.txt", sha), check.Fail, "edited by hand"},
		{"back to an older one", "one", entry("g.txt", sha) + entry("g.txt", "0"), check.Fail, "edited by hand"},
		{"not recorded", "one", entry("h.txt", sha), check.Fail, "has no entry for it"},
		{"no ledger", "one", "", check.Fail, "has no entry for it"},
		{"no JSON", "one", "one\n", check.Fail, "LEDGER.jsonl:1: not an entry of a ledger"},
		{"torn", "one", strings.TrimSpace(entry("g.txt", sha)), check.Fail, "LEDGER.jsonl:1: missing final newline"},
		{"missing file", "", entry("g.txt", sha), check.Skip, "cannot be read"},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := check.Golden{File: filepath.Join(t.TempDir(), "g.txt"), Prompt: "another", Update: "mem golden update s.yaml", Pos: at(0).Pos}
			for path, text := range map[string]string{g.File: test.file, g.LedgerPath(): test.ledger} {
				if text == "" {
					continue
				}
				if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			if got := g.Recorded(); got.Check != "ledger" || got.Pos != g.Pos || got.Status != test.status || !strings.Contains(got.Detail, test.says) {
				t.Errorf("%s: %s\nwant %s with %q", got.Status, got.Detail, test.status, test.says)
			}
		})
	}
}

func TestUnreadableLedgerIsAFailure(t *testing.T) {
	g := check.Golden{File: filepath.Join(t.TempDir(), "g.txt")}
	if err := os.WriteFile(g.File, []byte("one"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(g.LedgerPath(), 0o777); err != nil {
		t.Fatal(err)
	}
	if got := g.Recorded(); !got.Failed() || !strings.HasPrefix(got.Detail, "read "+g.LedgerPath()) {
		t.Errorf("a ledger that is a folder: %+v", got)
	}
}
