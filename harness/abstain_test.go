package harness_test

import (
	"path/filepath"
	"testing"
)

// TestQuestionsWithoutAnAnswerAreScoredOnSayingSo: a policy without a memory says that it does not
// know; one that wrote something answers with that.
func TestQuestionsWithoutAnAnswerAreScoredOnSayingSo(t *testing.T) {
	path := filepath.Join(write(t, map[string]string{
		"s.jsonl": jsonl("one", "two", "three"),
		"x.yaml": `experiment: x
answer: {}
corpora: [{id: s, path: s.jsonl, chunk: {records: 1}}]
queries: [{id: q, text: "Which port?", answerable: false}]
models: [{id: n, policy: never_update}, {id: a, policy: always_update}]
expect: [{model: n, sub_em: 1}, {model: a, sub_em: 0}]
`,
	}), "x.yaml")
	r := eval(t, config(t), path)
	wantPassed(t, r)
	for _, run := range r.Runs {
		if run.Answer == nil || !run.Answer.Unanswerable || run.Answer.Score == nil {
			t.Errorf("%s: answer is %+v, want one with a score", run.Name, run.Answer)
		}
	}
	for _, row := range r.Answers {
		if len(row.Unreferenced) > 0 {
			t.Errorf("%s: queries without references: %v", row.Model, row.Unreferenced)
		}
	}
}
