package harness_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/explain"
	"github.com/poimen-memory/mem/harness/forecast"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/render"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/harness/result/paired"
	"github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/harness/stat/compare"
)

// saved evaluates a spec and writes its summary as mem eval does.
func saved(t testing.TB, cfg harness.Config, path string) (dir string, r *result.Result) {
	t.Helper()
	r = eval(t, cfg, path)
	var b bytes.Buffer
	if err := render.JSON(&b, r); err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(cfg.Out, r.Experiment)
	if err := os.WriteFile(filepath.Join(dir, "summary.json"), b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return dir, r
}

const everyKind = `levels: [L1, L2]
l2_source: chunks
exit_gate: [record, enforce]
trials: 2
models: [{id: m, policy: noisy_oracle, wrong_update: 0.2, wrong_exit: 0.1, malformed: 0.2, seed: 3}, {id: base, policy: lexical}]`

// TestLogsTellTheSame: what was counted while it ran is what the logs say, metric by
// metric; the summary comes back as it was written.
func TestLogsTellTheSame(t *testing.T) {
	dir, live := saved(t, config(t), asked(t, 12, everyKind, decideOnM+"\ncompare: {baselines: [base]}"))
	r, err := result.Load(record.Folder{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	var before, after bytes.Buffer
	if err := render.JSON(&before, live); err != nil {
		t.Fatal(err)
	}
	if err := render.JSON(&after, r); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before.String(), after.String()); diff != "" {
		t.Errorf("summary.json (-written +read)\n%s", diff)
	}
	runs, err := result.ReadRuns(record.Folder{Dir: dir}, r)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range live.Gates {
		var of []stat.Run
		for _, run := range runs {
			if run.Model == row.Model && run.Level == row.Level.String() && run.Exit == row.ExitGate {
				of = append(of, run)
			}
		}
		if diff := cmp.Diff(row.Metrics, stat.Collect(of).Measure(row.Metrics[0].Unit)); diff != "" || len(of) == 0 {
			t.Errorf("%s, %s, %s: %d runs (-live +logs)\n%s", row.Model, row.Level, row.ExitGate, len(of), diff)
		}
	}
	for _, row := range live.Gates { // the counts of queries add up
		var sum stat.Counts
		for _, q := range row.Queries {
			sum = sum.Add(q.Counts)
		}
		if sum != row.Counts || len(row.Queries) != 12 {
			t.Errorf("%s: queries add up to %+v, want %+v", row.Model, sum, row.Counts)
		}
	}
}

func TestIncompleteRunsAreReadAsFarAsTheyCame(t *testing.T) {
	cfg := config(t)
	cfg.Models = failsAt("q3", 5)
	dir, r := saved(t, cfg, asked(t, 4, oracleOnly, ""))
	runs, err := result.ReadRuns(record.Folder{Dir: dir}, r)
	if err != nil {
		t.Fatal(err)
	}
	if c := stat.Collect(runs).Coverage(); c != (stat.Coverage{Runs: 4, Incomplete: 1, Turns: 40, Missing: 10}) {
		t.Errorf("coverage is %+v", c)
	}
}

func TestExplainTracesEveryNumber(t *testing.T) {
	dir, r := saved(t, config(t), asked(t, 12, everyKind, ""))
	runs, err := result.ReadRuns(record.Folder{Dir: dir}, r)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range stat.Definitions() {
		e, err := explain.Metric(r, runs, d.Name)
		if err != nil {
			t.Error(err)
			continue
		}
		if len(e.Parts) != 4 {
			t.Errorf("%s: %d parts, want one for each model and exit setting", d.Name, len(e.Parts))
		}
		for _, p := range e.Parts {
			checkTraced(t, d, p)
			for i, whole := range p.Whole {
				x, n := 0.0, 0.0
				for _, q := range p.Queries {
					x, n = x+q.Levels[i].X, n+q.Levels[i].N
				}
				if diff := x - whole.X; n != whole.N || diff > 1e-6 || diff < -1e-6 {
					t.Errorf("%s of %s: queries add up to %v of %v, the whole is %v of %v", d.Name, p.Model, x, n, whole.X, whole.N)
				}
			}
		}
	}
	if _, err := explain.Metric(r, runs, "recal_strict"); err == nil || !strings.Contains(err.Error(), `did you mean "recall_strict"?`) {
		t.Errorf("error %v", err)
	}
	runs[0].Turns[0].FirstTry = !runs[0].Turns[0].FirstTry
	if _, err := explain.Metric(r, runs, "first_try_parse"); err == nil || !strings.Contains(err.Error(), "not as it was written") {
		t.Errorf("changed logs: error %v", err)
	}
}

// checkTraced: turns are those of runs, and add up to the metric, unless it is computed of
// two rates or of several trials.
func checkTraced(t *testing.T, d stat.Definition, p explain.Part) {
	t.Helper()
	x, n, against := 0.0, 0.0, 0
	for _, turn := range p.Turns {
		x, n, against = x+turn.X, n+turn.N, against+map[bool]int{true: 1}[turn.Against]
		if !strings.Contains(turn.Run, "/"+turn.Query+"/") || turn.Said == "" || turn.Number > 10 {
			t.Errorf("%s: found turn %+v", d.Name, turn)
		}
	}
	whole := stat.Estimate{}
	for _, w := range p.Whole {
		whole.X, whole.N = whole.X+w.X, whole.N+w.N
	}
	if whole.N > 0 && d.Name != "memory_slope" && !strings.Contains(d.Name, "flip") && (n != whole.N || math.Abs(x-whole.X) > 1e-6) {
		t.Errorf("%s of %s: turns add up to %v of %v, the whole is %v of %v", d.Name, p.Model, x, n, whole.X, whole.N)
	}
	if d.Better == stat.Higher && whole.N > 0 && (against > 0) != (whole.X < whole.N) {
		t.Errorf("%s of %s: %d turns count against %v of %v", d.Name, p.Model, against, whole.X, whole.N)
	}
}

func TestFoldersThatCannotBeRead(t *testing.T) {
	dir, r := saved(t, config(t), asked(t, 2, oracleOnly, ""))
	log := filepath.Join(dir, "runs", filepath.FromSlash(r.Runs[0].Name), "events.jsonl")
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(data), "\n")
	if err := os.WriteFile(log, []byte(strings.Join(lines[:5], "")), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := result.ReadRuns(record.Folder{Dir: dir}, r); err == nil || !strings.Contains(err.Error(), "run s/q1/L1/m/record: events.jsonl holds 2 turns, summary.json says 10") {
		t.Errorf("cut log: error %v", err)
	}
	for text, want := range map[string]string{
		`{"schema": 1}`: "found schema 1, this program reads 3: run mem eval again",
		`{}`:            "found schema 0",
		`[`:             "unexpected end of JSON input",
	} {
		if err := os.WriteFile(filepath.Join(dir, "summary.json"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := result.Load(record.Folder{Dir: dir}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want about %q", text, err, want)
		}
	}
	if _, err := result.Load(record.Folder{Dir: filepath.Join(dir, "none")}); err == nil || !strings.Contains(err.Error(), "want the folder of an experiment") {
		t.Errorf("no folder: error %v", err)
	}
}

// TestWhatMustNotBeCompared changes one thing at a time.
func TestWhatMustNotBeCompared(t *testing.T) {
	base := eval(t, config(t), asked(t, 3, oracleOnly, ""))
	for _, test := range []struct {
		models, extra, settings, data string
		change                        func(path string)
	}{
		{oracleOnly, "", "", "", nil},
		{"models: [{id: n, policy: lexical}]", "", "", "", nil},
		{oracleOnly, "budget: {memory: 500}", "another budget: ", "", nil},
		{oracleOnly, "tokenizer: cl100k_base", "", "another tokenizer: o200k_base and cl100k_base", nil},
		{oracleOnly, "system: Be brief.", "another system message", "", nil},
		{oracleOnly, "", "", "another corpus: other chunks or labels of s/q1, s/q2, s/q3 (3)", func(dir string) { replace(t, dir, "s.jsonl", "record 9", "record nine") }},
		{oracleOnly, "", "", "another corpus: other chunks or labels of s/q2 (1)", func(dir string) { replace(t, dir, "asked.yaml", "[r2]", "[r2, r5]") }},
	} {
		path := asked(t, 3, test.models, test.extra)
		if test.change != nil {
			test.change(filepath.Dir(path))
		}
		settings, data := result.Differences(base, eval(t, config(t), path))
		for _, of := range []struct {
			got  []string
			want string
		}{{settings, test.settings}, {data, test.data}} {
			if len(of.got) > 1 || (len(of.got) == 0) != (of.want == "") || !strings.HasPrefix(strings.Join(of.got, ""), of.want) {
				t.Errorf("%s: %q, want %q", test.extra, of.got, of.want)
			}
		}
	}
}

func replace(t *testing.T, dir, file, old, by string) {
	t.Helper()
	path := filepath.Join(dir, file)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(data), old, by, 1)), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestBestIsMarkedOnlyWhereItIs: the better of two that hardly differ is first, unmarked.
func TestBestIsMarkedOnlyWhereItIs(t *testing.T) {
	dir, r := saved(t, config(t), asked(t, 30, `models:
  - {id: never, policy: never_update}
  - {id: m, policy: oracle}
  - {id: noisy, policy: noisy_oracle, wrong_update: 0.1, seed: 1}`, ""))
	runs, err := result.ReadRuns(record.Folder{Dir: dir}, r)
	if err != nil {
		t.Fatal(err)
	}
	var sides []paired.Side
	for _, model := range []string{"never", "noisy", "m"} {
		s := paired.Side{Name: model}
		for _, run := range runs {
			if run.Model == model {
				s.Runs = append(s.Runs, run)
			}
		}
		sides = append(sides, s)
	}
	rank := func(sides ...paired.Side) (names []string) {
		pairs, err := paired.Compare(paired.All(sides), []string{"recall_committed"}, compare.Config{Unit: stat.ByQuery})
		if err != nil {
			t.Fatal(err)
		}
		ranking, err := paired.Rank(sides, "recall_committed", stat.ByQuery, pairs)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range ranking.Rows {
			names = append(names, fmt.Sprint(row.Name, row.Levels[0].Best))
		}
		return names
	}
	if diff := cmp.Diff([]string{"mfalse", "noisyfalse", "neverfalse"}, rank(sides...)); diff != "" {
		t.Errorf("three sides (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"mtrue", "neverfalse"}, rank(sides[0], sides[2])); diff != "" {
		t.Errorf("two sides (-want +got)\n%s", diff)
	}
}

// TestOutlook: more trials never need more queries, a model at its threshold is never
// decided, a bad one is NO-GO early.
func TestOutlook(t *testing.T) {
	e, err := prepare(t, config(t), asked(t, 10, oracleOnly, "trials: 2\ndecision: {id: x, for: {models: [m]}, require: {recall_committed: 0.8, first_try_parse: 0.9}}"))
	if err != nil {
		t.Fatal(err)
	}
	outlook := func(cfg forecast.OutlookConfig) forecast.Outlook {
		cfg.Repetitions, cfg.Most = 100, 300
		o, err := forecast.Decision(e.Plan, cfg)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	o := outlook(forecast.OutlookConfig{ICC: 0.05})
	if o.Queries != 10 || o.Assume[0].PerTrial != 1 || o.Assume[1].PerTrial != 10 || o.Assume[0].Rate != 0.9 {
		t.Errorf("outlook is on %d queries with %+v", o.Queries, o.Assume)
	}
	var trials []int
	for i, row := range o.Rows {
		trials = append(trials, row.Trials)
		if !row.Decided || i > 0 && row.Power.Queries > o.Rows[i-1].Power.Queries {
			t.Errorf("%d trials take %d queries, decided %v", row.Trials, row.Power.Queries, row.Decided)
		}
		if want := row.Power.Queries * row.Trials * 10; row.Cost.Calls != want {
			t.Errorf("%d calls, want %d", row.Cost.Calls, want)
		}
	}
	if diff := cmp.Diff([]int{1, 2, 3, 5}, trials); diff != "" {
		t.Error(diff)
	}
	if o := outlook(forecast.OutlookConfig{Rates: map[string]float64{"recall_committed": 0.8}}); o.Rows[0].Decided {
		t.Errorf("at its threshold it is decided: %+v", o.Rows[0])
	}
	if o := outlook(forecast.OutlookConfig{Rates: map[string]float64{"recall_committed": 0.2}}); o.Rows[0].Power.Queries > 20 || o.Rows[0].Power.Go > 0 {
		t.Errorf("a bad model takes %+v", o.Rows[0])
	}
	for _, cfg := range []forecast.OutlookConfig{
		{Rates: map[string]float64{"recal_committed": 0.8}}, {Rates: map[string]float64{"recall_committed": 1.8}}, {ICC: 1},
	} {
		if _, err := forecast.Decision(e.Plan, cfg); err == nil {
			t.Errorf("%+v is taken", cfg)
		}
	}
}

// BenchmarkReport reads 100,000 turns of 2,000 runs back, explains a metric and renders
// the report. It fails if the fastest time is above 3 s.
func BenchmarkReport(b *testing.B) {
	cfg := config(b)
	var rows []string
	for i := range 4 {
		rows = append(rows, fmt.Sprintf("{id: m%d, policy: never_update}", i))
	}
	dir, _ := saved(b, cfg, askedOf(b, 100, 50, "trials: 5\nmodels: ["+strings.Join(rows, ", ")+"]", ""))
	fastest := time.Hour
	for b.Loop() {
		start := time.Now()
		r, err := result.Load(record.Folder{Dir: dir})
		if err != nil {
			b.Fatal(err)
		}
		runs, err := result.ReadRuns(record.Folder{Dir: dir}, r)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := explain.Metric(r, runs, "exit_safe"); err != nil {
			b.Fatal(err)
		}
		var out bytes.Buffer
		if err := render.Markdown(&out, r); err != nil {
			b.Fatal(err)
		}
		fastest = min(fastest, time.Since(start))
	}
	if fastest > 3*time.Second {
		b.Errorf("took %v, want at most 3 s", fastest)
	}
}
