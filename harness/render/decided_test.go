package render_test

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/render"
	"github.com/poimen-memory/mem/harness/render/internal/rendertest"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/harness/result/paired"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/harness/stat/compare"
	"github.com/poimen-memory/mem/harness/stat/decide"
)

// observed are runs of four turns, evidence in the second, of a model that is wrong about
// every so-manieth query; 0: never.
func observed(model string, level spec.Level, queries, wrong int) (runs []stat.Run) {
	for q := range queries {
		right := wrong == 0 || q%wrong != 0
		r := stat.Run{Query: fmt.Sprint("q", q), Corpus: "s", Level: level.String(), Model: model, Trial: 1, Total: 4, Evidence: []int{2}}
		for i := range 4 {
			evidence := i == 1
			yes := evidence && right
			r.Turns = append(r.Turns, stat.Turn{Evidence: evidence, Parsed: true, FirstTry: right || i > 0, Update: yes, Written: yes, Exit: i > 1})
		}
		runs = append(runs, r)
	}
	return runs
}

// decided is an experiment with a decision of every kind, a comparison, and a prompt that
// is not the paper's.
func decided() *result.Result {
	r := rendertest.Passed()
	r.Prompt = plan.Template{Note: "not the paper's prompt: template experiments/prompts/short.txt", SHA: "5af1"}
	r.Gates = nil
	add := func(model string, level spec.Level, runs []stat.Run, rule decide.Rule) {
		sample := stat.Collect(runs)
		rule.Unit = stat.ByQuery
		d, err := decide.Decide(sample, rule)
		if err != nil {
			panic(err)
		}
		r.Decisions = append(r.Decisions, result.Decision{
			ID: "M1.8", Model: model, Level: level, Decision: d, Pos: diag.Pos{File: r.Spec, Line: 12, Col: 3},
		})
		row := result.GateRow{Model: model, Level: level, ExitGate: spec.Record, Metrics: sample.Measure(stat.ByQuery)}
		for _, run := range runs {
			row.Counts = row.Counts.Add(stat.Count(run))
			row.Queries = append(row.Queries, result.QueryRow{Query: run.Query, Counts: stat.Count(run)})
		}
		r.Gates = append(r.Gates, row)
	}
	perfect, broken := observed("oracle", 1, 50, 0), observed("broken", 1, 50, 2)
	add("oracle", 1, perfect, decide.Rule{})
	add("broken", 1, broken, decide.Rule{})
	few := observed("oracle", 2, 3, 0)
	for i := range few {
		few[i].Evidence = []int{}
		few[i].Turns[1].Evidence = false
	}
	add("oracle", 2, few, decide.Rule{})
	few[0].Incomplete, few[0].Total = true, 9
	add("torn", 2, few, decide.Rule{Criteria: []decide.Criterion{{Metric: "f1", Threshold: 0.5}}})
	r.Decisions = append(r.Decisions, result.Decision{ID: "M1.8", Model: "grumem-3b", Level: 1, Skipped: "all of its runs were skipped"})
	r.Runs[0].Level, r.Runs[0].Session, r.Runs[0].Corpus = 2, "memories", ""
	r.Comparisons = compared(paired.Side{Name: "broken", Runs: broken}, paired.Side{Name: "oracle", Runs: perfect[:40]})
	return r
}

func compared(a, b paired.Side) []paired.Comparison {
	table, err := paired.Compare([]paired.Pair{{Old: a, New: b}}, []string{"recall_strict", "specificity_strict", "retain_drift"}, compare.Config{Unit: stat.ByQuery})
	if err != nil {
		panic(err)
	}
	return table
}

func TestDecisionsGolden(t *testing.T) {
	for name, write := range map[string]func(io.Writer) error{
		"decided.txt": func(w io.Writer) error {
			return render.Terminal{Width: 100, Detail: render.Verbose}.Result(w, decided())
		},
		"decided-60.txt": func(w io.Writer) error {
			return render.Terminal{Width: 60, Detail: render.Verbose}.Result(w, decided())
		},
		"decided-brief.txt": func(w io.Writer) error {
			return render.Terminal{Width: 80, Folder: "reports/a folder"}.Result(w, decided())
		},
		"decided-brief-40.txt": func(w io.Writer) error { return render.Terminal{Width: 40}.Result(w, decided()) },
		"decided-quiet.txt":    func(w io.Writer) error { return render.Terminal{Detail: render.Quiet}.Result(w, decided()) },
		"decided.md":           func(w io.Writer) error { return render.Markdown(w, decided()) },
		"decided.xml":          func(w io.Writer) error { return render.JUnit(w, []*result.Result{decided()}) },
		"decided-ann.txt":      func(w io.Writer) error { return render.Annotations(w, []*result.Result{decided()}) },
	} {
		t.Run(name, func(t *testing.T) {
			var got bytes.Buffer
			if err := write(&got); err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join("testdata", name), got.Bytes())
		})
	}
}

func TestJUnitOfDecisionsIsValid(t *testing.T) {
	text := junitOf(t, decided())
	if err := junitSchema(t).validate(text); err != nil {
		t.Error(err)
	}
	xmllint(t, text)
}

// TestEveryOutputMarksAnotherPrompt: numbers of a prompt variant must never be taken for
// the paper's.
func TestEveryOutputMarksAnotherPrompt(t *testing.T) {
	r := decided()
	for name, write := range map[string]func(io.Writer) error{
		"terminal": func(w io.Writer) error { return render.Terminal{Detail: render.Verbose}.Result(w, r) },
		"quiet":    func(w io.Writer) error { return render.Terminal{Detail: render.Quiet}.Result(w, r) },
		"markdown": func(w io.Writer) error { return render.Markdown(w, r) },
		"junit":    func(w io.Writer) error { return render.JUnit(w, []*result.Result{r}) },
		"json":     func(w io.Writer) error { return render.JSON(w, r) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(strings.ReplaceAll(b.String(), "&#39;", "'"), "&#x27;", "'")
		for _, want := range []string{"not the paper's prompt", "experiments/prompts/short.txt"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %q", name, want)
			}
		}
	}
}

// TestHostileDecisionsAreSafe puts attacks into every text of decisions and comparisons.
func TestHostileDecisionsAreSafe(t *testing.T) {
	r := decided()
	for i, a := range attacks() {
		d := r.Decisions[i%4]
		d.ID, d.Model, d.Reason, d.Notes = a, a, a, []string{a}
		c := r.Comparisons[i%3]
		of := *c.Comparison
		c.Comparison = &of
		c.Baseline, c.Model, c.Metric, c.Notes = a, a, a, []string{a}
		c.Drops = []compare.Drop{{Query: a, Corpus: a, Level: a, Why: a}}
		r.Decisions, r.Comparisons = append(r.Decisions, d), append(r.Comparisons, c)
		r.Prompt.Note += a
	}
	for _, term := range terminals() {
		harmless(t, shows(t, term, r))
	}
	text := junitOf(t, r)
	if err := junitSchema(t).validate(text); err != nil {
		t.Error(err)
	}
}
