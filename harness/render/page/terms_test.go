package page_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/render/internal/rendertest"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/harness/stat/decide"
	"github.com/poimen-memory/mem/harness/stat/glossary"
)

// TestTermsAreExplained: a metric's name is a link, with a tooltip and its label beside it, to
// its entry on the page, which is there once; no entry is of a metric that is not shown.
func TestTermsAreExplained(t *testing.T) {
	links := regexp.MustCompile(`(?:href="#|aria-describedby=")(metric-[a-z0-9_]+)"`)
	for name, r := range map[string]*result.Result{"judged": judgedExample(t), "tagged": rendertest.Tagged(), "passed": rendertest.Passed()} {
		html := written(t, report{Result: r})
		linked := map[string]bool{}
		for _, m := range links.FindAllStringSubmatch(html, -1) {
			linked[m[1]] = true
			if n := strings.Count(html, `id="`+m[1]+`"`); n != 1 {
				t.Errorf("%s: found %d entries of %s, want 1", name, n, m[1])
			}
		}
		for _, e := range glossary.All() {
			if strings.Contains(html, `id="metric-`+e.Name+`"`) && !linked["metric-"+e.Name] {
				t.Errorf("%s: nothing links the entry of %s", name, e.Name)
			}
		}
	}
	html := written(t, report{Result: judgedExample(t)})
	e, _ := glossary.Find("exit_useful")
	for _, want := range []string{
		`<a class="term" href="#metric-exit_useful" title="` + e.Meaning, `>exit_useful</a> <span class="why">` + e.Label + `</span>`,
		`<dt id="metric-exit_useful">exit_useful: ` + e.Label + `</dt><dd>` + e.Meaning,
	} {
		if !strings.Contains(html, want) {
			t.Errorf("%q is not in the page", want)
		}
	}
}

// judgedExample is a result with a decision on the glossary's runs, and all their metrics.
func judgedExample(t *testing.T) *result.Result {
	r := rendertest.Passed()
	sample := stat.Collect(glossary.Runs(glossary.Recorded))
	d, err := decide.Decide(sample, decide.Rule{})
	if err != nil {
		t.Fatal(err)
	}
	r.Decisions = []result.Decision{{ID: "M1.8", Model: "m", Level: 1, Decision: d}}
	r.Gates = []result.GateRow{{Model: "m", Level: 1, ExitGate: spec.Record, Metrics: sample.Measure(stat.Auto)}}
	return r
}

// TestDecisionLinksItsWorstRuns: a verdict leads to the runs that are wrong, each an anchor.
func TestDecisionLinksItsWorstRuns(t *testing.T) {
	r := judgedExample(t)
	r.Runs = nil
	for i, missed := range []int{0, 2, 1} {
		run := result.Run{Cell: plan.Cell{Name: fmt.Sprint("run", i), Model: "m", Level: 1, ExitGate: spec.Record}, State: record.Complete}
		run.Troubles.Missed = missed
		r.Runs = append(r.Runs, run)
	}
	html := written(t, report{Result: r})
	if !strings.Contains(html, `the worst first: <a href="#run-1">run1</a> (`) || !strings.Contains(html, `, <a href="#run-2">run2</a>`) || strings.Contains(html, `"#run-0"`) {
		t.Error("the decision does not link its worst runs")
	}
	for _, id := range []string{"run-0", "run-1", "run-2"} {
		if strings.Count(html, `id="`+id+`"`) != 1 {
			t.Errorf("want one element %s", id)
		}
	}
}

// TestProbabilities: the page draws the ROC of each gate and shows its calibration, where a
// model was asked.
func TestProbabilities(t *testing.T) {
	html := written(t, report{Result: rendertest.Sure(true)})
	for _, want := range []string{`<section id="confidence">`, `<h3>P(yes) of oracle, L1 record</h3>`, `<polyclass`, "AUC 0.833", "<th scope=\"col\">came true</th>",
		"no probability: the server sent no log probabilities: 1 turn of oracle L1 record"} {
		want = strings.Replace(want, "<polyclass", `<polyline class="line" points="0,100 `, 1)
		if !strings.Contains(html, want) {
			t.Errorf("%q is not in the page", want)
		}
	}
	if strings.Contains(written(t, report{Result: rendertest.Sure(false)}), `id="confidence"`) {
		t.Error("there is a section of probabilities without any")
	}
}
