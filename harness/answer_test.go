package harness_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/gate"
	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/explain"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/harness/run"
	"github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/harness/stat/answer"
	"github.com/poimen-memory/mem/harness/stat/decide"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/prompt"
	"github.com/poimen-memory/mem/scripted"
)

const answered = "answer: {max_tokens: 99}\n"

// TestLogsAreTheSameWithAndWithoutAnswers: an answer is no event.
func TestLogsAreTheSameWithAndWithoutAnswers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plain.yaml")
	text, err := os.ReadFile(experiments + "answers.yaml")
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs(experiments)
	if err != nil {
		t.Fatal(err)
	}
	plain := strings.NewReplacer("answer: {}", "", ": corpora/", ": "+root+"/corpora/", ": scripts/", ": "+root+"/scripts/").Replace(string(text))
	plain = plain[:strings.Index(plain, "golden:")]
	if err := os.WriteFile(path, []byte(plain), 0o666); err != nil {
		t.Fatal(err)
	}
	with, without := config(t), config(t)
	wantPassed(t, eval(t, with, experiments+"answers.yaml"))
	r := eval(t, without, path)
	wantPassed(t, r)
	logs := eventLogs(t, with.Out)
	if diff := cmp.Diff(logs, eventLogs(t, without.Out)); diff != "" || len(logs) != 10 {
		t.Errorf("%d logs (-with +without):\n%s", len(logs), diff)
	}
	if r.Answers != nil || r.Runs[0].Answer != nil || r.Prompt.Answer != "" {
		t.Errorf("there are answers without any asked for: %+v", r.Answers)
	}
}

// TestGatesAndAnswersAreToldApart: each of the four ways in which gates and answers go
// together is one of the shipped experiment's models.
func TestGatesAndAnswersAreToldApart(t *testing.T) {
	r := evaluated(t, "answers")
	wantPassed(t, r)
	want := map[string]stat.AnswerTable{
		"oracle": {Both: 1}, "useless": {GatesOnly: 1}, "mute": {GatesOnly: 1}, "lucky": {AnswerOnly: 1}, "never_update": {Neither: 1},
	}
	for _, row := range r.Answers {
		if diff := cmp.Diff(want[row.Model], row.Gates); diff != "" || row.Runs != 1 || row.NoAnswer != map[string]int{"mute": 1}[row.Model] {
			t.Errorf("%s %s: %+v (-want +got):\n%s", row.Model, row.ExitGate, row, diff)
		}
	}
	if len(r.Answers) != 10 {
		t.Errorf("%d rows", len(r.Answers))
	}
	i := slices.IndexFunc(r.Runs, func(run result.Run) bool { return run.Model == "mute" })
	mute := &result.Answer{
		Attempts: 3, Failures: []gate.Kind{gate.Length, gate.BlankAnswer, gate.UnclosedThink},
		References: []string{"6380"}, Score: &answer.Score{},
	}
	if diff := cmp.Diff(mute, r.Runs[i].Answer); diff != "" {
		t.Errorf("no answer (-want +got):\n%s", diff)
	}
	rows := r.Budgets[0].Rows
	if last := rows[len(rows)-1]; last.Component != prompt.AnswerPrompt || last.Max == 0 || last.Max > last.Limit {
		t.Errorf("the budget's last row is %+v", last)
	}
}

// wrongAnswers is a factory whose models say something else when asked for the answer.
func wrongAnswers(m run.ModelFor) (loop.Model, error) {
	model, err := factory(m)
	return modelFunc(func(ctx context.Context, r loop.Request) (loop.Completion, error) {
		c, err := model.Complete(ctx, r)
		if r.Turn == loop.AnswerTurn {
			c.Text = strings.ReplaceAll(c.Text, "6380", "6379")
		}
		return c, err
	}), err
}

// TestTwinsOfTheAnswerStep: another answer fails the expectation, another template the golden.
func TestTwinsOfTheAnswerStep(t *testing.T) {
	cfg := config(t)
	cfg.Models = wrongAnswers
	r := eval(t, cfg, experiments+"answers.yaml")
	wantOnly(t, r, "expect", "sub_em is 0, want 1")
	path := withAnswer(t, small(t, answered+"golden: [{file: a.txt, query: port, corpus: s, answer: true}]\n"))
	e, err := prepare(t, config(t), path)
	if err != nil {
		t.Fatal(err)
	}
	right := e.Goldens()[0].Prompt
	for text, status := range map[string]check.Status{right: check.Pass, strings.Replace(right, "alone", "only", 1): check.Fail} {
		if err := os.WriteFile(filepath.Join(filepath.Dir(path), "a.txt"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if got := e.Goldens()[0].Check(); got.Status != status {
			t.Errorf("the golden is %+v, want %s", got, status)
		}
	}
}

// TestNothingToScoreByIsSaid: queries without references are named, and in no score.
func TestNothingToScoreByIsSaid(t *testing.T) {
	path := small(t, answered+"expect: [{sub_em: 0}]\n")
	withAnswer(t, path)
	r := eval(t, config(t), path)
	wantOnly(t, r, "expect", "sub_em is undefined, want 0: the query has no answers")
	row := r.Answers[0]
	e, _ := row.Metric("sub_em")
	if diff := cmp.Diff([]string{"port"}, row.Unreferenced); diff != "" || e.Value != nil || row.Gates != (stat.AnswerTable{}) {
		t.Errorf("%+v\n%s", row, diff)
	}
}

// withAnswer gives the script of a small experiment an answer.
func withAnswer(t testing.TB, path string) string {
	t.Helper()
	gates := filepath.Join(filepath.Dir(path), "gates.yaml")
	if err := os.WriteFile(gates, append(read(t, gates), "answer: no idea\n"...), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestScriptWithoutTheAnswerIsAMistakeOfTheSpec: nothing runs.
func TestScriptWithoutTheAnswerIsAMistakeOfTheSpec(t *testing.T) {
	_, err := prepare(t, config(t), small(t, answered))
	if want := "small.yaml:5:30: models[0].script: "; err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "gates.yaml has no answer, and this spec asks for one: want answer: TEXT beside its turns") {
		t.Errorf("error is %v, want one at %s", err, want)
	}
}

// TestModelThatCannotAnswerIsMisconfigured, and its log is whole all the same.
func TestModelThatCannotAnswerIsMisconfigured(t *testing.T) {
	cfg := config(t)
	cfg.Models = func(run.ModelFor) (loop.Model, error) {
		script, err := scripted.ParseScript("gates.yaml", []byte("default: {check: 'no', next: continue}"))
		return script.Model(), err
	}
	r := eval(t, cfg, withAnswer(t, small(t, answered)))
	if run := r.Runs[0]; run.State != record.Misconfigured || !strings.Contains(run.Reason, "answer, attempt 1: ") || run.Answer != nil || result.Exit(r) != 2 {
		t.Errorf("%s: %s; exit %d", run.State, run.Reason, result.Exit(r))
	}
	for _, c := range r.Checks {
		if c.Check == "log" && c.Status != check.Pass {
			t.Errorf("%+v", c)
		}
	}
}

func TestResumedAnswersEqualUndisturbedOnes(t *testing.T) {
	resumedEqual(t, liveSpec(t, answered), 3)
}

// TestAnswersAreAskedOncePerMemory: runs that enforce the exit gate share the recorded
// run's answer where the memory is the same, and ask for their own where it is not.
func TestAnswersAreAskedOncePerMemory(t *testing.T) {
	path := liveSpec(t, "")
	out, server := t.TempDir(), serve(t, nil)
	eval(t, liveConfig(t, server, out), path)
	before := server.Requests()
	if err := os.WriteFile(path, append(read(t, path), answered...), 0o666); err != nil {
		t.Fatal(err)
	}
	cfg := liveConfig(t, server, out)
	cfg.Run.Resume = true
	r := eval(t, cfg, path)
	memories := map[string]*string{}
	want, shared := 0, 0
	for _, run := range r.Runs {
		if run.ExitGate == "record" {
			memories[run.Name] = run.FinalMemory
			want += run.Answer.Attempts
			continue
		}
		recorded := memories[strings.Replace(run.Name, "/enforce", "/record", 1)]
		if diff := cmp.Diff(recorded, run.FinalMemory); diff != "" {
			want += run.Answer.Attempts
		} else {
			shared++
		}
	}
	if got := server.Requests() - before; got != want || shared == 0 || shared == len(memories) {
		t.Errorf("%d requests for answers, want %d; %d of %d shared", got, want, shared, len(memories))
	}
	if server.Requests() != r.Usage[0].Calls {
		t.Errorf("%d requests, %d calls in the usage", server.Requests(), r.Usage[0].Calls)
	}
	cfg = liveConfig(t, serve(t, nil), out)
	cfg.Run.Resume = true
	if diff := cmp.Diff(marshal(t, r), marshal(t, eval(t, cfg, path))); diff != "" {
		t.Errorf("again (-first +resumed):\n%s", diff)
	}
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestAnswerThatDoesNotComeIsIncomplete: the gates are all known, and the run is not whole.
func TestAnswerThatDoesNotComeIsIncomplete(t *testing.T) {
	cfg := config(t)
	cfg.Models = func(m run.ModelFor) (loop.Model, error) {
		model, err := factory(m)
		return modelFunc(func(ctx context.Context, r loop.Request) (loop.Completion, error) {
			if r.Turn == loop.AnswerTurn {
				return loop.Completion{}, errors.New("connection refused")
			}
			return model.Complete(ctx, r)
		}), err
	}
	r := eval(t, cfg, withAnswer(t, small(t, answered)))
	if run := r.Runs[0]; run.State != record.Incomplete || run.Reason != "answer, attempt 1: connection refused" || run.ChunksSeen != 5 || run.Counts != nil || result.Exit(r) != 3 {
		t.Errorf("%s: %s; exit %d", run.State, run.Reason, result.Exit(r))
	}
	if r.Gates[0].Excluded != 1 || r.Answers != nil {
		t.Errorf("%+v, %+v", r.Gates[0], r.Answers)
	}
}

// TestAnswersAtL2 are scored by the references of the query, too.
func TestAnswersAtL2(t *testing.T) {
	dir := write(t, map[string]string{
		"a.jsonl": jsonl("one", "port 6380"), "b.jsonl": jsonl("two", "port 6391"),
		"x.yaml": `
experiment: x
answer: {}
corpora: [{id: a, path: a.jsonl, chunk: {records: 1}}, {id: b, path: b.jsonl, chunk: {records: 1}}]
queries: [{id: port, text: "Which ports?", evidence: [{match: port 6380}, {match: port 6391}], answers: ["6380", "6391"], all_answers: true}]
levels: [L1, L2]
models: [{id: oracle, policy: oracle}]
expect: [{level: L1, sub_em: 0.5}, {level: L2, sub_em: 1}]
`})
	r := eval(t, config(t), filepath.Join(dir, "x.yaml"))
	wantPassed(t, r)
	for _, table := range r.Budgets { // of a, of b, and of the memories that L2 reads
		if !slices.ContainsFunc(table.Rows, func(row check.BudgetRow) bool { return row.Component == prompt.AnswerPrompt && row.Max > 0 }) {
			t.Errorf("the budget of %s does not count the prompts for answers", table.Corpus)
		}
	}
	if len(r.Budgets) != 3 {
		t.Errorf("%d budgets, want 3", len(r.Budgets))
	}
}

// TestAnswerTemplates: a template of the user's is judged before anything runs.
func TestAnswerTemplates(t *testing.T) {
	for text, says := range map[string]string{
		"<problem>{prompt}</problem><memory>{memory}</memory>{chunk}": "template has {chunk}, want none",
		"<problem>{prompt}</problem>":                                 "template has 0 of {memory}, want exactly one",
		"":                                                            "t.txt: is empty, want a template",
		"<problem>{prompt}</problem><memory>{memory}</memory>\xff":                            "t.txt: is not UTF-8, want",
		strings.Repeat("word ", 401) + "<problem>{prompt}</problem><memory>{memory}</memory>": "template is over budget",
	} {
		path := small(t, "answer: {template: t.txt}\n")
		if err := os.WriteFile(filepath.Join(filepath.Dir(path), "t.txt"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := prepare(t, config(t), path)
		if err == nil || !strings.Contains(err.Error(), "small.yaml:6:20: answer.template: ") || !strings.Contains(err.Error(), says) {
			t.Errorf("error is %v, want %q", err, says)
		}
	}
	path := small(t, "prompt: {template: empty.txt}\n")
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "empty.txt"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := prepare(t, config(t), path); err == nil || !strings.Contains(err.Error(), "empty.txt: is empty, want a template") {
		t.Errorf("error is %v: an empty template stands for Figure 10a", err)
	}
	if _, err := prepare(t, config(t), small(t, "answer: {template: none.txt}\n")); err == nil || !strings.Contains(err.Error(), "none.txt: no such file") {
		t.Errorf("error is %v", err)
	}
}

// TestAnswersAreReadBack: what a folder says again is what was said, also of sub_em, and a
// folder with answers compares with one without in all but these.
func TestAnswersAreReadBack(t *testing.T) {
	dir, r := saved(t, config(t), experiments+"answers.yaml")
	runs, err := result.ReadRuns(record.Folder{Dir: dir}, r)
	if err != nil {
		t.Fatal(err)
	}
	for _, metric := range result.AnswerMetrics() {
		if e, err := explain.Metric(r, runs, metric); err != nil || len(e.Parts) != 10 || e.Parts[0].Queries[0].Levels[0].Value == nil {
			t.Errorf("%s: %v, %+v", metric, err, e.Parts)
		}
	}
	without := *r
	without.Prompt.Answer = ""
	if why, _ := result.Differences(r, &without); why != nil {
		t.Errorf("not comparable: %v", why)
	}
	without.Prompt.Answer = "another"
	if why, _ := result.Differences(r, &without); len(why) != 1 || !strings.Contains(why[0], "another answer template") {
		t.Errorf("comparable: %v", why)
	}
}

// TestAnswersAreDecidedOn: sub_em is a metric as any other.
func TestAnswersAreDecidedOn(t *testing.T) {
	path := askedOf(t, 12, 3, "models: [{id: m, policy: oracle}]", answered+"decision: {id: D, for: {models: [m]}, unit: query, require: {sub_em: 0.5}}")
	text := strings.ReplaceAll(string(read(t, path)), "evidence:", "answers: [record], evidence:")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	wantVerdict(t, eval(t, config(t), path), decide.Go, 0, "")
}
