package harness_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/models"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/harness/run"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/internal/digest"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/prompt"
)

const experiments = "../experiments/"

// factory is the product's own, to put broken models around.
func factory(r run.ModelFor) (loop.Model, error) {
	set, errs := models.Load(r.Spec, nil)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	return set.Model(r)
}

func config(t testing.TB) harness.Config { return harness.Config{Out: t.TempDir()} }

// write lays files out in a folder of their own and returns the folder.
func write(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// prepared is an experiment with the config that it was prepared with.
type prepared struct {
	harness.Experiment
	cfg harness.Config
}

func (p prepared) Run(ctx context.Context) (*result.Result, error) { return p.Evaluate(ctx, p.cfg) }

func prepare(t testing.TB, cfg harness.Config, path string) (prepared, error) {
	t.Helper()
	s, err := spec.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	all, err := harness.Prepare(t.Context(), cfg, []*spec.Spec{s})
	if err != nil {
		return prepared{}, err
	}
	return prepared{all[0], cfg}, nil
}

func eval(t testing.TB, cfg harness.Config, path string) *result.Result {
	t.Helper()
	e, err := prepare(t, cfg, path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	wantJudged(t, e, r)
	return r
}

// shared holds what evaluated has evaluated, by name.
var shared = map[string]*result.Result{}

// evaluated is the result of one of the shipped experiments, evaluated and judged once for all
// tests that only look at it. No test may change it.
func evaluated(t *testing.T, name string) *result.Result {
	t.Helper()
	if shared[name] == nil {
		shared[name] = evaluateAndJudge(t, experiments+name+".yaml")
	}
	return shared[name]
}

// failures are the results that failed, one a line.
func failures(r *result.Result) string {
	var b strings.Builder
	for _, c := range r.Checks {
		if c.Status == check.Fail {
			fmt.Fprintf(&b, "%s %s: %s\n", c.Check, c.Subject, c.Detail)
		}
	}
	return b.String()
}

func wantPassed(t *testing.T, r *result.Result) {
	t.Helper()
	if f := failures(r); f != "" || result.Exit(r) != 0 {
		t.Errorf("exit %d, failures:\n%s", result.Exit(r), f)
		for _, run := range r.Runs {
			if run.State != record.Complete {
				t.Logf("%s is %s: %s", run.Name, run.State, run.Reason)
			}
		}
	}
}

// wantOnly demands that one check, and nothing else, fails.
func wantOnly(t *testing.T, r *result.Result, name, says string) {
	t.Helper()
	found := false
	for _, c := range r.Checks {
		if c.Status != check.Fail {
			continue
		}
		if c.Check != name {
			t.Errorf("%s fails too: %s", c.Check, c.Detail)
		}
		found = found || strings.Contains(c.Detail, says)
	}
	if !found || result.Exit(r) != 1 {
		t.Errorf("exit %d, want 1 and a failure of %s that says %q:\n%s", result.Exit(r), name, says, failures(r))
	}
}

func jsonl(texts ...string) string {
	var b strings.Builder
	for i, text := range texts {
		line, _ := json.Marshal(map[string]string{"role": "tool", "text": text, "id": fmt.Sprint("r", i+1)})
		b.Write(append(line, '\n'))
	}
	return b.String()
}

// small is an experiment of one script over five chunks, with one write at turn 2.
func small(t testing.TB, extra string) string {
	dir := write(t, map[string]string{
		"s.jsonl": jsonl("one", "port 6380", "three", "four", "five"),
		"gates.yaml": `
turns:
  - {turn: 2, check: "yes", update: "the port is 6380", next: continue}
default: {check: "no", next: continue}
`,
		"small.yaml": `
experiment: small
corpora: [{id: s, path: s.jsonl, chunk: {records: 1}}]
queries: [{id: port, text: "Which port?", evidence: [r2]}]
models: [{id: gates, script: gates.yaml}]
` + extra,
	})
	return filepath.Join(dir, "small.yaml")
}

const asExpected = `
expect: [{model: gates, chunks_seen: 5, chunks_used: 1, calls: 5, final_memory: the port is 6380}]
`

func TestSmallExperimentPasses(t *testing.T) {
	r := eval(t, config(t), small(t, asExpected))
	wantPassed(t, r)
	got := map[string]int{}
	for _, c := range r.Checks {
		got[c.Check+" "+string(c.Status)]++
	}
	for _, want := range []string{"budget pass", "retain pass", "log pass", "expect pass"} {
		if got[want] != 1 {
			t.Errorf("%d results of %s, want 1; all: %v", got[want], want, got)
		}
	}
}

// broken is loop.Run, but its model calls or events pass through a change.
func broken(change func(cfg *loop.Config)) run.Loop {
	return func(ctx context.Context, cfg loop.Config, q string, c chunkSeq) (loop.Outcome, error) {
		change(&cfg)
		return loop.Run(ctx, cfg, q, c)
	}
}

type modelFunc func(context.Context, loop.Request) (loop.Completion, error)

func (f modelFunc) Complete(ctx context.Context, r loop.Request) (loop.Completion, error) {
	return f(ctx, r)
}

type sinkFunc func([]loop.Event) error

func (f sinkFunc) Emit(unit []loop.Event) error { return f(unit) }

// TestTwinThatLosesASpaceOnRetain: outcome, log and every count are right; one byte of a
// sent prompt is not. Only the check that reads what was sent can see it.
func TestTwinThatLosesASpaceOnRetain(t *testing.T) {
	cfg := config(t)
	cfg.Run.Loop = broken(func(c *loop.Config) {
		inner := c.Model
		c.Model = modelFunc(func(ctx context.Context, r loop.Request) (loop.Completion, error) {
			if r.Turn == 4 {
				r.User = strings.Replace(r.User, "6380 </memory>", "6380</memory>", 1)
			}
			return inner.Complete(ctx, r)
		})
	})
	r := eval(t, cfg, small(t, asExpected))
	wantOnly(t, r, "retain", `the prompt of turn 4: memory bytes differ from those retained at turn 3 after "no": at byte 17 want " ", got its end`)
	honest := eval(t, config(t), small(t, asExpected))
	if honest.Runs[0].Facts.ChunksUsed != r.Runs[0].Facts.ChunksUsed || *honest.Runs[0].FinalMemory != *r.Runs[0].FinalMemory {
		t.Error("the broken loop differs in its counts or outcome: it proves nothing")
	}
}

// TestTwinThatLosesAByteAfterTheLastTurn: no later prompt shows it, the outcome does.
func TestTwinThatLosesAByteAfterTheLastTurn(t *testing.T) {
	cfg := config(t)
	cfg.Run.Loop = func(ctx context.Context, c loop.Config, q string, chunks chunkSeq) (loop.Outcome, error) {
		out, err := loop.Run(ctx, c, q, chunks)
		cut := *out.Memory
		cut.Raw = strings.TrimSuffix(cut.Raw, "0")
		out.Memory = &cut
		return out, err
	}
	r := eval(t, cfg, small(t, ""))
	wantOnly(t, r, "retain", `the outcome's memory: memory bytes differ from those retained at turn 5 after "no"`)
}

// TestTwinThatWritesAnotherMemory: what was logged as written is not what is sent.
func TestTwinThatWritesAnotherMemory(t *testing.T) {
	cfg := config(t)
	cfg.Run.Loop = broken(func(c *loop.Config) {
		inner := c.Model
		c.Model = modelFunc(func(ctx context.Context, r loop.Request) (loop.Completion, error) {
			if r.Turn >= 3 {
				r.User = strings.Replace(r.User, "<memory> the port is", "<memory> The port is", 1)
			}
			return inner.Complete(ctx, r)
		})
	})
	wantOnly(t, eval(t, cfg, small(t, asExpected)), "retain", "the prompt of turn 3: memory bytes differ from those written at turn 2")
}

// TestTwinThatChangesARetry: a retry must send the same bytes.
func TestTwinThatChangesARetry(t *testing.T) {
	cfg := config(t)
	cfg.Run.Loop = broken(func(c *loop.Config) {
		inner := c.Model
		c.Model = modelFunc(func(ctx context.Context, r loop.Request) (loop.Completion, error) {
			if r.Attempt == 2 {
				r.User += "\nPlease mind the format."
			}
			return inner.Complete(ctx, r)
		})
	})
	path := small(t, "")
	os.WriteFile(filepath.Join(filepath.Dir(path), "gates.yaml"), []byte("default: {attempts: [{raw: what}, {check: \"no\", next: continue}]}\n"), 0o666)
	wantOnly(t, eval(t, cfg, path), "retain", "turn 1: a retry sent other bytes than the first attempt")
}

// TestTwinThatDropsALogLine drops an event on its way to the log, and nothing else.
func TestTwinThatDropsALogLine(t *testing.T) {
	for _, drop := range []string{"run_start", "gate", "evidence", "memory"} {
		cfg := config(t)
		cfg.Run.Loop = broken(func(c *loop.Config) {
			inner, dropped := c.Sink, false
			c.Sink = sinkFunc(func(unit []loop.Event) error {
				var kept []loop.Event
				for _, e := range unit {
					if e.Type() == drop && !dropped && (len(unit) > 1 || drop == "run_start") {
						dropped = true
						continue
					}
					kept = append(kept, e)
				}
				if kept == nil {
					return nil
				}
				return inner.Emit(kept)
			})
		})
		r := eval(t, cfg, small(t, ""))
		if f := failures(r); !strings.Contains(f, "log s/port/L1/gates/record: events.jsonl:") {
			t.Errorf("%s dropped: the log check did not fail:\n%s", drop, f)
		}
	}
}

// TestTwinTemplateWithAnotherComma: the golden is what holds the wording.
func TestTwinTemplateWithAnotherComma(t *testing.T) {
	path := small(t, "golden: [{file: t1.txt, query: port, corpus: s, turn: 1}]\n")
	honest, err := prepare(t, config(t), path)
	if err != nil {
		t.Fatal(err)
	}
	golden := honest.Goldens()[0]
	entry := fmt.Sprintf(`{"date":"2026-11-30","file":"t1.txt","old":null,"new":%q,"reason":"first"}`+"\n", digest.Of(golden.Prompt))
	for path, text := range map[string]string{golden.File: golden.Prompt, golden.LedgerPath(): entry} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	wantPassed(t, eval(t, config(t), path))
	cfg := config(t)
	cfg.Template = strings.Replace(prompt.Figure10a, "a problem, a section", "a problem; a section", 1)
	r := eval(t, cfg, path)
	wantOnly(t, r, "golden", `at byte 32 want ", a section`)
	if d := r.Checks[0].Diff; !strings.Contains(d, "-You are presented with a problem, a section") || !strings.Contains(d, "+You are presented with a problem; a section") {
		t.Errorf("diff is:\n%s", d)
	}
}

func TestMissingGoldenFailsAndSaysHowToMakeIt(t *testing.T) {
	r := eval(t, config(t), small(t, "golden: [{file: t1.txt, query: port, corpus: s, turn: 1}]\n"))
	wantOnly(t, r, "golden", "the file is missing; to make it: mem golden update ")
}

// TestCorpusPackedOverTheLimit: the median fits, the percentile does not, and the failure
// names the component. Checking medians, or small fixtures, passes this corpus.
func TestCorpusPackedOverTheLimit(t *testing.T) {
	var texts []string
	for i := range 24 {
		words := 4500
		if i%6 == 5 {
			words = 7500
		}
		texts = append(texts, strings.Repeat("word ", words))
	}
	dir := write(t, map[string]string{
		"long.jsonl": jsonl(texts...),
		"long.yaml": `
experiment: long
corpora: [{id: long, path: long.jsonl, chunk: {records: 1}}]
queries: [{id: q, text: "What?"}]
models: [{id: never, policy: never_update}]
`,
	})
	r := eval(t, config(t), filepath.Join(dir, "long.yaml"))
	table := r.Budgets[0]
	var section check.BudgetRow
	for _, row := range table.Rows {
		if row.Component == prompt.Section {
			section = row
		}
	}
	if section.P50 > 5000 || section.P95 <= 5000 {
		t.Fatalf("section is %+v: want a median that fits and a p95 that does not", section)
	}
	f := failures(r)
	if !strings.Contains(f, "budget long: section is over budget: limit 5000 tokens") || result.Exit(r) != 1 {
		t.Errorf("exit %d, failures:\n%s", result.Exit(r), f)
	}
	if run := r.Runs[0]; run.State != record.Failed || !strings.Contains(run.Reason, "section is over budget") {
		t.Errorf("the run is %s: %s; want failed by section", run.State, run.Reason)
	}
}

// TestWhatWasSentIsCounted: a loop that sends more than its components is over budget, and
// what retain compares is held against the template, not against what came first.
func TestWhatWasSentIsCounted(t *testing.T) {
	sends := func(change func(*loop.Request)) run.Loop {
		return broken(func(c *loop.Config) {
			inner := c.Model
			c.Model = modelFunc(func(ctx context.Context, r loop.Request) (loop.Completion, error) {
				change(&r)
				return inner.Complete(ctx, r)
			})
		})
	}
	cfg := config(t)
	cfg.Run.Loop = sends(func(r *loop.Request) { r.User += strings.Repeat(" word", 40000) })
	wantOnly(t, eval(t, cfg, small(t, "")), "budget", "prompt is over budget: limit 30720 tokens")
	cfg = config(t)
	cfg.Run.Loop = sends(func(r *loop.Request) { r.System = strings.Repeat(" word", 40000) })
	wantOnly(t, eval(t, cfg, small(t, "")), "budget", "prompt is over budget: limit 30720 tokens")
	cfg = config(t)
	cfg.Run.Loop = sends(func(r *loop.Request) { r.User = strings.Replace(r.User, "<memory> ", "<memory>  ", 1) })
	wantOnly(t, eval(t, cfg, small(t, "")), "retain", "turn 1: the memory is")
}

func TestMinHeadroom(t *testing.T) {
	wantPassed(t, eval(t, config(t), small(t, "checks: {budget: {min_headroom: 29000}}\n")))
	r := eval(t, config(t), small(t, "checks: {budget: {min_headroom: 29500}}\n"))
	wantOnly(t, r, "budget", "want at least 29500")
}

func TestExpectationThatIsNotMetFails(t *testing.T) {
	for row, says := range map[string]string{
		"chunks_seen: 4":         "chunks_seen is 5, want 4",
		"chunks_used: 0":         "chunks_used is 1, want 0",
		"calls: 6":               "calls is 5, want 6",
		"exits: 1":               "exits is 0, want 1",
		"budget_exceeded: 1":     "budget_exceeded is 0, want 1",
		"parse_failed: 1":        "parse_failed is 0, want 1",
		"stopped_by: exit_gate":  `stopped_by is "source_end", want "exit_gate"`,
		"final_memory: null":     `final_memory is "the port is 6380", want none`,
		"final_memory: the port": `final_memory differs: at byte 8 want its end, got " is 6380"`,
	} {
		wantOnly(t, eval(t, config(t), small(t, "expect: [{model: gates, "+row+"}]\n")), "expect", says)
	}
}

// tree is every file below dir but what a clock touches.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(name)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func marshal(t testing.TB, r *result.Result) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
