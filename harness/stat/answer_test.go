package stat_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/harness/stat"
)

// scored is an answer with its references and what it is worth.
type scored struct {
	answer string
	refs   []string
	all    bool
	want   stat.AnswerScore
}

// answers are worked by hand.
func answers() []scored {
	one := func(answer, ref string, sub, em, f1 float64) scored {
		return scored{answer, []string{ref}, false, stat.AnswerScore{SubEM: sub, EM: em, F1: f1}}
	}
	return []scored{
		one("It was Paris.", "paris", 1, 0, 2./4),
		one("Paris", "paris", 1, 1, 1),
		one("no", "Nobel", 0, 0, 0), // contained the other way round
		one("york", "New York", 0, 0, 2./3),
		one("unknown", "no", 0, 0, 0), // characters, not tokens
		one("", "", 0, 0, 0),
		one("", "paris", 0, 0, 0),
		one("the answer", "the", 0, 0, 0),
		one("a new York city", "New York", 1, 0, 4./5),
		one("They caught a fish, an eel", "caught fish eel", 1, 0, 6./7),
		one("new, in York", "New York", 0, 0, 4./5),
		one("York New", "New York", 0, 0, 1),
		one("ÉCOLE “Normale”", "école normale", 1, 1, 1),
		one("It costs $5", "5", 1, 0, 2./4), // symbols of ASCII go, as SQuAD's
		one("It costs €5", "5", 0, 0, 0),
		one("red red", "red", 1, 0, 2./3), // as often as both have it
		{"Port 6380, of the staging Redis", []string{"5432", "6380"}, false, stat.AnswerScore{SubEM: 1, F1: 2. / 6}},
		{"6380", []string{"port 6380", "6380"}, false, stat.AnswerScore{SubEM: 1, EM: 1, F1: 1}},
		{"6380", []string{"the", "6380"}, false, stat.AnswerScore{SubEM: 1, EM: 1, F1: 1}}, // a reference of nothing is passed over
		{"", []string{"", "the"}, true, stat.AnswerScore{}},
		{"7, 9", []string{"7", "8", "9"}, true, stat.AnswerScore{SubEM: 2. / 3, F1: 4. / 5}},
		{"9, 7", []string{"7", "9"}, true, stat.AnswerScore{SubEM: 1, EM: 1, F1: 1}},
		{"9 and 7", []string{"7", "9"}, true, stat.AnswerScore{SubEM: 1, F1: 4. / 5}},
		{"It is 7", []string{"7"}, true, stat.AnswerScore{SubEM: 1, F1: 2. / 4}},
		{"York New", []string{"New York"}, true, stat.AnswerScore{F1: 1}}, // one part is no list
		{"", []string{"", "7"}, true, stat.AnswerScore{}},
		{"7", nil, true, stat.AnswerScore{}},
	}
}

func alike(a, b float64) bool { return math.Abs(a-b) < 1e-12 }

func TestScoreAnswer(t *testing.T) {
	for _, a := range answers() {
		got := stat.ScoreAnswer(a.answer, a.refs, a.all)
		if diff := cmp.Diff(a.want, got, cmp.Comparer(alike)); diff != "" {
			t.Errorf("%q, references %q, all %v (-want +got):\n%s", a.answer, a.refs, a.all, diff)
		}
	}
}

// TestLooserReadingsOfSubEMAreCaught: each of these passes for sub_em somewhere, and the
// answers above tell it from ours.
func TestLooserReadingsOfSubEMAreCaught(t *testing.T) {
	characters := func(a, b string) bool { return strings.Contains(strings.ToLower(a), strings.ToLower(b)) }
	for name, twin := range map[string]func(answer, ref string) bool{
		"either way":  func(answer, ref string) bool { return characters(answer, ref) || characters(ref, answer) },
		"characters":  characters,
		"token sets":  func(answer, ref string) bool { return stat.ScoreAnswer(answer, []string{ref}, false).F1 > 0 },
		"the reverse": func(answer, ref string) bool { return stat.ScoreAnswer(ref, []string{answer}, false).SubEM == 1 },
	} {
		if !slices.ContainsFunc(answers(), func(a scored) bool {
			return len(a.refs) == 1 && twin(a.answer, a.refs[0]) != a.want.Right()
		}) {
			t.Errorf("no answer tells %q from sub_em", name)
		}
	}
}

// TestCrossAnswers: gates are right that write all evidence and nothing else, and do not
// exit before the last of it.
func TestCrossAnswers(t *testing.T) {
	right, wrong, partly := &stat.AnswerScore{SubEM: 1}, &stat.AnswerScore{}, &stat.AnswerScore{SubEM: 0.5}
	run := func(turns string, answer *stat.AnswerScore) stat.Run {
		r := parseRun("q", 1, turns)
		r.Answer = answer
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
		runs[i].Answer = &stat.AnswerScore{SubEM: 1, EM: 1, F1: 1}
	}
	for _, metric := range []string{"sub_em", "answer_em", "answer_f1"} {
		e := measure(t, runs, metric)
		if e.Units != 12 || e.N != 60 || *e.Value != 1 || *e.Lower > 0.9 {
			t.Errorf("%s is %s over %v runs", metric, e, e.N)
		}
	}
}
