package stat_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	stat "github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/harness/stat/answer"
)

// TestCrossAnswers: gates are right that write all evidence and nothing else, and do not
// exit before the last of it.
func TestCrossAnswers(t *testing.T) {
	right, wrong, partly := &answer.Score{SubEM: 1}, &answer.Score{}, &answer.Score{SubEM: 0.5}
	run := func(turns string, score *answer.Score) stat.Run {
		r := parseRun("q", 1, turns)
		r.Answer = score
		return r
	}
	incomplete := run("n Y", right)
	incomplete.Incomplete = true
	got := stat.CrossAnswers([]stat.Run{
		incomplete,                                // what comes after it counts
		run("n Y n", right), run("n Y! n", right), // both
		run("n Y n", wrong), run("n Y f", partly), // the gates only; a failure that retained does no harm
		run("n N n", right), run("y Y n", right), run("n Y B", right), run("n! Y n", right), // the answer only
		run("n Y F", wrong),                    // neither
		run("n n n", right), run("n Y n", nil), // no evidence; not scored
	})
	want := stat.AnswerTable{Both: 2, GatesOnly: 2, AnswerOnly: 4, Neither: 1, NoEvidence: 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAnswersAreMeasuredByQueries: five trials of a query are one unit, and a perfect score
// of few queries has no perfect bound.
func TestAnswersAreMeasuredByQueries(t *testing.T) {
	runs := repeat(12, 5, "n Y n")
	for i := range runs {
		runs[i].Answer = &answer.Score{SubEM: 1, EM: 1, F1: 1}
	}
	for _, metric := range []string{"sub_em", "answer_em", "answer_f1"} {
		e := measure(t, stat.Collect(runs), metric, stat.Auto)
		if e.Queries != 12 || e.N != 60 || *e.Value != 1 || *e.Lower > 0.9 {
			t.Errorf("%s is %s over %v runs", metric, e, e.N)
		}
	}
}
