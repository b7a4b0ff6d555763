package harness_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/harness/spec"
)

// advised are the warnings about a spec beside a session of two records, with s.jsonl.
func advised(t *testing.T, text string) []string {
	t.Helper()
	dir := write(t, map[string]string{
		"s.jsonl": jsonl("The port is 6380.", "Bye."), "t.jsonl": jsonl("Hello.", "Bye."),
		"odd.jsonl": `{"role": "asistant", "text": "Hi.", "id": "r1"}` + "\n" + `{"role": "nurse", "text": "Hello."}` + "\n",
		"x.yaml":    "experiment: x\n" + text,
	})
	t.Chdir(dir)
	e, err := prepare(t, config(t), "x.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	harness.Advise(&out, []harness.Experiment{e.Experiment})
	var list []string
	for line := range strings.Lines(out.String()) {
		list = append(list, strings.TrimPrefix(strings.TrimSuffix(line, "\n"), "mem: warning: "))
	}
	return list
}

// TestAdvice: each line begins with the place of what it is about; the other spec is correct.
func TestAdvice(t *testing.T) {
	const models = "models: [{id: m, policy: oracle}]\n"
	asks := func(query string) string { return "queries: [{id: q, text: \"Which port?\", " + query + "}]\n" }
	corpus := func(chunk string) string { return "corpora: [{id: s, path: s.jsonl, chunk: {" + chunk + "}}]\n" }
	right := corpus("records: 1") + asks("evidence: [r1]") + models
	for _, test := range []struct{ spec, want string }{
		{right, ""},
		{right + "decision: {id: D, for: {models: [m]}, unit: query}\n", ""},
		{right + "decision: {id: D, for: {models: [m]}}\n",
			"x.yaml:5:11: decision: found 1 session: a GO about new sessions takes 5 or more; to decide for new questions on this one, add unit: query"},
		{corpus("records: 1") + asks("evidence: []") + models + "decision: {id: D, for: {models: [m]}, unit: query}\n",
			"x.yaml:5:11: decision: found 1 query without evidence, in which every write is wrong (q): label the evidence, or say answerable: false"},
		{corpus("records: 1") + asks("answerable: false") + models + "decision: {id: D, for: {models: [m]}, unit: query}\n", ""},
		{corpus("records: 1") + asks("evidence: []") + models, ""},
		{corpus("tokens: 4000") + asks("evidence: [r1]") + models,
			"x.yaml:2:11: corpora[0]: found a packing that makes one chunk of all records of 1 session (s): want smaller chunks, as in chunk: {records: 1}"},
		{"corpora: [{id: s, path: odd.jsonl, chunk: {records: 1}}]\n" + asks("evidence: [r1]") + models,
			`x.yaml:2:11: corpora[0]: found role "asistant" in 1 record; did you mean "assistant"?`},
		{corpus("records: 1") + asks(`evidence: [r1], answers: ["6391", "port 63"]`) + models + "answer: {}\n",
			"x.yaml:5:9: answer: found 1 query whose answers are nowhere in the session (q): sub_em wants these very words"},
		{corpus("records: 1") + asks(`evidence: [r1], answers: ["6391", "THE PORT, is 6380"]`) + models + "answer: {}\n", ""},
		{corpus("records: 1") + asks(`evidence: [r1], answers: ["the"]`) + models + "answer: {}\n",
			"x.yaml:5:9: answer: found 1 query with an answer of which normalising leaves nothing (q): it is compared as it is, and an empty one scores 0; want a wording with more in it"},
		{corpus("records: 1") + asks(`evidence: [r1], answers: ["Yes."]`) + models + "answer: {}\n", ""},
		{corpus("records: 1") + asks(`evidence: [r1], answers: ["6391"]`) + models, ""}, // not asked for
	} {
		if diff := cmp.Diff(test.want, strings.Join(advised(t, test.spec), "\n")); diff != "" {
			t.Errorf("%s(-want +got):\n%s", test.spec, diff)
		}
	}
}

// TestAdviceIsInTheReport, not on the terminal alone.
func TestAdviceIsInTheReport(t *testing.T) {
	path := asked(t, 12, oracleOnly, "decision: {id: D, for: {models: [m]}}")
	r := eval(t, config(t), path)
	if len(r.Warnings) == 0 || !strings.Contains(r.Warnings[0], "add unit: query") {
		t.Errorf("warnings are %q", r.Warnings)
	}
}

// TestDecisionOnALiveModelThatWasNotRun is undecided: nothing was judged, so nothing passed.
func TestDecisionOnALiveModelThatWasNotRun(t *testing.T) {
	path := asked(t, 12, "models: [{id: m, policy: oracle}, {id: n, live: {base_url: http://127.0.0.1:9/v1, model: n}}]",
		"decision: {id: D, for: {models: [m, n]}, unit: query, pick: each, require: {recall_committed: 0.5}}")
	r := eval(t, config(t), path)
	d := r.Decisions[1]
	if d.Unselected || !strings.Contains(d.Skipped, "mem eval --live") || !strings.Contains(d.Skipped, "--allow-undecided") || result.Exit(r) != 4 {
		t.Errorf("decision is %+v, exit %d", d, result.Exit(r))
	}
}

// loaded is prepare, or what is wrong with the spec in itself.
func loaded(t *testing.T, path string) (prepared, error) {
	t.Helper()
	if _, err := spec.Load(path); err != nil {
		return prepared{}, err
	}
	return prepare(t, config(t), path)
}

// TestNonsenseIsRefused where it stands, before anything runs.
func TestNonsenseIsRefused(t *testing.T) {
	for _, test := range []struct{ models, extra, want string }{
		{"models: [{id: m, policy: noisy_oracle, seed: 1}]", "", "asked.yaml:4:26: models[0].policy: found noisy_oracle without errors, which is the oracle: want at least one of wrong_update"},
		{oracleOnly, "answer: {}", ""},
		{oracleOnly, decideOnM[:len(decideOnM)-1] + ", require: {sub_em: 0.5}}", "decision.require.sub_em: found a metric of answers, but the spec asks for none: want answer: {} in it"},
		{oracleOnly, "answer: {}\n" + decideOnM[:len(decideOnM)-1] + ", require: {answer_f1: 0.5}}", "found a metric of answers, but no query has any"},
		{"models: [{id: m, policy: oracle}, {id: n, policy: lexical}]", "compare: {baselines: [m], metrics: [sub_em]}", "compare.metrics[0]: found a metric of answers"},
		{oracleOnly, decideOnM[:len(decideOnM)-1] + ", require: {exit_useful: 85}}", "found 85, want a number from -1 to 1; did you mean 0.85?"},
		{oracleOnly, decideOnM[:len(decideOnM)-1] + ", require: {exit_useful: 1}}", "found 1, which no lower bound reaches"},
		{oracleOnly, "decision: {id: D1}", `found an incomplete decision, want one like {id: D1, for: {models: [m]}, unit: query, require: {recall_committed: 0.85`},
	} {
		_, err := loaded(t, asked(t, 2, test.models, test.extra))
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s %s\n%v\nwant %s", test.models, test.extra, err, test.want)
		}
	}
}

// TestPackingAboveTheBudget: a chunk that is filled above budget.chunk could not be sent. The
// default fills up to the budget.
func TestPackingAboveTheBudget(t *testing.T) {
	path := asked(t, 2, oracleOnly, "budget: {chunk: 30}")
	text := string(read(t, path))
	for chunk, want := range map[string]string{
		", chunk: {tokens: 31}": "asked.yaml:2:50: corpora[0].chunk.tokens: found 31, which is above budget.chunk, 30: want at most that, or budget: {chunk: 31}",
		", chunk: {tokens: 30}": "",
		"":                      "",
	} {
		if err := os.WriteFile(path, []byte(strings.Replace(text, ", chunk: {records: 1}", chunk, 1)), 0o666); err != nil {
			t.Fatal(err)
		}
		e, err := loaded(t, path)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %s", chunk, err, want)
		}
		if err == nil && (e.Sessions[0].Len() < 2 || slices.Max(e.Sessions[0].ChunkTokens()) > 30) {
			t.Errorf("%q: chunks are %v", chunk, e.Sessions[0].ChunkTokens())
		}
	}
}
