package stat_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/harness/stat"
)

// The gates of models without a brain, over ten chunks of which two are evidence.
const (
	oracle       = "n n Y n n n Y! n! n! n!"
	alwaysUpdate = "y y Y y y y Y y y y"
	neverUpdate  = "n n N n n n N n n n"
	overBudget   = "n n B n n n B! n! n! n!"
	exitsAtOnce  = "n! n! Y! n! n! n! Y! n! n! n!"
	failsToParse = "n2 n Y n2 n n Y! n! n! f"
)

func decide(t *testing.T, runs []stat.Run, rule stat.Rule) stat.Decision {
	t.Helper()
	d, err := stat.Decide(runs, rule)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDecisionOfPolicies(t *testing.T) {
	for _, test := range []struct {
		name, line string
		want       stat.Verdict
		criterion  string // that says so
	}{
		{"oracle", oracle, stat.Go, ""},
		{"always_update", alwaysUpdate, stat.NoGo, "specificity_strict"},
		{"never_update", neverUpdate, stat.NoGo, "recall_committed"},
		{"every write over budget", overBudget, stat.NoGo, "recall_committed"},
		{"exits at once", exitsAtOnce, stat.NoGo, "exit_safe"},
		{"fails to parse", failsToParse, stat.NoGo, "first_try_parse"},
	} {
		d := decide(t, repeat(60, 3, test.line), stat.Rule{})
		if d.Verdict != test.want {
			t.Errorf("%s is %s (%s), want %s", test.name, d.Verdict, d.Reason, test.want)
		}
		if !strings.Contains(d.Reason, test.criterion) {
			t.Errorf("%s: the reason is %q, want %s", test.name, d.Reason, test.criterion)
		}
		for _, j := range d.Criteria {
			if (j.Verdict == stat.NoGo) != (j.Metric == test.criterion) {
				t.Errorf("%s: %s is %s (%s)", test.name, j.Metric, j.Verdict, j.Reason)
			}
		}
	}
}

// TestOverBudgetNeedsCommittedRecall: a rule on what the gate says would let a writer pass
// none of whose writes is accepted.
func TestOverBudgetNeedsCommittedRecall(t *testing.T) {
	said := stat.DefaultCriteria()
	said[0].Metric = "recall_strict"
	if d := decide(t, repeat(60, 3, overBudget), stat.Rule{Criteria: said}); d.Verdict != stat.Go {
		t.Errorf("by recall_strict the over-budget writer is %s (%s): the test above proves nothing", d.Verdict, d.Reason)
	}
}

func TestFewQueriesDecideNothing(t *testing.T) {
	for name, line := range map[string]string{"perfect": oracle, "hopeless": neverUpdate} {
		if d := decide(t, repeat(9, 30, line), stat.Rule{}); d.Verdict != stat.Inconclusive {
			t.Errorf("%s on 9 queries is %s (%s)", name, d.Verdict, d.Reason)
		}
	}
	if d := decide(t, repeat(10, 3, neverUpdate), stat.Rule{}); d.Verdict != stat.NoGo {
		t.Errorf("never_update on 10 queries is %s (%s)", d.Verdict, d.Reason)
	}
	// 30 queries, but 9 with evidence: nothing is decided, hopeless as specificity is.
	var runs []stat.Run
	for i, r := range repeat(30, 3, "y y y y y") {
		if i < 9*3 {
			r = parseRun(r.Query, r.Trial, "y Y y y y")
		}
		runs = append(runs, r)
	}
	if d := decide(t, runs, stat.Rule{}); d.Verdict != stat.Inconclusive || !strings.Contains(d.Reason, "9 queries, fewer than 10") {
		t.Errorf("9 queries with evidence: %s (%s)", d.Verdict, d.Reason)
	}
}

// TestNothingToDecide: what is undefined is neither good nor bad; a twin that takes it for
// 0 would say NO-GO.
func TestNothingToDecide(t *testing.T) {
	for name, runs := range map[string][]stat.Run{
		"no runs": nil, "no evidence": repeat(40, 3, "n n n"), "only evidence": repeat(40, 3, "Y Y Y"), "one query": repeat(1, 90, oracle),
	} {
		d := decide(t, runs, stat.Rule{})
		if d.Verdict != stat.Inconclusive || d.Reason == "" {
			t.Errorf("%s: %s (%s)", name, d.Verdict, d.Reason)
		}
		if _, err := json.Marshal(d); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	d := decide(t, repeat(40, 3, "n n n"), stat.Rule{})
	if j := d.Criteria[0]; j.Lower != nil || j.Upper != nil || j.Reason != "undefined: no evidence turns" {
		t.Errorf("recall without evidence is %+v", j)
	}
}

func TestInvalid(t *testing.T) {
	changed := repeat(60, 3, oracle)
	changed[7].Turns[0].Changed = true
	d := decide(t, changed, stat.Rule{})
	if d.Verdict != stat.Invalid || d.Changed != 1 || !strings.Contains(d.Reason, "1 retaining turn changed") {
		t.Errorf("changed bytes: %s, %d (%s)", d.Verdict, d.Changed, d.Reason)
	}
	for _, test := range []struct {
		reached int
		want    stat.Verdict
	}{{8, stat.Go}, {7, stat.Invalid}} { // of 10 in one run of 20 queries: 2 and 3 of 200 turns
		runs := repeat(20, 1, oracle)
		runs[3].Incomplete, runs[3].Total, runs[3].Turns = true, 10, runs[3].Turns[:test.reached]
		if d := decide(t, runs, stat.Rule{Criteria: []stat.Criterion{{"specificity_strict", 0.8}}}); d.Verdict != test.want {
			t.Errorf("%d of %d turns missing: %s (%s), want %s", d.Coverage.Missing, d.Coverage.Turns, d.Verdict, d.Reason, test.want)
		}
	}
	// What an incomplete run broke is broken all the same.
	broken := repeat(60, 3, oracle)
	broken[0].Incomplete, broken[0].Turns[0].Changed = true, true
	if d := decide(t, broken, stat.Rule{}); d.Verdict != stat.Invalid {
		t.Errorf("changed bytes in an incomplete run: %s", d.Verdict)
	}
}

func TestBadRules(t *testing.T) {
	for want, criteria := range map[string][]stat.Criterion{
		`unknown metric "recal"`:        {{"recal", 0.8}},
		"threshold 1.5: want a number":  {{"recall_strict", 1.5}},
		"threshold -0.1: want a number": {{"recall_strict", -0.1}},
		"threshold NaN: want a number":  {{"recall_strict", math.NaN()}},
		"given twice":                   {{"recall_strict", 0.8}, {"recall_strict", 0.9}},
		"more is better":                {{"over_budget", 0.1}},
		"no interval":                   {{"exit_delay", 0.1}},
	} {
		if _, err := stat.Decide(nil, stat.Rule{Criteria: criteria}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v, want %s", criteria, err, want)
		}
	}
	err := stat.Validate([]stat.Criterion{{"recal", 0.8}, {"exit_safe", 2}})
	if err == nil || !strings.Contains(err.Error(), "recal") || !strings.Contains(err.Error(), "threshold 2") {
		t.Errorf("not all errors at once: %v", err)
	}
	if err := stat.Validate(stat.DefaultCriteria()); err != nil {
		t.Error(err)
	}
}

func TestDecisionIsOfOneGroup(t *testing.T) {
	mixed := repeat(2, 1, oracle)
	mixed[1].Model = "other"
	enforced := repeat(2, 1, oracle)
	enforced[1].Exit = stat.ExitEnforce
	for name, runs := range map[string][]stat.Run{"two models": mixed, "enforced": enforced} {
		if _, err := stat.Decide(runs, stat.Rule{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestOnlyTheEdgeDecides: a criterion is GO exactly from its lower bound down, and NO-GO
// exactly above its upper one.
func TestOnlyTheEdgeDecides(t *testing.T) {
	runs := append(repeat(30, 2, oracle), repeat(40, 2, "n n Y n y n N n n n")[60:]...)
	at := func(threshold float64) stat.Judgment {
		return decide(t, runs, stat.Rule{Criteria: []stat.Criterion{{"recall_strict", threshold}, {"specificity_strict", 0.5}}}).Criteria[0]
	}
	j := at(0.9)
	const step = 1e-6
	for threshold, want := range map[float64]stat.Verdict{
		*j.Lower - step: stat.Go, *j.Lower + step: stat.Inconclusive, *j.Upper - step: stat.Inconclusive, *j.Upper + step: stat.NoGo,
	} {
		if got := at(threshold); got.Verdict != want {
			t.Errorf("at %v between %v and %v: %s, want %s", threshold, *j.Lower, *j.Upper, got.Verdict, want)
		}
	}
	if j.UpperLevel != 0.975 {
		t.Errorf("the upper bound of one of two criteria is at %v", j.UpperLevel)
	}
}

// TestCompositesAndMeansCanBeRequired: any metric with an interval of which more is better.
func TestCompositesAndMeansCanBeRequired(t *testing.T) {
	rule := stat.Rule{Criteria: []stat.Criterion{{"balanced_accuracy", 0.8}, {"turns_saved", 0.2}, {"pass_2", 0.8}}}
	if d := decide(t, repeat(60, 3, oracle), rule); d.Verdict != stat.Go {
		t.Errorf("the oracle is %s (%s)", d.Verdict, d.Reason)
	}
	if d := decide(t, repeat(60, 3, alwaysUpdate), rule); d.Verdict != stat.NoGo {
		t.Errorf("always_update is %s (%s)", d.Verdict, d.Reason)
	}
}

func TestFurtherQueries(t *testing.T) {
	// 12 perfect queries: first_try_parse ≥ 0.95 alone needs more.
	d := decide(t, repeat(12, 3, oracle), stat.Rule{})
	if d.Verdict != stat.Inconclusive || d.Further == nil || d.Further.IfRateHolds == nil {
		t.Fatalf("12 queries: %s, further %v", d.Verdict, d.Further)
	}
	most := 0
	for _, j := range d.Criteria {
		if j.Further != nil {
			most = max(most, *j.Further.IfRateHolds)
		}
	}
	if *d.Further.IfRateHolds != most {
		t.Errorf("the decision needs %d more, its slowest criterion %d", *d.Further.IfRateHolds, most)
	}
	if d := decide(t, repeat(12+most, 3, oracle), stat.Rule{}); d.Verdict != stat.Go {
		t.Errorf("with the %d more queries it is %s (%s)", most, d.Verdict, d.Reason)
	}
	if d := decide(t, repeat(12+most-1, 3, oracle), stat.Rule{}); d.Verdict == stat.Go {
		t.Errorf("with one query less than projected it is GO")
	}
}

// TestFurtherIsAtLeastTheMinimum: a projection never proposes what rule 2 would refuse.
func TestFurtherIsAtLeastTheMinimum(t *testing.T) {
	d := decide(t, repeat(4, 3, oracle), stat.Rule{Criteria: []stat.Criterion{{"specificity_strict", 0.1}}})
	if d.Further == nil || d.Further.IfRateHolds == nil || *d.Further.IfRateHolds != 6 {
		t.Errorf("further queries after 4: %v, want 6", d.Further)
	}
}

func TestFurtherNotReachable(t *testing.T) {
	rule := stat.Rule{Criteria: []stat.Criterion{{"recall_strict", 0.85}}}
	below := append(repeat(16, 1, "n Y Y Y Y Y"), repeat(20, 1, "n N N N Y Y")[16:]...) // 0.88 and less
	below = append(below, repeat(24, 1, "n N Y Y Y Y")[20:]...)
	d := decide(t, below, rule)
	j := d.Criteria[0]
	if d.Verdict != stat.Inconclusive || (*j.Estimate.Value < 0.85) != (j.Further.IfRateHolds == nil) {
		t.Errorf("%s with a rate of %v: further %v", d.Verdict, *j.Estimate.Value, j.Further)
	}
	barely := repeat(20, 1, "n "+strings.Repeat("Y ", 17)+"N N N") // exactly the threshold
	if f := decide(t, barely, rule).Further; f == nil || f.IfRateHolds != nil || f.WithChance != nil || !strings.Contains(f.String(), "not reachable") {
		t.Errorf("further queries at exactly the threshold: %v", f)
	}
}

// TestOneOutOfReachIsAllOutOfReach: the decision waits for its slowest criterion, for ever
// if that is never GO, in whatever order they come.
func TestOneOutOfReachIsAllOutOfReach(t *testing.T) {
	runs := repeat(20, 1, "n "+strings.Repeat("Y ", 17)+"N N N") // recall exactly 0.85
	never, soon := stat.Criterion{Metric: "recall_strict", Threshold: 0.85}, stat.Criterion{Metric: "specificity_strict", Threshold: 0.9}
	for _, criteria := range [][]stat.Criterion{{never, soon}, {soon, never}} {
		d := decide(t, runs, stat.Rule{Criteria: criteria})
		if d.Further == nil || d.Further.IfRateHolds != nil || d.Further.Reason == "" {
			t.Errorf("%v: further %v", criteria, d.Further)
		}
		alone := decide(t, runs, stat.Rule{Criteria: []stat.Criterion{soon}}).Further
		if alone == nil || alone.IfRateHolds == nil {
			t.Errorf("specificity alone: further %v", alone)
		}
	}
}

func TestLookingAgainIsSaid(t *testing.T) {
	runs := repeat(60, 3, oracle)
	if d := decide(t, runs, stat.Rule{Earlier: 20}); !contains(d.Notes, "decided before on 20 queries, now on 60") {
		t.Errorf("notes are %q", d.Notes)
	}
	if d := decide(t, runs, stat.Rule{Earlier: 60}); len(d.Notes) != 0 {
		t.Errorf("the same queries again: notes are %q", d.Notes)
	}
}

func TestDefaultCriteria(t *testing.T) {
	want := []stat.Criterion{{"recall_committed", 0.85}, {"specificity_strict", 0.85}, {"exit_safe", 0.80}, {"first_try_parse", 0.95}}
	if diff := cmp.Diff(want, stat.DefaultCriteria()); diff != "" {
		t.Errorf("criteria (-want +got):\n%s", diff)
	}
}
