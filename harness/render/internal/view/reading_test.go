package view_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/poimen-memory/mem/harness/render/internal/view"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/harness/stat/answer"
	"github.com/poimen-memory/mem/harness/stat/decide"
)

// decided is a decision on so many queries, on sessions of their own or on one, whose runs are
// of two turns, the second on evidence; wrong ones miss it.
func decided(t *testing.T, queries, wrong int, oneSession bool, rule decide.Rule, change func(*stat.Run)) result.Decision {
	t.Helper()
	var s stat.Sample
	for q := range queries {
		r := stat.Run{Query: fmt.Sprint("q", q), Corpus: fmt.Sprint("c", q), Level: "L1", Model: "m", Turns: []stat.Turn{
			{Parsed: true, FirstTry: true}, {Evidence: true, Parsed: true, FirstTry: true, Update: q >= wrong, Written: q >= wrong, Exit: true},
		}}
		if oneSession {
			r.Corpus = "c"
		}
		if change != nil {
			change(&r)
		}
		s.Add(r)
	}
	d, err := decide.Decide(&s, rule)
	if err != nil {
		t.Fatal(err)
	}
	return result.Decision{ID: "M1.8", Model: "m", Level: 1, Decision: d}
}

// TestReadingIsTrue: what a verdict is about and what would change it follow from the decision.
func TestReadingIsTrue(t *testing.T) {
	answers := decide.Rule{Criteria: []decide.Criterion{{Metric: "sub_em", Threshold: 0.8}}}
	answered := func(r *stat.Run) { r.Answer = &answer.Score{SubEM: 1, EM: 1, F1: 1} }
	for name, c := range map[string]struct {
		d         result.Decision
		want, not []string
	}{
		"GO": {decided(t, 60, 0, false, decide.Rule{}, nil),
			[]string{"about: replies, update gate and exit gate of m at L1, for new questions on new sessions like these (60 questions, 60 sessions)",
				"not about: the quality of answers, other kinds of session and", "would change it: more first replies that cannot be parsed (nearest to its threshold: first_try_parse"},
			[]string{"other sessions", "fewer"}},
		"NO-GO": {decided(t, 60, 40, false, decide.Rule{}, nil),
			[]string{"would change it: fewer evidence chunks that are not written; more questions alone would not"}, []string{"parsed"}},
		"few": {decided(t, 12, 0, false, decide.Rule{}, nil), []string{"would change it: about ", "more questions, if the rates hold"}, nil},
		"low": {decided(t, 20, 4, false, decide.Rule{}, nil),
			[]string{"would change it: fewer evidence chunks that are not written, for GO; more questions like these, for NO-GO"}, nil},
		"one session": {decided(t, 20, 0, true, decide.Rule{}, nil), []string{"would change it: more questions, on more sessions"}, nil},
		"query": {decided(t, 60, 0, true, decide.Rule{Unit: stat.ByQuery}, nil),
			[]string{"for new questions on these sessions (60 questions, 1 session)", "answers, other sessions, other"}, nil},
		"session": {decided(t, 60, 0, false, decide.Rule{Unit: stat.BySession}, nil), []string{"these questions on new sessions", "other questions"}, []string{"other sessions,"}},
		"answers": {decided(t, 60, 0, false, answers, answered), []string{"about: answers of m"}, []string{"quality of answers", "gate"}},
		"changed": {decided(t, 20, 0, false, decide.Rule{}, func(r *stat.Run) { r.Turns[0].Changed = true }),
			[]string{"would change it: a loop that keeps the memory's bytes"}, nil},
		"missing": {decided(t, 20, 0, false, decide.Rule{}, func(r *stat.Run) { r.Incomplete, r.Evidence = true, []int{2} }),
			[]string{"would change it: replies to the turns that have none"}, []string{"questions,"}},
		"no evidence": {decided(t, 20, 0, false, decide.Rule{}, func(r *stat.Run) { r.Turns[1] = r.Turns[0] }),
			[]string{"would change it: turns whose chunk holds evidence and runs whose session holds evidence, of which there are none"}, nil},
		"look not due": {decided(t, 12, 0, false, decide.Rule{Looks: []int{20, 50}}, nil), nil, []string{"would change"}},
		"not judged":   {result.Decision{Skipped: "all of its runs were skipped"}, nil, []string{"about"}},
	} {
		said := strings.Join(view.Reading(c.d), "\n")
		for _, want := range c.want {
			if !strings.Contains(said, want) {
				t.Errorf("%s (%s): want %q in\n%s", name, c.d.Verdict, want, said)
			}
		}
		for _, not := range c.not {
			if strings.Contains(said, not) {
				t.Errorf("%s (%s): found %q in\n%s", name, c.d.Verdict, not, said)
			}
		}
	}
}
