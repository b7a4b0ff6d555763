package harness_test

import (
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/gate"
	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/harness/run"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/journal"
	"github.com/poimen-memory/mem/loop/openai"
	"github.com/poimen-memory/mem/scripted/fakeserver"
)

// reply answers from the request's bytes alone: writes, retains, exits, and replies that
// do not parse, some of which parse at a retry.
func reply(r fakeserver.Request) fakeserver.Reply {
	h := fnv.New64a()
	h.Write(r.Body)
	n := h.Sum64()
	if !strings.Contains(r.Text("user"), "<section>") { // asked for the answer
		return fakeserver.Reply{Text: []string{"<think>hm", "port 6380", "I do not know."}[n%3]}
	}
	switch n % 7 {
	case 0, 1:
		return fakeserver.Reply{Text: "no gates here"}
	case 2, 3:
		d := gate.Decision{Update: true, HasCandidate: true, Candidate: fmt.Sprintf("memory %x", n), Exit: n%5 == 0}
		return fakeserver.Reply{Text: d.Reply(), Reasoning: "it is useful"}
	}
	return fakeserver.Reply{Text: gate.Decision{Exit: n%3 == 0}.Reply()}
}

// liveSpec asks one live model twice about each of three sessions, with the exit gate
// recorded and enforced, at L1 and L2.
func liveSpec(t testing.TB, extra string) string {
	files := map[string]string{"live.yaml": `
experiment: live
corpora:
  - {id: a, path: a.jsonl, chunk: {records: 1}}
  - {id: b, path: b.jsonl, chunk: {records: 1}}
  - {id: c, path: c.jsonl, chunk: {records: 1}}
queries: [{id: port, text: "Which port?", evidence: [{match: port 6380, all: true}]}]
levels: [L1, L2]
exit_gate: [record, enforce]
trials: 2
models: [{id: m, live: {base_url: "http://localhost/v1", model: m, seed: 7}}]
checks: {tokenizer: {max_undercount: 1}}
` + extra}
	for _, name := range []string{"a", "b", "c"} {
		files[name+".jsonl"] = jsonl(name+" one", name+" port 6380", name+" three", name+" four", name+" five")
	}
	return filepath.Join(write(t, files), "live.yaml")
}

// liveConfig runs live models against a server, and gives up at the first failure.
func liveConfig(t testing.TB, server *fakeserver.Server, out string) harness.Config {
	t.Helper()
	seed := int64(7)
	client, err := openai.New(openai.Config{
		BaseURL: server.BaseURL(), Model: "m", Params: openai.Params{Seed: &seed},
		Retry: openai.Retry{MaxTries: 1}, Timeout: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	return harness.Config{
		Out: out, Run: run.Config{Live: true},
		Models: func(m run.ModelFor) (loop.Model, error) { return client.Trial(m.Cell.Trial), nil },
	}
}

func serve(t testing.TB, plan fakeserver.Plan) *fakeserver.Server {
	t.Helper()
	server := fakeserver.Start(fakeserver.Config{Reply: reply, Plan: plan, Model: "m"})
	t.Cleanup(server.Close)
	return server
}

// eventLogs are the event logs below dir.
func eventLogs(t testing.TB, dir string) map[string]string {
	t.Helper()
	logs := map[string]string{}
	for name, text := range tree(t, dir) {
		if filepath.Base(name) == "events.jsonl" {
			logs[name] = text
		}
	}
	return logs
}

// TestResumedLiveRunsEqualUndisturbedOnes: with faults at random calls, resumed as often as
// it takes, the logs and the result are those of a server without faults, and no request
// that was answered is sent again.
func TestResumedLiveRunsEqualUndisturbedOnes(t *testing.T) {
	resumedEqual(t, liveSpec(t, ""), 6)
}

func resumedEqual(t *testing.T, path string, seeds uint64) {
	t.Helper()
	calm := t.TempDir()
	once, undisturbed := counted(nil)
	want := eval(t, liveConfig(t, serve(t, once), calm), path)
	wantPassed(t, want)
	if len(want.Runs) != 16 || want.Count(record.Complete) != 16 {
		t.Fatalf("%d of %d runs ended", want.Count(record.Complete), len(want.Runs))
	}
	for seed := range seeds {
		plan, answered := counted(fakeserver.Random(seed, 0.25, 3, fakeserver.Passing()...))
		cfg := liveConfig(t, serve(t, plan), t.TempDir())
		cfg.Run.Resume = true
		var got *result.Result
		for sessions := 1; ; sessions++ {
			got = eval(t, cfg, path)
			if got.Count(record.Complete) == len(got.Runs) {
				if sessions < 3 {
					t.Errorf("seed %d: done after %d sessions: hardly disturbed", seed, sessions)
				}
				break
			}
			if result.Exit(got) != 3 || sessions > 100 {
				t.Fatalf("seed %d: exit %d after %d sessions\n%s", seed, result.Exit(got), sessions, failures(got))
			}
		}
		if diff := cmp.Diff(eventLogs(t, calm), eventLogs(t, cfg.Out)); diff != "" {
			t.Fatalf("seed %d: event logs (-undisturbed +resumed):\n%s", seed, diff)
		}
		if diff := cmp.Diff(marshal(t, want), marshal(t, got)); diff != "" {
			t.Fatalf("seed %d: result (-undisturbed +resumed):\n%s", seed, diff)
		}
		for body, n := range answered {
			if n > undisturbed[body] { // two runs may ask for an answer from one memory
				t.Errorf("seed %d: a request was answered %d times, want %d: %.200s", seed, n, undisturbed[body], body)
			}
		}
	}
}

// counted is a plan whose requests are counted by their bodies, if they are answered.
func counted(plan fakeserver.Plan) (fakeserver.Plan, map[string]int) {
	var mu sync.Mutex
	answered := map[string]int{}
	return func(r fakeserver.Request) (f fakeserver.Fault) {
		if plan != nil {
			f = plan(r)
		}
		if f.Serve == nil {
			mu.Lock()
			answered[string(r.Body)]++
			mu.Unlock()
		}
		return f
	}, answered
}

// TestEnforcedRunsReplayTheRecordedOnes: one set of calls serves both exit settings.
func TestEnforcedRunsReplayTheRecordedOnes(t *testing.T) {
	server := serve(t, nil)
	r := eval(t, liveConfig(t, server, t.TempDir()), liveSpec(t, ""))
	recorded := 0
	for _, run := range r.Runs {
		if run.ExitGate == "record" {
			recorded += run.Calls
		}
	}
	if server.Requests() != recorded || r.Usage[0].Calls != recorded {
		t.Errorf("%d requests, %d calls in the usage; want the %d of the recorded runs", server.Requests(), r.Usage[0].Calls, recorded)
	}
	if u := r.Usage[0]; u.ParseRetries == 0 || u.RetriesHelped == 0 || u.RetriesHelped > u.ParseRetries || u.PromptTokens == 0 || u.Unmetered != 0 {
		t.Errorf("usage is %+v", u)
	}
}

// TestResumeOfCompleteRunsAsksForNothing, and gives the same result again.
func TestResumeOfCompleteRunsAsksForNothing(t *testing.T) {
	path, out := liveSpec(t, ""), t.TempDir()
	first := eval(t, liveConfig(t, serve(t, nil), out), path)
	server := serve(t, nil)
	cfg := liveConfig(t, server, out)
	cfg.Run.Resume = true
	again := eval(t, cfg, path)
	if diff := cmp.Diff(marshal(t, first), marshal(t, again)); diff != "" || server.Requests() != 0 {
		t.Errorf("%d requests; result (-first +resumed):\n%s", server.Requests(), diff)
	}
}

func TestLiveResultsAreNotOverwritten(t *testing.T) {
	path, out := liveSpec(t, ""), t.TempDir()
	server := serve(t, nil)
	first := eval(t, liveConfig(t, server, out), path)
	before := tree(t, out)
	e, err := prepare(t, liveConfig(t, server, out), path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "--live --resume") || !strings.Contains(err.Error(), "--live --fresh") {
		t.Errorf("error is %v, want one that says both choices", err)
	}
	judged := config(t) // without --live, what is recorded is judged
	judged.Out = out
	if again := eval(t, judged, path); marshal(t, again) != marshal(t, first) {
		t.Errorf("judged from the records: %s", failures(again))
	}
	if diff := cmp.Diff(before, tree(t, out)); diff != "" {
		t.Errorf("the folder changed:\n%s", diff)
	}
	n := server.Requests()
	cfg := liveConfig(t, server, out)
	cfg.Fresh = true
	wantPassed(t, eval(t, cfg, path))
	if server.Requests() != 2*n {
		t.Errorf("%d requests after a fresh evaluation, want %d", server.Requests(), 2*n)
	}
}

// TestResumeOverwritesNoOtherModelsResults: what was live under an id is not touched by a
// scripted model that has taken it.
func TestResumeOverwritesNoOtherModelsResults(t *testing.T) {
	path, out := liveSpec(t, ""), t.TempDir()
	server := serve(t, nil)
	eval(t, liveConfig(t, server, out), path)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	scripted := regexp.MustCompile(`live: {.*}}`).ReplaceAllString(string(text), "policy: never_update}")
	if err := os.WriteFile(path, []byte(scripted), 0o666); err != nil {
		t.Fatal(err)
	}
	before := eventLogs(t, out)
	for name, of := range map[string]func(run.ModelFor) (loop.Model, error){
		"usable":   factory,
		"unusable": func(run.ModelFor) (loop.Model, error) { return nil, errors.New("no such model") },
	} {
		cfg := config(t)
		cfg.Out, cfg.Run.Live, cfg.Run.Resume, cfg.Models = out, true, true, of
		r := eval(t, cfg, path)
		if result.Exit(r) != 2 || r.Runs[0].State != record.Misconfigured {
			t.Errorf("%s: exit %d, %s: %s", name, result.Exit(r), r.Runs[0].State, r.Runs[0].Reason)
		}
		if diff := cmp.Diff(before, eventLogs(t, out)); diff != "" {
			t.Errorf("%s: logs (-before +after):\n%s", name, diff)
		}
	}
}

// TestUnusableModelLeavesNoEarlierLog, which would be taken for its own.
func TestUnusableModelLeavesNoEarlierLog(t *testing.T) {
	path, cfg := small(t, ""), config(t)
	eval(t, cfg, path)
	if len(eventLogs(t, cfg.Out)) == 0 {
		t.Fatal("no log at first")
	}
	cfg.Models = func(run.ModelFor) (loop.Model, error) { return nil, errors.New("no such model") }
	r := eval(t, cfg, path)
	if logs := eventLogs(t, cfg.Out); len(logs) != 0 || result.Exit(r) != 2 || r.Runs[0].Reason != "no such model" {
		t.Errorf("exit %d; logs %v", result.Exit(r), logs)
	}
}

// TestWithoutLiveNoConnectionIsOpened: the models are skipped, and not even made.
func TestWithoutLiveNoConnectionIsOpened(t *testing.T) {
	cfg := config(t)
	cfg.Models = func(m run.ModelFor) (loop.Model, error) {
		if m.Model.Live != nil {
			t.Errorf("a live model is made for %s", m.Cell.Name)
		}
		return factory(m)
	}
	path := liveSpec(t, "")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	both := strings.Replace(string(text), "models: [", "models: [{id: never, policy: never_update}, ", 1)
	if err := os.WriteFile(path, []byte(both), 0o666); err != nil {
		t.Fatal(err)
	}
	r := eval(t, cfg, path)
	if result.Exit(r) != 0 {
		t.Errorf("exit is %d, want 0: skipping is no failure", result.Exit(r))
	}
	for _, run := range r.Runs {
		if run.Model == "m" && (run.State != record.Skipped || !strings.Contains(run.Reason, "--live")) {
			t.Errorf("%s is %s: %s", run.Name, run.State, run.Reason)
		}
	}
}

// TestChangedQuestionIsNotResumed: the journal's header says what it was made under.
func TestChangedQuestionIsNotResumed(t *testing.T) {
	path, out := liveSpec(t, ""), t.TempDir()
	server := serve(t, nil)
	eval(t, liveConfig(t, server, out), path)
	n := server.Requests()
	for change, says := range map[[2]string]string{
		{"Which port?", "Which host?"}:                     `query was "Which port?" when recorded, is "Which host?" now`,
		{"trials: 2", "trials: 2\nbudget: {memory: 1000}"}: "budget.memory was 1024 when recorded, is 1000 now",
		{"trials: 2", "trials: 2\ntokenizer: cl100k_base"}: `tokenizer was "o200k_base" when recorded, is "cl100k_base" now`,
	} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		other := filepath.Join(filepath.Dir(path), "other.yaml")
		if err := os.WriteFile(other, []byte(strings.Replace(string(text), change[0], change[1], 1)), 0o666); err != nil {
			t.Fatal(err)
		}
		cfg := liveConfig(t, server, out)
		cfg.Run.Resume = true
		r := eval(t, cfg, other)
		for _, run := range r.Runs { // with the exit gate enforced too
			if run.Level == 1 && (run.State != record.Misconfigured || !strings.Contains(run.Reason, says)) || result.Exit(r) != 2 {
				t.Errorf("%s is %s: %s; want it refused: %s", run.Name, run.State, run.Reason, says)
			}
		}
	}
	if server.Requests() != n {
		t.Errorf("%d calls were made for recordings of something else", server.Requests()-n)
	}
}

func TestMaxFailuresStopsTheExperiment(t *testing.T) {
	server := serve(t, func(fakeserver.Request) fakeserver.Fault { return fakeserver.Status(500, fakeserver.VLLM) })
	cfg := liveConfig(t, server, t.TempDir())
	r := eval(t, cfg, liveSpec(t, "max_failures: 1\n"))
	if result.Exit(r) != 3 || r.Count(record.Incomplete) != len(r.Runs) {
		t.Errorf("exit %d, %d of %d runs incomplete", result.Exit(r), r.Count(record.Incomplete), len(r.Runs))
	}
	notBegun := 0
	for _, run := range r.Runs {
		if strings.Contains(run.Reason, "max_failures") {
			notBegun++
		}
	}
	if notBegun == 0 || server.Requests() >= len(r.Runs) {
		t.Errorf("%d runs were not begun, %d requests made", notBegun, server.Requests())
	}
}

// TestContextLengthErrorSaysOurCount: with whose tokenizer, too.
func TestContextLengthErrorSaysOurCount(t *testing.T) {
	server := serve(t, func(fakeserver.Request) fakeserver.Fault {
		return fakeserver.Raw(400, "application/json", `{"object":"error","message":"This model's maximum context length is 400 tokens."}`)
	})
	r := eval(t, liveConfig(t, server, t.TempDir()), liveSpec(t, ""))
	reason := r.Runs[0].Reason
	for _, want := range []string{"maximum context length is 400", "we count 2", "tokens in the prompt, by o200k_base"} {
		if !strings.Contains(reason, want) {
			t.Errorf("reason is %q, want it to say %q", reason, want)
		}
	}
}

// TestTokenizerCheck: a server that counts more than we do is seen, its chat template's
// constant is not.
func TestTokenizerCheck(t *testing.T) {
	var counts, same []check.Count
	for i := range 40 {
		ours := 1000 + 100*i
		counts = append(counts, check.Count{Ours: ours, Server: ours*119/100 + 20})
		same = append(same, check.Count{Ours: ours, Server: ours + 20})
	}
	under := check.MeasureDrift("m", "cl100k_base", counts)
	if got := check.Tokenizer(under, 0.05, check.Result{}.Pos); got.Status != check.Fail || under.P95 < 0.185 || under.P95 > 0.195 {
		t.Errorf("19 %% too low: %+v, drift %+v", got, under)
	}
	even := check.MeasureDrift("m", "o200k_base", same)
	if got := check.Tokenizer(even, 0.05, check.Result{}.Pos); got.Status != check.Pass || even.Overhead != 20 || even.Max != 0 {
		t.Errorf("only the template's constant: %+v, drift %+v", got, even)
	}
	if got := check.Tokenizer(check.MeasureDrift("m", "x", nil), 0.05, check.Result{}.Pos); got.Status != check.Skip {
		t.Errorf("nothing reported: %s, want a skip", got.Status)
	}
	one := check.MeasureDrift("m", "x", []check.Count{{Ours: 1000, Server: 1190}, {Ours: 1000, Server: 1190}})
	if one.Overhead != 0 || one.P50 != 0.19 {
		t.Errorf("prompts of one size: %+v; drift must not pass for overhead", one)
	}
}

// TestJournalHoldsWhatWasSentAndSaid, whole, for a live run.
func TestJournalHoldsWhatWasSentAndSaid(t *testing.T) {
	out := t.TempDir()
	eval(t, liveConfig(t, serve(t, nil), out), liveSpec(t, ""))
	j, err := journal.ReadFile(filepath.Join(out, "live/runs/a/port/L1/m/record/t2/calls.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if h := j.Header; !h.Live() || h.Trial != 2 || h.Query != "Which port?" {
		t.Errorf("header is %+v", h)
	}
	for _, c := range j.Calls {
		if !strings.Contains(c.User, "<section> [tool] a ") || c.Reply == "" || c.Usage == nil {
			t.Errorf("call is %+v", c)
		}
	}
}

// TestHeapDoesNotGrowWithLiveRuns: what stays of a run are its counts, a small part of its
// journal of 60 KB, whichever exit setting it has.
func TestHeapDoesNotGrowWithLiveRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector has a heap of its own")
	}
	server := serve(t, nil)
	most := func(trials int) (heap uint64) {
		lines := make([]string, 10)
		for i := range lines {
			lines[i] = fmt.Sprintf("%d %s", i, strings.Repeat("a word of a log ", 400))
		}
		path := filepath.Join(write(t, map[string]string{"s.jsonl": jsonl(lines...), "s.yaml": fmt.Sprintf(`
experiment: s
corpora: [{id: s, path: s.jsonl, chunk: {records: 1}}]
queries: [{id: q, text: "Which port?"}]
exit_gate: [record, enforce]
trials: %d
models: [{id: m, live: {base_url: "http://localhost/v1", model: m, seed: 7, max_connections: 2}}]
checks: {tokenizer: {max_undercount: 1}}
`, trials)}), "s.yaml")
		var mu sync.Mutex
		cfg := liveConfig(t, server, t.TempDir())
		cfg.Run.Timed = func(string, time.Duration) {
			mu.Lock()
			defer mu.Unlock()
			heap = max(heap, min(live(), live())) // what is made while one collects does not stay
		}
		if r := eval(t, cfg, path); r.Count(record.Complete) != 2*trials {
			t.Fatalf("%d of %d runs ended", r.Count(record.Complete), 2*trials)
		}
		return heap
	}
	most(2) // what is made once
	few, many := most(5), most(55)
	if grown := (float64(many) - float64(few)) / 100; grown > 32<<10 { // its texts alone are 64 KB
		t.Errorf("%.0f KB stay of a run: %d KB of heap with 10 runs, %d KB with 110", grown/1024, few>>10, many>>10)
	} else {
		t.Logf("%.1f KB stay of a run", grown/1024)
	}
}

// live is what a collection finds in use, in bytes.
func live() uint64 {
	runtime.GC()
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}
