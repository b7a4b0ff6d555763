package harness_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/harness/run"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/stat/decide"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/scripted"
)

// asked writes an experiment of so many queries over ten chunks, each with one evidence
// chunk, that decides on the models.
func asked(t testing.TB, queries int, models, extra string) string {
	return askedOf(t, queries, 10, models, extra)
}

func askedOf(t testing.TB, queries, chunks int, models, extra string) string {
	var texts, asks []string
	for i := range chunks {
		texts = append(texts, fmt.Sprintf("record %d", i+1))
	}
	for i := range queries {
		asks = append(asks, fmt.Sprintf("{id: q%d, text: \"What is in %d?\", evidence: [r%d]}", i+1, i+1, i%chunks+1))
	}
	dir := write(t, map[string]string{
		"s.jsonl": jsonl(texts...),
		"asked.yaml": "experiment: asked\ncorpora: [{id: s, path: s.jsonl, chunk: {records: 1}}]\nqueries: [" + strings.Join(asks, ", ") + "]\n" +
			models + "\n" + extra + "\n",
	})
	return filepath.Join(dir, "asked.yaml")
}

const (
	oracleOnly = "models: [{id: m, policy: oracle}]"
	decideOnM  = "decision: {id: M1.8, for: {models: [m]}, unit: query}" // of one session
)

// wantVerdict demands the verdict of the only decision, and the exit code with it.
func wantVerdict(t *testing.T, r *result.Result, verdict decide.Verdict, exit int, says string) result.Decision {
	t.Helper()
	if len(r.Decisions) != 1 {
		t.Fatalf("%d decisions, want 1", len(r.Decisions))
	}
	d := r.Decisions[0]
	if got := result.Exit(r); d.Verdict != verdict || got != exit || !strings.Contains(d.Reason, says) {
		t.Errorf("%s, exit %d: %s; want %s, exit %d, about %q", d.Verdict, got, d.Reason, verdict, exit, says)
	}
	return d
}

func TestOracleIsGoOnEnoughQueries(t *testing.T) {
	d := wantVerdict(t, eval(t, config(t), asked(t, 50, oracleOnly, decideOnM)), decide.Go, 0, "reaches its threshold")
	for _, c := range d.Criteria {
		if c.Units != 50 || *c.Estimate.Value != 1 {
			t.Errorf("%s rests on %s", c.Metric, c.Estimate)
		}
	}
}

func TestTooFewQueriesAreInconclusive(t *testing.T) {
	for _, queries := range []int{1, 9, 12} {
		d := wantVerdict(t, eval(t, config(t), asked(t, queries, oracleOnly, decideOnM)), decide.Inconclusive, 4, "")
		if d.Further == nil {
			t.Errorf("%d queries: nothing says how many more it takes", queries)
		}
	}
}

// overBudget has the oracle's gates, but every write is over the spec's memory budget.
type overBudget struct{ loop.Model }

func (m overBudget) Complete(ctx context.Context, r loop.Request) (loop.Completion, error) {
	c, err := m.Model.Complete(ctx, r)
	c.Text = strings.Replace(c.Text, "<update>", "<update>"+strings.Repeat("far too long ", 1000), 1)
	return c, err
}

// TestBadGatesAreNotGo: what knows nothing, and what remembers nothing, must not pass the
// shipped criteria, whatever single rate it is perfect in.
func TestBadGatesAreNotGo(t *testing.T) {
	for _, test := range []struct{ policy, perfect, fails string }{
		{"always_update", "recall_committed", "specificity_strict"},
		{"never_update", "specificity_strict", "recall_committed"},
		{"oracle", "recall_strict", "recall_committed"},
	} {
		t.Run(test.policy, func(t *testing.T) {
			cfg := config(t)
			if test.policy == "oracle" {
				cfg.Models = func(m run.ModelFor) (loop.Model, error) {
					oracle, err := factory(m)
					return overBudget{oracle}, err
				}
			}
			path := "../experiments/corpora/hotpotqa-dev-50.json"
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			dir := write(t, map[string]string{"h.json": string(data), "bad.yaml": "experiment: bad\n" +
				"corpora: [{id: h, import: {format: hotpotqa, path: h.json}, chunk: {records: 1}}]\n" +
				"models: [{id: m, policy: " + test.policy + "}]\n" + decideOnM})
			r := eval(t, cfg, filepath.Join(dir, "bad.yaml"))
			wantVerdict(t, r, decide.NoGo, 1, test.fails)
			if e, ok := r.Gates[0].Metric(test.perfect); !ok || *e.Value != 1 {
				t.Errorf("%s is %s, want 1", test.perfect, e)
			}
		})
	}
}

// failsAt loses the reply of one query at a turn.
func failsAt(query string, turn int) func(run.ModelFor) (loop.Model, error) {
	return func(m run.ModelFor) (loop.Model, error) {
		oracle, err := factory(m)
		return modelFunc(func(ctx context.Context, r loop.Request) (loop.Completion, error) {
			if m.Cell.Query == query && r.Turn == turn {
				return loop.Completion{}, errors.New("connection refused")
			}
			return oracle.Complete(ctx, r)
		}), err
	}
}

// TestMissingTurnsAreFailuresOfALowerBound: a verdict that holds whatever the missing replies
// were is made, with their number; the evaluation is incomplete all the same.
func TestMissingTurnsAreFailuresOfALowerBound(t *testing.T) {
	cfg := config(t)
	cfg.Models = failsAt("q7", 1)
	d := wantVerdict(t, eval(t, cfg, asked(t, 120, oracleOnly, decideOnM)), decide.Go, 3, "reaches its threshold")
	if said := strings.Join(d.Notes, "\n"); !strings.Contains(said, "10 turns of 1200 have no model reply") {
		t.Errorf("the notes are %q, want the number of missing turns", said)
	}
	wantVerdict(t, eval(t, cfg, asked(t, 60, oracleOnly, decideOnM)), decide.Invalid, 3, "10 of 600 turns had no model reply")
	allowed := strings.Replace(decideOnM, "unit", "missing_at_most: 0.02, unit", 1)
	wantVerdict(t, eval(t, cfg, asked(t, 60, oracleOnly, allowed)), decide.Inconclusive, 3, "lies between the bounds")
}

func TestInterruptedIsNeverGo(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cfg := config(t)
	cfg.Run.Parallel = 1
	cfg.Run.Progress = func(p run.Progress) {
		if p.Runs == 59 {
			cancel()
		}
	}
	e, err := prepare(t, cfg, asked(t, 60, oracleOnly, decideOnM))
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	wantVerdict(t, r, decide.Invalid, 130, "no model reply")
}

// TestChangedBytesAreInvalidAndFailed: the loop that loses a space on retain has perfect
// gates, and nothing is decided on it.
func TestChangedBytesAreInvalidAndFailed(t *testing.T) {
	cfg := config(t)
	cfg.Run.Loop = broken(func(c *loop.Config) {
		inner := c.Model
		c.Model = modelFunc(func(ctx context.Context, r loop.Request) (loop.Completion, error) {
			if r.Turn > 3 {
				r.User = strings.Replace(r.User, "record 2 </memory>", "record2 </memory>", 1)
			}
			return inner.Complete(ctx, r)
		})
	})
	r := eval(t, cfg, asked(t, 50, oracleOnly, decideOnM))
	d := wantVerdict(t, r, decide.Invalid, 1, "changed the memory's bytes")
	if d.Changed == 0 {
		t.Error("no turn is counted as changed")
	}
	for _, run := range r.Runs {
		if changed := run.Query == "q2" || run.Query == "q12"; changed && !slices.Equal(run.Changed, []int{3, 10}) {
			t.Errorf("%s changed at %v, want [3 10]: there, and back to what the outcome says", run.Name, run.Changed)
		}
	}
	if e, _ := r.Gates[0].Metric("retain_violations"); *e.Value != float64(d.Changed) {
		t.Errorf("retain_violations is %s, the decision counts %d", e, d.Changed)
	}
}

// TestSelectionIsNotDecidedOn: queries that were chosen by hand say nothing of the rest.
func TestSelectionIsNotDecidedOn(t *testing.T) {
	cfg := config(t)
	cfg.Select = func(c plan.Cell) bool { return c.Query != "q3" }
	d := wantVerdict(t, eval(t, cfg, asked(t, 50, oracleOnly, decideOnM)), "", 0, "")
	if d.Skipped != "49 of its 50 runs selected" {
		t.Errorf("skipped: %q", d.Skipped)
	}
}

// TestEachModelAndLevelIsDecidedApart also shows that enforced runs are in no decision.
func TestEachModelAndLevelIsDecidedApart(t *testing.T) {
	r := eval(t, config(t), asked(t, 50, "levels: [L1, L2]\nl2_source: chunks\nexit_gate: [record, enforce]\nmodels: [{id: m, policy: oracle}, {id: n, policy: never_update}]",
		"decision: {id: M1.8, for: {models: [n, m]}, unit: query, require: {specificity_strict: 0.9, recall_committed: 0.5}}"))
	var got []string
	for _, d := range r.Decisions {
		got = append(got, fmt.Sprint(d.Model, " ", d.Level, " ", d.Verdict, " ", d.Coverage.Runs, " ", d.Criteria[0].Metric))
	}
	want := []string{"n L1 NO-GO 50 specificity_strict", "n L2 NO-GO 50 specificity_strict", "m L1 GO 50 specificity_strict", "m L2 GO 50 specificity_strict"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestLookingAgainIsSaid: the folder's looks.jsonl remembers on how many queries a live model
// was decided before, also through an evaluation that decided nothing. Scripted models have no
// looks.
func TestLookingAgainIsSaid(t *testing.T) {
	cfg := config(t)
	cfg.Run.Live, cfg.Run.Resume = true, true
	cfg.Models = func(m run.ModelFor) (loop.Model, error) {
		oracle := scripted.Oracle{Truth: m.Truth, Budget: m.Budget.Memory, Counter: m.Count}
		if m.Model.Live != nil {
			return sampled{oracle}, nil
		}
		return oracle, nil
	}
	look := func(model string, queries int, only string) result.Decision {
		c := cfg
		if only != "" {
			c.Select = func(cell plan.Cell) bool { return cell.Query == only }
		}
		return eval(t, c, asked(t, queries, "models: [{id: m, "+model+"}]", decideOnM)).Decisions[0]
	}
	const live = `live: {base_url: "http://localhost/v1", model: m}`
	for _, step := range []struct {
		queries int
		only    string
		planned bool
		says    string
	}{
		{12, "", true, ""},
		{20, "", false, "decided before on 12 queries and no looks were planned"},
		{20, "", false, "decided before on 12 queries and no looks were planned"},
		{50, "q1", false, ""},
		{50, "", false, "decided before on 20 queries and no looks were planned"},
	} {
		d := look(live, step.queries, step.only)
		said := strings.Join(d.Notes, "\n")
		if d.Look.Planned != step.planned || step.says == "" && strings.Contains(said, "before") || !strings.Contains(said, step.says) || d.Verdict == decide.Go {
			t.Errorf("%d queries: %s, planned: %v, notes %q; want no GO, planned: %v, %q", step.queries, d.Verdict, d.Look.Planned, said, step.planned, step.says)
		}
	}
	cfg.Out, cfg.Run.Live, cfg.Run.Resume = t.TempDir(), false, false
	for range 2 {
		if d := look("policy: oracle", 12, ""); !d.Look.Planned {
			t.Errorf("a scripted model was decided before: %s", d.Look.Note)
		}
	}
	if _, err := os.Stat(filepath.Join(cfg.Out, "asked/runs/looks.jsonl")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("looks of a scripted model: %v", err)
	}
}

// TestUndefinedIsNeverNought: without evidence, recall and exit have no denominator.
func TestUndefinedIsNeverNought(t *testing.T) {
	path := asked(t, 12, oracleOnly, decideOnM+"\n")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(data), "evidence: [r", "answers: [r")), 0o666); err != nil {
		t.Fatal(err)
	}
	r := eval(t, config(t), path)
	wantVerdict(t, r, decide.Inconclusive, 4, "recall_committed: undefined: no evidence turns; exit_useful: undefined: no runs with evidence")
	text := marshal(t, r)
	if strings.Contains(text, "NaN") {
		t.Error("NaN in JSON")
	}
	for _, metric := range []string{"recall_strict", "exit_safe", "mcc", "sub_em", "flip_rate"} {
		if e, ok := r.Gates[0].Metric(metric); !ok || e.Value != nil || e.Reason == "" {
			t.Errorf("%s is %s", metric, e)
		}
	}
}

func TestMetricThatNoRunDefinesIsInconclusive(t *testing.T) {
	path := asked(t, 12, oracleOnly, "decision: {id: M1.8, for: {models: [m]}, unit: query, require: {recall_strict: 0.5}}")
	text := regexp.MustCompile(`evidence: \[r\d+\]`).ReplaceAll(read(t, path), []byte("answerable: false"))
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	wantVerdict(t, eval(t, config(t), path), decide.Inconclusive, 4, "recall_strict: undefined: no evidence turns")
}

func TestWrongCriteriaAreRefusedWhereTheyStand(t *testing.T) {
	for _, test := range []struct{ extra, want string }{
		{"decision: {id: x, for: {models: [m]}, require: {recal_strict: 0.5}}", `decision.require.recal_strict: found "recal_strict", want one of recall_committed`},
		{"decision: {id: x, for: {models: [m]}, require: {recal_strict: 0.5}}", `did you mean "recall_strict"?`},
		{"decision: {id: x, for: {models: [m]}, require: {exit_safe: 0.8, exit_premature: 0.3}}", "asked.yaml:5:65: decision.require.exit_premature: found a metric that cannot be a criterion (a criterion demands at least its threshold"},
		{"decision: {id: x, for: {models: [m]}, require: {exit_delay: 0.3}}", "an unbounded mean has no interval"},
		{"decision: {id: x, for: {models: [m]}, require: {pass_3: 0.3}}", "found a metric of 3 trials, want at most the spec's trials, 1"},
		{"compare: {baselines: [m], metrics: [recall]}", `compare.metrics[0]: found "recall"`},
		{"compare: {baselines: [m], metrics: [f1]}", "f1 cannot be compared"},
		{"decision: {id: x, for: {models: [m]}, require: {exit_useful: 1}}", "asked.yaml:5:49: decision.require.exit_useful: found 1, which no lower bound reaches"},
		{"decision: {id: x, for: {models: [m]}, require: {exit_useful: {at_least: 0.8, floor: 0.5}}}", "floor without by"},
		{"prompt: {template: none.txt}", "asked.yaml:5:20: prompt.template: "},
		{"prompt: {template: s.jsonl}", "prompt.template: template has 0 of {prompt}, want exactly one"},
	} {
		_, err := prepare(t, config(t), asked(t, 2, "models: [{id: m, policy: oracle}, {id: n, policy: lexical}]", test.extra))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s\n%v\nwant about %s", test.extra, err, test.want)
		}
	}
}

// TestRetainDrift counts ignored candidates that are not the memory, by hand: of a reply
// with "no", an update is ignored, but it tells what the model would have kept.
func TestRetainDrift(t *testing.T) {
	replies := []string{
		"<check>no</check><update>No previous memory</update><next>continue</next>", // the memory as the prompt shows it
		"<check>no</check><update>something</update><next>continue</next>",          // drift
		"<check>yes</check><update>m</update><next>continue</next>",
		"<check>no</check><update>m</update><next>continue</next>",
		"<check>no</check><update>m.</update><next>continue</next>", // drift
		"<check>no</check><next>continue</next>",
		"nonsense",
		"<check>no</check><update>m</update><next>continue</next>",
		"<check>no</check><next>continue</next>",
		"<check>no</check><next>continue</next>",
	}
	cfg := config(t)
	cfg.Models = func(run.ModelFor) (loop.Model, error) {
		return modelFunc(func(_ context.Context, r loop.Request) (loop.Completion, error) {
			return loop.Completion{Text: replies[r.Turn-1]}, nil
		}), nil
	}
	r := eval(t, cfg, asked(t, 1, oracleOnly, ""))
	if e, _ := r.Gates[0].Metric("retain_drift"); e.X != 2 || e.N != 5 {
		t.Errorf("retain_drift is %v of %v, want 2 of 5", e.X, e.N)
	}
	if e, _ := r.Gates[0].Metric("memory_slope"); e.Value == nil || *e.Value == 0 {
		t.Errorf("memory_slope is %s, want that of 0 0 1 … 1", e)
	}
}

// TestL2CountsWithLabelsFromL1: at L2 a memory is evidence when its run committed an
// evidence chunk, so what L1 forgot is no evidence at L2.
func TestL2CountsWithLabelsFromL1(t *testing.T) {
	dir := write(t, map[string]string{
		"a.jsonl": jsonl("port 1", "nothing"), "b.jsonl": jsonl("port 2", "nothing"), "c.jsonl": jsonl("nothing", "port 3"),
		"x.yaml": `
experiment: x
corpora:
  - {id: a, path: a.jsonl, chunk: {records: 1}}
  - {id: b, path: b.jsonl, chunk: {records: 1}}
  - {id: c, path: c.jsonl, chunk: {records: 1}}
queries: [{id: q, text: "Which?", evidence: [{match: port, all: true}]}]
levels: [L1, L2]
models: [{id: m, policy: oracle}]
`})
	cfg := config(t)
	cfg.Models = func(m run.ModelFor) (loop.Model, error) {
		if m.Cell.Session == "b" { // writes on what is no evidence
			for i := range m.Truth {
				m.Truth[i].Evidence = !m.Truth[i].Evidence
			}
			return scripted.Oracle{Truth: []scripted.Truth{{}, {Evidence: true, Excerpt: "junk"}}, Counter: m.Count}, nil
		}
		return factory(m)
	}
	r := eval(t, cfg, filepath.Join(dir, "x.yaml"))
	last := r.Runs[len(r.Runs)-1]
	if last.Level != 2 || last.Chunks != 3 || !slices.Equal(last.Evidence, []int{1, 3}) {
		t.Errorf("%s has evidence %v of %d chunks, want [1 3] of 3", last.Name, last.Evidence, last.Chunks)
	}
	if e, _ := r.Gates[1].Metric("recall_strict"); e.X != 2 || e.N != 2 {
		t.Errorf("recall at L2 is %v of %v, want 2 of 2", e.X, e.N)
	}
}

func TestBaselinesAreComparedOnRecordedRuns(t *testing.T) {
	r := eval(t, config(t), asked(t, 12, "exit_gate: [record, enforce]\nmodels: [{id: m, policy: oracle}, {id: base, policy: never_update}]",
		"compare: {baselines: [base], metrics: [recall_strict, specificity_strict], unit: query}"))
	if len(r.Comparisons) != 2 {
		t.Fatalf("%d comparisons, want 2", len(r.Comparisons))
	}
	c := r.Comparisons[0]
	if c.Baseline != "base" || c.Model != "m" || c.Level != spec.Level(1) || *c.Difference != 1 || !c.Significant() || c.Queries != 12 {
		t.Errorf("comparison is %+v", c)
	}
	if p, raw := *c.PHolm, *c.P; p != 2*raw {
		t.Errorf("p is %v, adjusted %v: want twice of it for two claims", raw, p)
	}
	if r.Comparisons[1].Significant() {
		t.Errorf("two perfect specificities differ: %+v", r.Comparisons[1])
	}
}

func TestPromptVariantIsMarked(t *testing.T) {
	template, err := os.ReadFile("../prompt/figure-10a.txt")
	if err != nil {
		t.Fatal(err)
	}
	for variant, want := range map[string]string{
		string(template):           "",
		string(template) + "\nNow": "not the paper's prompt: template ",
	} {
		path := asked(t, 2, oracleOnly, "prompt: {template: p.txt}")
		if err := os.WriteFile(filepath.Join(filepath.Dir(path), "p.txt"), []byte(variant), 0o666); err != nil {
			t.Fatal(err)
		}
		r := eval(t, config(t), path)
		wantPassed(t, r)
		if got := r.Prompt.Note; !strings.HasPrefix(got, want) || (got == "") != (want == "") {
			t.Errorf("marked %q, want %q", got, want)
		}
	}
}
