package harness_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/atomicfile"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/render"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/harness/run"
	"github.com/poimen-memory/mem/loop"
)

// wantJudged holds a result against what the records alone say, byte for byte. A run whose
// end is not in its record is left out: the evaluation alone knows of it.
func wantJudged(t testing.TB, e prepared, r *result.Result) {
	t.Helper()
	for _, run := range r.Runs {
		if strings.HasPrefix(run.Reason, "not begun") || strings.Contains(run.Reason, record.Calls) || run.Reason == "no such model" {
			return
		}
	}
	judged, err := e.Judge()
	if err != nil {
		t.Errorf("judging its records: %v", err)
		return
	}
	if diff := cmp.Diff(marshal(t, r), marshal(t, judged)); diff != "" {
		t.Errorf("its records say something else (-evaluated +judged):\n%s", diff)
	}
}

// saveReports writes all reports of a result into its folder.
func saveReports(t testing.TB, folder record.Folder, r *result.Result) map[string]string {
	t.Helper()
	if err := render.Save(atomicfile.Write, folder, r); err != nil {
		t.Fatal(err)
	}
	reports := map[string]string{}
	for _, name := range []string{record.Summary, record.Markdown, record.Page, record.JUnit} {
		reports[name] = string(read(t, folder.Path(name)))
	}
	return reports
}

// TestExperimentsPass evaluates every shipped experiment, and judges it again: every report has
// the same bytes, from runs/ alone.
func TestExperimentsPass(t *testing.T) {
	paths, err := filepath.Glob(experiments + "*.yaml")
	if err != nil || len(paths) < 9 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			if name := filepath.Base(path); testing.Short() && (name == "hotpotqa-long.yaml" || name == "needles.yaml" || name == "m1.8.yaml") {
				t.Skip("slow")
			}
			evaluated(t, strings.TrimSuffix(filepath.Base(path), ".yaml"))
		})
	}
}

func evaluateAndJudge(t *testing.T, path string) *result.Result {
	t.Helper()
	e, err := prepare(t, config(t), path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	wantPassed(t, r)
	reports := saveReports(t, e.Folder, r)
	for name := range reports {
		if err := os.Remove(e.Folder.Path(name)); err != nil {
			t.Fatal(err)
		}
	}
	again := config(t)
	again.Out = e.cfg.Out
	again.Models = func(run.ModelFor) (loop.Model, error) {
		t.Error("judge makes a model")
		return nil, io.EOF
	}
	if e, err = prepare(t, again, path); err != nil {
		t.Fatal(err)
	}
	judged, err := e.Judge()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range saveReports(t, e.Folder, judged) {
		if text != reports[name] {
			t.Errorf("%s differs: %d bytes, %d when evaluated", name, len(text), len(reports[name]))
		}
	}
	return r
}

const judgedSpec = `experiment: judged
corpora: [{id: s, path: s.jsonl, chunk: {records: 1}}]
queries: [{id: q, text: "Which port?", evidence: [r2], answers: ["6380"]}]
levels: [L1]
models: [{id: lexical, policy: lexical}, {id: never, policy: never_update}, {id: gates, script: gates.yaml}]
answer: {}
expect: [{model: never, chunks_used: 0}]
`

// judgedFolder evaluates judgedSpec with the model oracle beside its models, or without.
func judgedFolder(t *testing.T) (dir string, cfg harness.Config) {
	t.Helper()
	dir = write(t, map[string]string{
		"x.yaml": judgedSpec, "s.jsonl": jsonl("one", "the port is 6380", "three"),
		"oracle.yaml":   strings.NewReplacer("experiment: judged", "experiment: oracle", "{id: lexical, policy: lexical}", "{id: o, policy: oracle}").Replace(judgedSpec),
		"gates.yaml":    "turns: [{turn: 2, check: 'yes', update: the port is 6380, next: continue}]\ndefault: {check: 'no', next: continue}\nanswer: '6380'\n",
		"template.txt":  "Other words.\n<problem> {prompt} </problem>\n<memory> {memory} </memory>\n<section> {chunk} </section>",
		"answer.txt":    "Answer.\n<problem> {prompt} </problem>\n<memory> {memory} </memory>",
		"longer.jsonl":  jsonl("one", "the port is 6380", "three", "four"),
		"changed.jsonl": jsonl("one", "the port is 6381", "three"),
	})
	cfg = config(t)
	wantPassed(t, eval(t, cfg, filepath.Join(dir, "x.yaml")))
	wantPassed(t, eval(t, cfg, filepath.Join(dir, "oracle.yaml")))
	return dir, cfg
}

func judge(t *testing.T, cfg harness.Config, path string) (*result.Result, error) {
	t.Helper()
	e, err := prepare(t, cfg, path)
	if err != nil {
		t.Fatal(err)
	}
	return e.Judge()
}

// TestJudgeAnew: labels, answers, expectations and criteria are judged as the spec has them now.
func TestJudgeAnew(t *testing.T) {
	dir, cfg := judgedFolder(t)
	for name, change := range map[string][2]string{
		"labels":       {"evidence: [r2]", "evidence: [r3]"},
		"answers":      {`answers: ["6380"]`, `answers: ["7000"]`},
		"expectations": {"chunks_used: 0", "chunks_used: 3"},
		"a decision":   {"answer: {}", "answer: {}\ndecision: {id: D, for: {models: [never]}}"},
	} {
		t.Run(name, func(t *testing.T) {
			before, err := judge(t, cfg, filepath.Join(dir, "x.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, "changed.yaml")
			if err := os.WriteFile(path, []byte(strings.Replace(judgedSpec, change[0], change[1], 1)), 0o666); err != nil {
				t.Fatal(err)
			}
			after, err := judge(t, cfg, path)
			if err != nil {
				t.Fatal(err)
			}
			before.Spec, after.Spec = "", ""
			if marshal(t, before) == marshal(t, after) {
				t.Error("nothing changed")
			}
			if fresh := eval(t, config(t), path); marshal(t, withoutSpec(fresh)) != marshal(t, after) {
				t.Errorf("an evaluation says something else (-evaluated +judged):\n%s", cmp.Diff(marshal(t, fresh), marshal(t, after)))
			}
		})
	}
}

func withoutSpec(r *result.Result) *result.Result {
	r.Spec = ""
	return r
}

// TestJudgeRefuses records that were made under other circumstances, and says in what.
func TestJudgeRefuses(t *testing.T) {
	dir, cfg := judgedFolder(t)
	oracle := string(read(t, filepath.Join(dir, "oracle.yaml")))
	for name, test := range map[string]struct{ spec, old, new, says string }{
		"template":            {judgedSpec, "answer: {}", "answer: {}\nprompt: {template: template.txt}", "template was "},
		"system message":      {judgedSpec, "answer: {}", "answer: {}\nsystem: Be brief.", "system message was "},
		"question":            {judgedSpec, "Which port?", "What port?", `query was "Which port?" when recorded, is "What port?" now`},
		"budget":              {judgedSpec, "answer: {}", "answer: {}\nbudget: {memory: 512}", "budget.memory was 1024 when recorded, is 512 now"},
		"tokenizer":           {judgedSpec, "answer: {}", "answer: {}\ntokenizer: cl100k_base", "tokenizer was "},
		"chunking":            {judgedSpec, "records: 1", "records: 2", "s/q/L1/never/record: chunking.records was 1 when recorded, is 2 now"},
		"a grown session":     {judgedSpec, "s.jsonl", "longer.jsonl", `session was "3 records`},
		"another session":     {judgedSpec, "s.jsonl", "changed.jsonl", "session was "},
		"script":              {judgedSpec, "gates.yaml", "others.yaml", "s/q/L1/gates/record: model.script was "},
		"policy":              {judgedSpec, "policy: lexical", "policy: always_update", `s/q/L1/lexical/record: model.policy was "lexical" when recorded, is "always_update" now`},
		"answer template":     {judgedSpec, "answer: {}", "answer: {template: answer.txt}", "the prompt that asks for the answer is another now"},
		"answer limit":        {judgedSpec, "answer: {}", "answer: {max_tokens: 99}", "answer.max_tokens was 2048 when recorded, is 99 now"},
		"an oracle's session": {oracle, "s.jsonl", "changed.jsonl", "s/q/L1/o/record: session was "},
		"an oracle's chunks":  {oracle, "records: 1", "records: 2", "s/q/L1/o/record: chunking.records was 1"},
		"labels of an oracle": {oracle, "evidence: [r2]", "evidence: [r3]",
			"s/q/L1/o/record: model o was told labels that have changed: run mem eval, which executes model o again"},
	} {
		t.Run(name, func(t *testing.T) {
			script := strings.Replace(string(read(t, filepath.Join(dir, "gates.yaml"))), "turn: 2", "turn: 3", 1)
			for file, text := range map[string]string{"refused.yaml": strings.Replace(test.spec, test.old, test.new, 1), "others.yaml": script} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			_, err := judge(t, cfg, filepath.Join(dir, "refused.yaml"))
			if _, other := err.(result.OtherRecords); !other || !strings.Contains(err.Error(), test.says) {
				t.Errorf("error is %v, want one that says %q", err, test.says)
			}
		})
	}
}

// TestJudgeOfTheOracleNamesItsRecordsOnly: the other models' records are not at fault.
func TestJudgeOfTheOracleNamesItsRecordsOnly(t *testing.T) {
	dir, cfg := judgedFolder(t)
	path := filepath.Join(dir, "oracle.yaml")
	text := strings.Replace(string(read(t, path)), "evidence: [r2]", "evidence: [r3]", 1)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	_, err := judge(t, cfg, path)
	if other, ok := err.(result.OtherRecords); !ok || len(other) != 1 {
		t.Errorf("error is %v, want one about one record", err)
	}
}

// TestJudgeOfMissingAndTornRecords: a run without a whole record is incomplete, never fewer.
func TestJudgeOfMissingAndTornRecords(t *testing.T) {
	for name, test := range map[string]struct {
		damage func(dir string) error
		says   string
	}{
		"no record": {os.RemoveAll, "no record of it: run mem eval"},
		"no log":    {func(dir string) error { return os.Remove(filepath.Join(dir, record.Events)) }, "is not the log that its journal ends with"},
		"no end": {func(dir string) error { return cutFile(filepath.Join(dir, record.Calls), `{"end"`) },
			"its record was interrupted after turn 3: run mem eval"},
		"a changed log": {func(dir string) error {
			return rewriteFile(filepath.Join(dir, record.Events), `"attempts":1`, `"attempts":2`)
		},
			"is not the log that its journal ends with"},
		"a changed reply": {func(dir string) error { return rewriteFile(filepath.Join(dir, record.Calls), "continue", "contimue") }, "its chain is another"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, cfg := judgedFolder(t)
			if err := test.damage(filepath.Join(cfg.Out, "judged/runs/s/q/L1/never/record")); err != nil {
				t.Fatal(err)
			}
			r, err := judge(t, cfg, filepath.Join(dir, "x.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			var damaged result.Run
			for _, run := range r.Runs {
				if run.Model == "never" {
					damaged = run
				}
			}
			if damaged.State != record.Incomplete || !strings.Contains(damaged.Reason, test.says) || result.Exit(r) != 3 {
				t.Errorf("exit %d, %s: %s; want incomplete, and %q", result.Exit(r), damaged.State, damaged.Reason, test.says)
			}
			if n := r.Count(record.Complete); n != 2 {
				t.Errorf("%d runs are complete, want the other 2", n)
			}
		})
	}
}

func cutFile(path, from string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	head, _, _ := strings.Cut(string(text), from)
	return os.WriteFile(path, []byte(head), 0o666)
}

func rewriteFile(path, old, new string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(strings.Replace(string(text), old, new, 1)), 0o666)
}

// TestJudgeOfLiveAnswers: replies to another request for the answer are not those of the spec,
// also where the record holds what was sent and not its digest.
func TestJudgeOfLiveAnswers(t *testing.T) {
	path, server := liveSpec(t, "answer: {}\n"), serve(t, nil)
	cfg := liveConfig(t, server, t.TempDir())
	runs := len(eval(t, cfg, path).Runs)
	before := server.Requests()
	writeFile := func(name, text string) {
		if err := os.WriteFile(filepath.Join(filepath.Dir(path), name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	writeFile("answer.txt", "Answer.\n<problem> {prompt} </problem>\n<memory> {memory} </memory>")
	original := string(read(t, path))
	for answer, says := range map[string]string{
		"answer: {template: answer.txt}": "the prompt that asks for the answer is another now: judge it with the spec that it was made with",
		"answer: {max_tokens: 99}":       "answer.max_tokens was 2048 when recorded, is 99 now",
	} {
		writeFile("live.yaml", strings.Replace(original, "answer: {}", answer, 1))
		_, err := judge(t, cfg, path)
		if other, ok := err.(result.OtherRecords); !ok || len(other) != 12 || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: error is %v, want one about 12 records, those at L1, that says %q", answer, err, says)
		}
	}
	writeFile("live.yaml", strings.Replace(original, "evidence: [{match: port 6380, all: true}]", "evidence: []", 1))
	if r, err := judge(t, cfg, path); err != nil || len(r.Runs) != runs {
		t.Errorf("other labels: %v", err)
	}
	if n := server.Requests() - before; n != 0 {
		t.Errorf("judging made %d calls", n)
	}
}

// TestOtherRecordsAreGrouped by what differs: a line each, with the names of its records.
func TestOtherRecordsAreGrouped(t *testing.T) {
	var other result.OtherRecords
	for i := range 30 {
		other = append(other, result.OtherRecord{Run: fmt.Sprint("r", i), Why: "query was 1"})
	}
	for i := range 11 {
		other = append(other, result.OtherRecord{Run: fmt.Sprint("s", i), Why: fmt.Sprint("seed was ", i)})
	}
	want := `records that the spec does not describe:
  r0: query was 1
    the same: r1, r2, r3, r4, r5, r6, r7, r8, r9, r10 and 19 more
  s0: seed was 0
  s1: seed was 1
  s2: seed was 2
  s3: seed was 3
  s4: seed was 4
  s5: seed was 5
  s6: seed was 6
  s7: seed was 7
  s8: seed was 8
  and 2 more differences`
	if diff := cmp.Diff(want, other.Error()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
