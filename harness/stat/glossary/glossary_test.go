package glossary_test

import (
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/harness/stat/glossary"
)

// TestEveryMetricHasAnEntry: what the product measures, shows or takes as a criterion is in
// the glossary, and nothing else is.
func TestEveryMetricHasAnEntry(t *testing.T) {
	var metrics, entries []string
	for _, d := range stat.Definitions() {
		metrics = append(metrics, d.Name)
	}
	for _, set := range []string{glossary.Recorded, glossary.Enforced, glossary.Answers} {
		for _, m := range stat.Collect(glossary.Runs(set)).Measure(stat.Auto) {
			if _, ok := glossary.Find(m.Name); !ok {
				t.Errorf("%s is measured and has no entry", m.Name)
			}
		}
	}
	for _, e := range glossary.All() {
		if e.Name != glossary.PassK {
			entries = append(entries, e.Name)
		}
	}
	slices.Sort(metrics)
	slices.Sort(entries)
	if !slices.Equal(metrics, entries) {
		t.Errorf("metrics are %v, entries %v", metrics, entries)
	}
}

func TestEntriesAreComplete(t *testing.T) {
	labels := map[string]string{}
	for _, e := range glossary.All() {
		if other := labels[e.Label]; other != "" {
			t.Errorf("%s and %s have the same label", e.Name, other)
		}
		labels[e.Label] = e.Name
		if e.Label == "" || e.Label == e.Name || e.Numerator == "" || e.Denominator == "" || e.Example.Words == "" || !slices.Contains(glossary.Topics(), e.Topic) {
			t.Errorf("%s lacks something: %+v", e.Name, e)
		}
		if !strings.HasSuffix(e.Meaning, ".") || strings.Count(e.Meaning, ". ") > 0 {
			t.Errorf("%s: want one sentence, found %q", e.Name, e.Meaning)
		}
		if failed := e.Failure != ""; failed != (e.Definition().Better != stat.Neither) && e.Name != "exit_delay" && e.Name != "exit_lead" && e.Name != "memory_slope" {
			t.Errorf("%s: want a failure exactly where one value is better, found %q", e.Name, e.Failure)
		}
		if strings.Contains(e.Label+e.Meaning, "_") && !strings.Contains(e.Meaning, "recall_") && !strings.Contains(e.Meaning, "specificity_") && !strings.Contains(e.Meaning, "exit_safe") && !strings.Contains(e.Meaning, "sub_em") {
			t.Errorf("%s: found a name in %q", e.Name, e.Label+" "+e.Meaning)
		}
	}
}

// TestExamplesAreComputed: every worked example is what the product computes of its runs.
func TestExamplesAreComputed(t *testing.T) {
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-8 }
	for _, e := range glossary.All() {
		name := e.Name
		if name == glossary.PassK {
			name = "pass_2"
		}
		got, err := stat.Collect(glossary.Runs(e.Example.Set)).MeasureOne(name, stat.Auto)
		if err != nil || got.Value == nil {
			t.Errorf("%s: %v, %v", e.Name, got, err)
			continue
		}
		if !near(*got.Value, e.Example.Value) || e.Example.N > 0 && (!near(got.X, e.Example.X) || got.N != e.Example.N) {
			t.Errorf("%s: computed %v/%v = %.9f, the example says %s of %s", e.Name, got.X, got.N, *got.Value, e.Ratio(), e.Example.Words)
		}
		if e.Example.N == 0 && e.Definition().Interval != "" && got.N != 0 && e.Name != "memory_slope" {
			t.Errorf("%s: the example lacks its counts", e.Name)
		}
	}
}

func TestLabelOfPassK(t *testing.T) {
	for name, want := range map[string]string{"pass_3": "all right in 3 trials", "pass_k": "all right in k trials", "pass_0": "pass_0", "exit_useful": "exits after the evidence", "no": "no"} {
		if got := glossary.Label(name); got != want {
			t.Errorf("%s: found %q, want %q", name, got, want)
		}
	}
}

var update = flag.Bool("update", false, "write docs/metrics.md")

// TestDocument: docs/metrics.md is the glossary's.
func TestDocument(t *testing.T) {
	const path = "../../../docs/metrics.md"
	if *update {
		if err := os.WriteFile(path, []byte(glossary.Markdown()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != glossary.Markdown() {
		t.Errorf("%s is not what the glossary says (%v): go test ./harness/stat/glossary -update", path, err)
	}
}

// TestExampleOfSlopes: the slopes in words are those of the queries.
func TestExampleOfSlopes(t *testing.T) {
	e, _ := glossary.Find("memory_slope")
	runs := map[string][]stat.Run{}
	for _, r := range glossary.Runs(e.Example.Set) {
		runs[r.Query] = append(runs[r.Query], r)
	}
	for query, of := range runs {
		got, err := stat.Collect(of).MeasureOne("memory_slope", stat.Auto)
		if want := fmt.Sprintf("%s %.3f", query, *got.Value); err != nil || !strings.Contains(e.Example.Words, want) {
			t.Errorf("want %q in %q", want, e.Example.Words)
		}
	}
}

// TestHelpFitsATerminal: no line is wider than 80 columns.
func TestHelpFitsATerminal(t *testing.T) {
	texts := []string{glossary.Overview()}
	for _, e := range glossary.All() {
		texts = append(texts, e.Text())
		if !strings.Contains(texts[0], "\n  "+e.Name+": "+e.Label+"\n") {
			t.Errorf("the overview lacks %s", e.Name)
		}
	}
	for _, text := range texts {
		for line := range strings.Lines(text) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
				t.Errorf("%d columns: %s", n, line)
			}
		}
	}
}
