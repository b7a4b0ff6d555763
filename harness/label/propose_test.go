package label_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/corpus/corpustest"
	"github.com/poimen-memory/mem/harness/label"
)

// Answers are proposed as whole words in any case, up to the limit, and all are counted.
func TestPropose(t *testing.T) {
	path := corpustest.WriteFile(t, "c.jsonl", corpustest.JSONL(t,
		corpustest.Record{Role: "tool", Text: "Nobel, no. NO? piano", ID: "r1"},
		corpustest.Record{Role: "tool", Text: "no id here", ID: ""},
		corpustest.Record{Role: "user", Text: "no", ID: "r3"}))
	got, err := label.Propose(t.Context(), corpus.Config{ID: "c", Path: path}, []label.Sought{
		{Query: corpus.Query{Answers: []string{"no", " "}}}, {}, {Query: corpus.Query{Answers: []string{""}}}}, 3)
	if err != nil {
		t.Fatal(err)
	}
	want := []label.Proposed{{All: 4, List: []corpus.Proposal{
		{Label: corpus.Label{ID: "r1", Match: "no", Nth: 1}, Context: "tool: Nobel, no. NO? piano"},
		{Label: corpus.Label{ID: "r1", Match: "NO"}, Context: "tool: Nobel, no. NO? piano"},
		{Label: corpus.Label{Match: "no", All: true}, Context: "tool: no id here"},
	}}, {}, {}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
