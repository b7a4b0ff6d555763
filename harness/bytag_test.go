package harness_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/harness/stat/decide"
)

// tagged adds tags to the queries of asked: the first few are hard, the others easy; each has an
// id of its own, which groups nothing, and all have the same language.
func tagged(t *testing.T, queries, hard int, models, extra string) string {
	path := asked(t, queries, models, extra)
	text := string(read(t, path))
	for i := range queries {
		kind := "easy"
		if i < hard {
			kind = "hard"
		}
		id := fmt.Sprintf("{id: q%d, ", i+1)
		text = strings.Replace(text, id, fmt.Sprintf("%stags: {kind: %s, own: x%d, language: en}, ", id, kind, i+1), 1)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

const scriptOnly = "models: [{id: m, script: gates.yaml}]"

// TestGatesByTag: each group has its own numbers, from the runs of its queries alone, and a tag
// that groups nothing has no table.
func TestGatesByTag(t *testing.T) {
	path := tagged(t, 12, 2, scriptOnly, "")
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "gates.yaml"), []byte("default: {check: \"no\", next: continue}\nturns:\n  - {turn: 3, check: \"yes\", update: \"x\", next: end}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	r := eval(t, config(t), path)
	if diff := cmp.Diff([]string{"kind"}, r.Tags()); diff != "" {
		t.Errorf("tags (-want +got):\n%s", diff)
	}
	got := map[string]string{}
	for _, row := range r.ByTag {
		e, _ := row.Metric("recall_committed")
		got[row.Value] = fmt.Sprintf("%s %s %s %v/%v of %d", row.Model, row.Level, row.ExitGate, e.X, e.N, e.Queries)
	}
	// q3 is the only query whose evidence is in chunk 3; it is easy.
	if diff := cmp.Diff(map[string]string{"easy": "m L1 record 1/10 of 10", "hard": "m L1 record 0/2 of 2"}, got); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
}

// TestGroupsAreClaims: a group that fails fails the decision, which names it.
func TestGroupsAreClaims(t *testing.T) {
	const by = "decision: {id: M1.8, for: {models: [m]}, unit: query, require: {recall_committed: {at_least: 0.5, by: kind, floor: 0.4}}}"
	d := wantVerdict(t, eval(t, config(t), tagged(t, 40, 20, oracleOnly, by)), decide.Go, 0, "reaches its threshold")
	var groups []string
	for _, j := range d.Criteria {
		groups = append(groups, fmt.Sprintf("%s %v %d", j.Group, j.Claimed, j.Units))
	}
	if diff := cmp.Diff([]string{" 0.5 40", "easy 0.4 20", "hard 0.4 20"}, groups); diff != "" {
		t.Errorf("claims (-want +got):\n%s", diff)
	}
	// Three hard questions are no evidence about hard questions.
	wantVerdict(t, eval(t, config(t), tagged(t, 40, 3, oracleOnly, by)), decide.Inconclusive, 4, "recall_committed (kind: (small)): 3 queries")
}

// TestWeakestGroupIsNamed: without by a decision names the weakest group all the same.
func TestWeakestGroupIsNamed(t *testing.T) {
	r := eval(t, config(t), tagged(t, 40, 20, oracleOnly, decideOnM))
	for _, j := range r.Decisions[0].Criteria {
		if w := j.Weakest; w == nil || w.Tag != "kind" && w.Tag != "language" || w.Below {
			t.Errorf("%s: weakest group %+v", j.Metric, w)
		}
	}
}

// TestUnknownTagOfADecision is refused where it stands, before anything runs.
func TestUnknownTagOfADecision(t *testing.T) {
	const by = "decision: {id: M1.8, for: {models: [m]}, unit: query, require: {recall_committed: {at_least: 0.5, by: kinds}}}"
	for path, want := range map[string]string{
		tagged(t, 12, 2, oracleOnly, by): `decision.require.recall_committed.by: found "kinds", want one of kind, language, own; did you mean "kind"?`,
		asked(t, 12, oracleOnly, by):     `found "kinds", but no query has tags: want tags in the queries, as in tags: {kinds: easy}`,
	} {
		if _, err := prepare(t, config(t), path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %q", err, want)
		}
	}
}

// TestTagsOfSynthesis: synthetic queries are tagged with their task, length and depth.
func TestTagsOfSynthesis(t *testing.T) {
	dir := write(t, map[string]string{"x.yaml": `
experiment: x
corpora: [{id: s, synth: {task: niah_single_1, lengths: [1k, 10k], samples: 2, depth: 50, seed: 1}, chunk: {tokens: 400}}]
models: [{id: oracle, policy: oracle}]
`})
	r := eval(t, config(t), filepath.Join(dir, "x.yaml"))
	if diff := cmp.Diff([]string{"length"}, r.Tags()); diff != "" {
		t.Errorf("tags that group (-want +got):\n%s", diff)
	}
	want := map[string]string{"task": "niah_single_1", "length": "1k", "depth": "40–60 %"}
	if diff := cmp.Diff(want, r.Runs[0].Tags); diff != "" {
		t.Errorf("tags (-want +got):\n%s", diff)
	}
	var order []string
	for _, row := range r.ByTag {
		order = append(order, row.Value)
	}
	if diff := cmp.Diff([]string{"1k", "10k"}, order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}
