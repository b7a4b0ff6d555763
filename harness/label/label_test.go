package label_test

import (
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/label"
)

// known has a query of each sort: with labels, with answers only, with neither.
func known() []corpus.Labelled {
	return []corpus.Labelled{
		{Query: corpus.Query{ID: "labelled", Answers: []string{"a"}, Labels: []corpus.Label{{ID: "r1"}}}},
		{Query: corpus.Query{ID: "answered", Answers: []string{"b"}}},
		{Query: corpus.Query{ID: "bare"}},
	}
}

func TestSelect(t *testing.T) {
	pattern := regexp.MustCompile("x")
	for _, c := range []struct {
		list    []corpus.Labelled
		id      string
		pattern *regexp.Regexp
		want    []int // indices
		err     string
	}{
		{list: known(), want: []int{1}},
		{list: known(), id: "labelled", want: []int{0, 1}},
		{list: known(), id: "bare", pattern: pattern, want: []int{1, 2}},
		{list: known(), id: "bare", err: `query "bare": want an answer or a pattern to look for`},
		{list: known()[:1], err: "no query to look for: want one that has answers, or one with a pattern"},
	} {
		sought, err := label.Select(c.list, c.id, c.pattern)
		var got []int
		for _, s := range sought {
			got = append(got, s.Index)
			if (s.Pattern != nil) != (s.ID == c.id && c.pattern != nil) {
				t.Errorf("query %s of --query %q has pattern %v", s.ID, c.id, s.Pattern)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" || err == nil && c.err != "" || err != nil && err.Error() != c.err {
			t.Errorf("%q: %v, %s", c.id, err, diff)
		}
	}
}

func TestMerge(t *testing.T) {
	list := label.Merge(known(), corpus.Query{ID: "bare", Text: "Q?"})
	list = label.Merge(list, corpus.Query{ID: "answered", Answers: []string{"c"}, All: true})
	list = label.Merge(list, corpus.Query{ID: "new", Text: "N?"})
	want := append(known(), corpus.Labelled{Query: corpus.Query{ID: "new", Text: "N?"}})
	want[1].Answers, want[1].All, want[2].Text = []string{"c"}, true, "Q?"
	if diff := cmp.Diff(want, list); diff != "" {
		t.Error(diff)
	}
}

func TestApply(t *testing.T) {
	found := []label.Proposed{{All: 1, List: []corpus.Proposal{{Label: corpus.Label{ID: "r9"}}}}, {}}
	sought := []label.Sought{{Index: 1}, {Index: 0}}
	proposed := known()
	label.Apply(proposed, sought, found, false)
	if len(proposed[1].Proposed) != 1 || proposed[1].Labels != nil || len(proposed[0].Labels) != 1 {
		t.Errorf("proposed: %+v", proposed)
	}
	accepted := known()
	label.Apply(accepted, sought, found, true)
	if accepted[1].Proposed != nil || len(accepted[1].Labels) != 1 || accepted[1].Labels[0].ID != "r9" {
		t.Errorf("accepted: %+v", accepted[1])
	}
	if len(accepted[0].Labels) != 1 {
		t.Errorf("a query for which nothing was found lost its labels: %+v", accepted[0])
	}
}
