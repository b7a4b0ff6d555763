package stat_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	stat "github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/harness/stat/answer"
)

// story is runs in which every metric has something to count.
func story() []stat.Run {
	runs := []stat.Run{
		parseRun("q1", 1, "n~ Y  y2 Y! n=! n"),
		parseRun("q1", 2, "f  Y! n  F  n   n!"),
		parseRun("q1", 3, "n  Y  n  B  n   y"),
		parseRun("q2", 1, "n n n! n"),
		parseRun("q2", 2, "n b n  n"),
		parseRun("q3", 1, "Y n  n n2 y! n n n"),
		parseRun("q3", 2, "Y n! n n  n  n n n"),
		parseRun("q4", 1, "n! n N n n*"),
	}
	runs[0].Answer = &answer.Score{SubEM: 1, EM: 1, F1: 1}
	runs[1].Answer = &answer.Score{F1: 0.25}
	runs[5].Answer = &answer.Score{SubEM: 0.5, F1: 0.5}
	return runs
}

// TestMetrics has every metric of story, counted by hand.
func TestMetrics(t *testing.T) {
	want := map[string]float64{
		"first_try_parse": 43. / 47, "parse_after_retries": 45. / 47,
		"recall_parsed": 7. / 8, "recall_strict": 7. / 9, "recall_committed": 6. / 9,
		"specificity_parsed": 33. / 37, "specificity_strict": 33. / 38,
		"precision": 7. / 11, "f1": 14. / 19, "mcc": (7*33 - 4*1) / math.Sqrt(8*11*37*34),
		"balanced_accuracy": (7./8 + 33./37) / 2, "balanced_accuracy_strict": (7./9 + 33./38) / 2,
		"exit_useful": 3. / 6, "exit_safe": 4. / 6, "exit_premature": 2. / 6, "exit_exact": 1. / 6, "exit_timely": 3. / 6,
		"exit_delay": (0 + 2 + 4 + 1) / 4., "exit_lead": 2, "exit_on_no_evidence": 1. / 2, "would_exit": 6. / 8,
		"turns_saved":      (2./6 + 4./6 + 0 + 1./4 + 0 + 3./8 + 6./8 + 4./5) / 8,
		"safe_turns_saved": (2 + 0 + 3 + 6) / 39., "exit_instability": 17. / 19, "evidence_lost": 0,
		"over_budget": 2. / 11, "retain_violations": 1, "retain_drift": 1. / 2,
		"memory_slope": ((110.+25+50)/17.5/3 + 0 + 80./42/2 + 0) / 4,
		"flip_rate":    (2./3 + 2./3 + 1 + 1) / 18, "exit_flip_rate": (3*2./3 + 4) / 18,
		"reward_update": (40. - 7) / 47, "reward_exit": (0 - .75 - .5 - .5 - .5 - .75) / 6, "reward_format": 5. / 8,
		"sub_em": 1.5 / 3, "answer_em": 1. / 3, "answer_f1": 1.75 / 3, "pass_1": (1./3 + 1 + 0) / 3, "pass_2": 1. / 2, "pass_3": 0,
	}
	got := map[string]float64{}
	for _, m := range stat.Collect(story()).Measure(stat.Auto) {
		if m.Value == nil {
			t.Errorf("%s is undefined: %s", m.Name, m.Reason)
			continue
		}
		got[m.Name] = *m.Value
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-8 })); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}

// TestNoFormulaPassesForAnother fails if the runs of these tests would not notice one
// metric's formula in place of another's: every two differ on story or on a part of it.
func TestNoFormulaPassesForAnother(t *testing.T) {
	seen := map[string]string{}
	parts := [][]stat.Run{story(), story()[:3], story()[3:], story()[5:]}
	for _, d := range stat.Definitions() {
		var signature []string
		for _, part := range parts {
			signature = append(signature, measure(t, stat.Collect(part), d.Name, stat.Auto).String())
		}
		key := strings.Join(signature, "; ")
		if other, twice := seen[key]; twice {
			t.Errorf("%s and %s are equal on all runs: %s", other, d.Name, key)
		}
		seen[key] = d.Name
	}
}

// TestUndefined wants null and a reason of every metric where nothing was seen, and no
// interval of a single query.
func TestUndefined(t *testing.T) {
	if problems := undefinedProblems(new(stat.Sample).Measure(stat.Auto)); problems != nil {
		t.Errorf("without runs: %v", problems)
	}
	zero := new(stat.Sample).Measure(stat.Auto)
	for i := range zero { // an implementation that takes undefined for 0
		zero[i].Value = new(float64)
	}
	if undefinedProblems(zero) == nil {
		t.Error("showing undefined as 0 goes unnoticed")
	}
	for _, m := range stat.Collect([]stat.Run{parseRun("q", 1, "n Y n")}).Measure(stat.Auto) {
		if m.Lower != nil || m.Upper != nil {
			t.Errorf("%s has an interval from one query", m.Name)
		}
	}
}

func undefinedProblems(metrics []stat.Metric) (problems []string) {
	for _, m := range metrics {
		raw, _ := json.Marshal(m)
		if !strings.Contains(string(raw), `"value":null`) || m.Reason == "" || !strings.HasPrefix(m.String(), stat.Dash+" (") {
			problems = append(problems, fmt.Sprintf("%s: %s", m, raw))
		}
	}
	return problems
}

func TestReasonsAreOfTheMetric(t *testing.T) {
	onlyFree := []stat.Run{parseRun("a", 1, "n y n"), parseRun("b", 1, "n n n")}
	for name, want := range map[string]string{
		"recall_strict": "no evidence turns", "exit_safe": "no runs with evidence", "sub_em": "no answers",
		"exit_instability": "no parsed turns after the exit gate opened", "flip_rate": "no turn parsed in 2 trials",
		"pass_1": "no query with evidence has 1 trial", "mcc": "a margin of the table of parsed turns is 0",
	} {
		if e := measure(t, stat.Collect(onlyFree), name, stat.Auto); e.Value != nil || e.Reason != want {
			t.Errorf("%s is %v, want undefined: %s", name, e, want)
		}
	}
	if e := measure(t, stat.Collect(onlyFree), "precision", stat.Auto); e.Value == nil || *e.Value != 0 || e.Lower != nil || len(e.Notes) == 0 {
		t.Errorf("precision without evidence is %+v, want 0 and a note in place of bounds", e)
	}
}

// TestIncompleteRunsAreInNoMetric: an incomplete run is excluded whole, and all its turns
// are missing.
func TestIncompleteRunsAreInNoMetric(t *testing.T) {
	whole := story()
	broken := parseRun("q5", 1, "Y n*")
	broken.Incomplete, broken.Total, broken.Evidence = true, 10, []int{1}
	if diff := cmp.Diff(stat.Collect(whole).Measure(stat.Auto), stat.Collect(append(whole, broken)).Measure(stat.Auto)); diff != "" {
		t.Errorf("an incomplete run changed metrics:\n%s", diff)
	}
	want := stat.Coverage{Runs: 9, Incomplete: 1, Turns: 57, Missing: 10}
	if diff := cmp.Diff(want, stat.Collect(append(whole, broken)).Coverage()); diff != "" {
		t.Errorf("coverage (-want +got):\n%s", diff)
	}
}

// TestEnforcedExitImputesNothing: unreached evidence is lost, not a false negative.
func TestEnforcedExitImputesNothing(t *testing.T) {
	var runs []stat.Run
	for _, q := range []string{"a", "b"} {
		r := parseRun(q, 1, "Y n!")
		r.Exit, r.Total, r.Evidence = stat.ExitEnforce, 10, []int{1, 4, 6}
		runs = append(runs, r)
	}
	for name, want := range map[string]float64{
		"recall_strict": 1, "evidence_lost": 2. / 3, "exit_safe": 0, "exit_lead": 4, "turns_saved": 0.8,
		"safe_turns_saved": 0, "pass_1": 0,
	} {
		if e := measure(t, stat.Collect(runs), name, stat.Auto); e.Value == nil || math.Abs(*e.Value-want) > 1e-8 {
			t.Errorf("%s is %v, want %v", name, e, want)
		}
	}
}

func TestNotes(t *testing.T) {
	split := stat.Collect(append(repeat(12, 3, "Y Y Y"), repeat(15, 3, "N N N")[36:]...))
	if e := measure(t, split, "recall_strict", stat.Auto); e.ICC == nil || *e.ICC < 0.9 || !contains(e.Notes, "intra-query correlation") {
		t.Errorf("queries that are all or nothing have ICC %v and notes %q", e.ICC, e.Notes)
	}
	if e := measure(t, split, "exit_delay", stat.Auto); e.Lower != nil || *e.Value != 0 && e.N == 0 {
		t.Errorf("exit_delay is %+v, want no interval", e)
	}
	if e := measure(t, stat.Collect(repeat(3, 1, "Y n n")), "exit_delay", stat.Auto); !contains(e.Notes, "3 runs with evidence never exit, counted at T") {
		t.Errorf("notes of runs that never exit are %q", e.Notes)
	}
}

// onSessions puts the queries of runs on so many sessions.
func onSessions(runs []stat.Run, sessions int) []stat.Run {
	index := map[string]int{}
	for i := range runs {
		if _, seen := index[runs[i].Query]; !seen {
			index[runs[i].Query] = len(index)
		}
		runs[i].Corpus = fmt.Sprint("s", index[runs[i].Query]%sessions)
	}
	return runs
}

// TestFewSessions: few sessions widen the interval, and the estimate says so.
func TestFewSessions(t *testing.T) {
	for _, c := range []struct {
		sessions int
		unit     stat.Unit
		these    bool
		note     string
	}{
		{30, stat.Auto, false, ""}, {10, stat.Auto, true, ""}, {3, stat.ByQuery, false, ""},
		{3, stat.Auto, true, "3 sessions: with none failing the lower bound would be 0."},
		{1, stat.Auto, true, "1 session: nothing is known about other sessions; `unit: query` decides for new questions on this one"},
	} {
		e := measure(t, stat.Collect(onSessions(repeat(30, 2, "n Y n"), c.sessions)), "recall_strict", c.unit)
		if (e.TheseSessions != nil) != c.these || c.note == "" && len(e.Notes) > 0 || !contains(e.Notes, c.note) {
			t.Errorf("unit %s on %d sessions: %+v", c.unit, c.sessions, e)
		}
		if (e.Lower == nil) != (c.sessions == 1) || e.Sessions != c.sessions || e.Queries != 30 {
			t.Errorf("unit %s on %d sessions: %s", c.unit, c.sessions, e)
		}
		if c.these && e.Lower != nil && *e.TheseSessions.Lower <= *e.Lower {
			t.Errorf("on these %d sessions the bound is %v, in general %v", c.sessions, *e.TheseSessions.Lower, *e.Lower)
		}
	}
	// With none failing, the words name the bound that the interval has at 95 % one-sided.
	s := stat.Collect(onSessions(repeat(30, 2, "n Y n"), 3))
	m, err := s.Count("recall_strict")
	if err != nil {
		t.Fatal(err)
	}
	if lower, _ := m.Bounds(stat.Auto, 0.05); !contains(measure(t, s, "recall_strict", stat.Auto).Notes, fmt.Sprintf("would be %.3f", lower)) {
		t.Errorf("the bound is %v", lower)
	}
}

func contains(notes []string, part string) bool {
	return strings.Contains(strings.Join(notes, "\n"), part)
}

// TestTrialsAreNoUnits: more trials are no more queries, whatever they add to the turns.
func TestTrialsAreNoUnits(t *testing.T) {
	once, five := measure(t, stat.Collect(repeat(12, 1, "n Y n")), "recall_strict", stat.Auto), measure(t, stat.Collect(repeat(12, 5, "n Y n")), "recall_strict", stat.Auto)
	if once.Queries != 12 || five.Queries != 12 || five.N != 60 {
		t.Errorf("queries are %d and %d of %v turns, want 12 and 12 of 60", once.Queries, five.Queries, five.N)
	}
	if math.Abs(*once.Lower-*five.Lower) > 1e-9 {
		t.Errorf("five identical trials moved the bound from %v to %v", *once.Lower, *five.Lower)
	}
}

func TestDefinitionsAreWhole(t *testing.T) {
	for _, d := range stat.Definitions() {
		if got, ok := stat.Define(d.Name); !ok || got != d || d.Formula == "" {
			t.Errorf("%s is defined as %+v", d.Name, got)
		}
	}
	for _, name := range []string{"", "recall", "pass_", "pass_0", "pass_01", "pass_x"} {
		if _, ok := stat.Define(name); ok {
			t.Errorf("%q is a metric", name)
		}
	}
	if _, err := new(stat.Sample).MeasureOne("recal_strict", stat.Auto); err == nil || !strings.Contains(err.Error(), "recall_strict") {
		t.Errorf("unknown metric: %v", err)
	}
}

// TestFailedTurnsOpenNoGate: whatever a turn that did not parse seems to say.
func TestFailedTurnsOpenNoGate(t *testing.T) {
	if e := measure(t, stat.Collect([]stat.Run{parseRun("q", 1, "f! Y n")}), "would_exit", stat.Auto); *e.Value != 0 {
		t.Errorf("would_exit is %v", e)
	}
}

func TestSlopeNeedsThreeTurns(t *testing.T) {
	two, three := []stat.Run{parseRun("q", 1, "n Y")}, []stat.Run{parseRun("q", 1, "n Y Y")}
	if e := measure(t, stat.Collect(two), "memory_slope", stat.Auto); e.Value != nil {
		t.Errorf("the slope of 2 turns is %v", e)
	}
	if e := measure(t, stat.Collect(three), "memory_slope", stat.Auto); *e.Value != 10 {
		t.Errorf("the slope of 0, 10, 20 tokens is %v", e)
	}
}

// TestPassUnitsHaveUsedTheirTrials: K is 1 of what is already a mean over trials (METRICS
// section 2).
func TestPassUnitsHaveUsedTheirTrials(t *testing.T) {
	e := measure(t, stat.Collect(repeat(12, 3, "n Y n")), "pass_3", stat.Auto)
	if e.N != 12 || math.Abs(*e.Lower-math.Pow(0.025, 1./12)) > 1e-8 {
		t.Errorf("pass_3 is %+v", e)
	}
}

// TestCompositesCountTheScarcerRate: with evidence in 3 of 5 queries there are 3.
func TestCompositesCountTheScarcerRate(t *testing.T) {
	runs := append(repeat(3, 1, "n Y n"), repeat(5, 1, "n n y")[3:]...)
	if e := measure(t, stat.Collect(runs), "balanced_accuracy", stat.Auto); e.Queries != 3 {
		t.Errorf("balanced_accuracy has %d queries", e.Queries)
	}
}

// TestMean by hand: the means of the queries are 5, 9 and 1, their standard deviation is 4,
// and t is 4.302653 with 2 degrees of freedom at 2.5 % a side.
func TestMean(t *testing.T) {
	e := stat.Mean([]stat.Cell{{Query: "a", X: 10, N: 2}, {Query: "b", X: 9, N: 1}, {Query: "c", X: 1, N: 1}}, "nothing")
	half := 4.302653 * 4 / math.Sqrt(3)
	if math.Abs(*e.Value-5) > 1e-9 || math.Abs(*e.Lower-(5-half)) > 1e-5 || math.Abs(*e.Upper-(5+half)) > 1e-5 {
		t.Errorf("found %v, want 5.000 [%.3f, %.3f]", e, 5-half, 5+half)
	}
	if e.Queries != 3 || e.X != 20 || e.N != 4 {
		t.Errorf("found %v/%v of %d queries, want 20/4 of 3", e.X, e.N, e.Queries)
	}
	if e := stat.Mean(nil, "nothing"); e.Value != nil || e.Reason != "nothing" {
		t.Errorf("the mean of nothing is %v", e)
	}
	uneven := stat.Mean([]stat.Cell{{Query: "a", X: 10, N: 4}, {Query: "b", X: 9, N: 1}}, "nothing")
	if !contains(uneven.Notes, "mean of query means, 5.750") {
		t.Errorf("notes of unequal queries are %q", uneven.Notes)
	}
}
