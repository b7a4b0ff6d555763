package corpus_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/corpus/corpustest"
	"github.com/poimen-memory/mem/harness/diag"
)

var ports = []corpustest.Record{
	{Role: "user", Text: "Which port?", ID: "r1"},
	{Role: "tool", Text: "port 6380, then port 6381", ID: "r2"},
	{Role: "tool", Text: "listening on 6380", ID: "r3"},
}

func loadLabels(t *testing.T, labels string, queries ...corpus.Query) ([]*corpus.Session, error) {
	t.Helper()
	return corpus.Load(t.Context(), corpus.Config{ID: "c", Path: corpustest.WriteFile(t, "c.jsonl", corpustest.JSONL(t, ports...)), Labels: corpustest.WriteFile(t, "l.yaml", labels),
		Pack: corpus.Pack{Records: 1}, Prompts: corpustest.Builder(t, corpustest.BytesCounter{}), Queries: queries})
}

// A labels file asks queries of its own, and adds evidence to those of the spec.
func TestLabelsFile(t *testing.T) {
	sessions, err := loadLabels(t, `queries:
  - {id: own, text: "Own?", answers: ["6381"], evidence: [{id: r2, match: port, nth: 2}, {match: "6380", all: true}]}
  - {id: given, answers: [ignored], tags: {hops: "2"}, evidence: [r3]}
  - {id: never, text: "Never?", answerable: false}
`, corpus.Query{ID: "given", Text: "Given?", Answers: []string{"6380"}, Labels: []corpus.Label{{ID: "r1"}}})
	if err != nil {
		t.Fatal(err)
	}
	got := sessions[0].Queries()
	want := []corpus.Asked{
		{Query: corpus.Query{ID: "given", Text: "Given?", Answers: []string{"6380"}, Tags: map[string]string{"hops": "2"}, Labels: []corpus.Label{{ID: "r1"}, {ID: "r3"}}},
			Evidence: []corpus.Evidence{{1, "Which port?"}, {3, "listening on 6380"}}, Hits: []int{1, 1}},
		{Query: corpus.Query{ID: "own", Text: "Own?", Answers: []string{"6381"},
			Labels: []corpus.Label{{ID: "r2", Match: "port", Nth: 2}, {Match: "6380", All: true}}},
			Evidence: []corpus.Evidence{{2, "6380\nport"}, {3, "6380"}}, Hits: []int{1, 2}},
		{Query: corpus.Query{ID: "never", Text: "Never?", Unanswerable: true}, Hits: []int{}},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(corpus.Label{}, "Pos")); diff != "" {
		t.Error(diff)
	}
}

func TestLabelsFileErrors(t *testing.T) {
	for _, c := range []struct{ labels, want string }{
		{"queries: [{id: q, text: Q, evidence: [r9]}]", "1:39: record r9 is not in the corpus"},
		{"queries: [{id: q, text: Q, evidence: [{match: '6380'}]}]",
			"1:39: the text is 2 times in the corpus: want once, or name the record, or say {match: …, all: true}"},
		{"queries: [{id: q, text: Q, evidence: [{id: r2, match: port}]}]",
			"1:39: the text in record r2 is 2 times in the corpus: want once, or name the record, or say {match: …, all: true}"},
		{"queries: [{id: q, text: Q, evidence: [{id: r2, match: port, nth: 3}]}]", "1:39: the text in record r2 is not in the corpus"},
		{"queries: [{id: q, evidence: [r1]}]", `1:11: queries[0]: found query "q" without a text, and none of that id in the spec for this corpus`},
		{"queries: [{id: q, text: Q, proposed: [r1]}]",
			`1:11: queries[0]: found 1 proposed labels of query "q": move what is right to evidence, and delete the rest`},
		{"queries: [{id: q, text: Q}, {id: q, text: R}]", `1:34: queries[1].id: found "q", which is also an id on line 1`},
		{"queries: [{id: q, text: Q, evidence: [{nth: 1, match: x}]}]", "1:45: queries[0].evidence[0].nth: found nth without id and match, whose places it counts"},
		{"queries: [{id: q, text: Q, evidence: [{id: r1, all: true}]}]", "1:53: queries[0].evidence[0].all: found all without match, whose hits it is about"},
		{"queries: [{id: q, text: Q, evidence: [{}]}]", "1:39: queries[0].evidence[0]: found a map, want an id, a match, or both"},
		{"queries: [{id: q, text: 7, evidense: [r1]}]", "1:25: queries[0].text: found 7, want text: put it in quotes, \"7\"\n" +
			`1:28: queries[0]: found unknown key "evidense", want one of id, text, answers, all_answers, answerable, tags, evidence, proposed; did you mean "evidence"?`},
		{"queries: [{id: q, text: Q, all_answers: true, evidence: [r1]}]", "1:41: queries[0].all_answers: found all_answers without answers, which it is about"},
		{"queries: [{id: q, text: Q, answerable: false, evidence: [r1]}]", "1:40: queries[0].answerable: found answerable: false with evidence of the answer, want one of them"},
		{"queries: [{id: q, text: Q, tags: {hops: 2}}]", "1:41: queries[0].tags.hops: found 2, want text: put it in quotes, \"2\""},
		{"queries: []", "1:10: queries: found a list of 0, want a list of at least 1"},
	} {
		_, err := loadLabels(t, c.labels)
		es, ok := errors.AsType[diag.Errors](err)
		if !ok {
			t.Errorf("%s: got %v, want a diag.Errors", c.labels, err)
		} else if diff := cmp.Diff(c.want, corpustest.Short(es)); diff != "" {
			t.Errorf("%s\n-want +got\n%s", c.labels, diff)
		}
	}
}

// Whatever stands in ids and texts, a labels file that was written is read as it was.
func TestLabelsFileKeepsEveryText(t *testing.T) {
	hostile := "a: \"b\" # \\ \n\t\x00\x7f\u0085\u2028\ufeff\U0001F600 é - {x} '"
	list := []corpus.Labelled{
		{Query: corpus.Query{ID: hostile, Text: hostile, Answers: []string{hostile, "7"}, All: true,
			Labels: []corpus.Label{{ID: hostile}, {ID: "r1", Match: hostile, Nth: 2}, {Match: hostile, All: true}}}},
		{Query: corpus.Query{ID: "tagged", Text: "T", Unanswerable: true, Tags: map[string]string{hostile: hostile, "b": "2"}}},
		{Query: corpus.Query{ID: "none", Text: "true"}, Proposed: []corpus.Proposal{{Label: corpus.Label{ID: "r1"}, Context: "\nevil: yes"}}},
	}
	var b strings.Builder
	if err := corpus.WriteLabels(&b, "two\nlines", list); err != nil {
		t.Fatal(err)
	}
	got, err := corpus.ReadLabels(corpustest.WriteFile(t, "l.yaml", b.String()))
	if err != nil {
		t.Fatalf("%v\n%s", err, &b)
	}
	ignore := cmp.Options{cmpopts.IgnoreFields(corpus.Label{}, "Pos"), cmpopts.IgnoreFields(corpus.Labelled{}, "At"),
		cmpopts.IgnoreFields(corpus.Proposal{}, "Context")}
	if diff := cmp.Diff(list, got, ignore); diff != "" {
		t.Error(diff)
	}
	if _, err := corpus.ReadLabels("no-such-file"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}
