package stat_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/harness/stat"
)

func recallPlan(rate, icc float64, trials int) stat.Plan {
	return stat.Plan{
		Assume: []stat.Assumption{{
			Criterion:    stat.Criterion{Metric: "recall_committed", Threshold: 0.85},
			BetaBinomial: stat.BetaBinomial{Rate: rate, ICC: icc}, PerTrial: 2,
		}},
		Trials: trials, Repetitions: 300, Seed: 1,
	}
}

func needed(t *testing.T, p stat.Plan) stat.Power {
	t.Helper()
	power, ok, err := p.Needed(0.8, 400)
	if err != nil || !ok {
		t.Fatalf("needed: %+v, %v, %v", power, ok, err)
	}
	return power
}

func TestNeeded(t *testing.T) {
	easy, hard, hopeless := needed(t, recallPlan(0.98, 0.05, 3)), needed(t, recallPlan(0.93, 0.05, 3)), needed(t, recallPlan(0.60, 0.05, 3))
	if !(easy.Queries < hard.Queries) || easy.Go < 0.8 || hard.Go < 0.8 {
		t.Errorf("0.98 needs %+v, 0.93 needs %+v", easy, hard)
	}
	if hopeless.NoGo < 0.8 || hopeless.Go > 0 {
		t.Errorf("0.60 needs %+v, want NO-GO", hopeless)
	}
	if correlated := needed(t, recallPlan(0.93, 0.3, 3)); correlated.Queries <= hard.Queries {
		t.Errorf("correlated queries need %d, nearly independent ones %d", correlated.Queries, hard.Queries)
	}
	for _, few := range []int{hard.Queries - 1, hard.Queries} {
		at, err := recallPlan(0.93, 0.05, 3).At(few)
		if err != nil || (at.Decided() >= 0.8) != (few == hard.Queries) {
			t.Errorf("with %d queries %+v, %v: want %d to be the least that suffice", few, at, err, hard.Queries)
		}
	}
}

// TestNeededOutOfReach: a rate at its threshold is decided by no number of queries.
func TestNeededOutOfReach(t *testing.T) {
	if power, ok, err := recallPlan(0.85, 0.05, 3).Needed(0.8, 100); ok || err != nil || power.Queries != 100 {
		t.Errorf("needed %+v, %v, %v", power, ok, err)
	}
}

// TestTrialsAreNoQueries: where queries differ, ten times the trials are worth less than
// twice the queries.
func TestTrialsAreNoQueries(t *testing.T) {
	trials, err := recallPlan(0.95, 0.3, 20).At(25)
	if err != nil {
		t.Fatal(err)
	}
	queries, err := recallPlan(0.95, 0.3, 2).At(50)
	if err != nil || queries.Go <= trials.Go {
		t.Errorf("20 trials of 25 queries: %+v, 2 trials of 50: %+v (%v)", trials, queries, err)
	}
}

// TestTrialsOfOneDecision: with one exit a trial and no failures the bound is 0.05^(1/G),
// whatever the trials, and 0.05^(1/19) is the first above 0.85.
func TestTrialsOfOneDecision(t *testing.T) {
	plan := recallPlan(1, 0, 3)
	plan.Assume[0].PerTrial = 1
	if curve := curve(t, plan, 18, 19); curve[0].Go != 0 || curve[1].Go != 1 {
		t.Errorf("18 and 19 queries: %+v", curve)
	}
}

// TestCriteriaAreDrawnApart: two alike are met together less often than one.
func TestCriteriaAreDrawnApart(t *testing.T) {
	one, both := recallPlan(0.93, 0.05, 3), recallPlan(0.93, 0.05, 3)
	second := both.Assume[0]
	second.Metric = "specificity_strict"
	both.Assume = append(both.Assume, second)
	a, err := one.At(50)
	if err != nil {
		t.Fatal(err)
	}
	b, err := both.At(50)
	if err != nil || !(b.Go > 0 && b.Go < a.Go) {
		t.Errorf("one criterion: %+v, two: %+v, %v", a, b, err)
	}
}

func TestPowerCurve(t *testing.T) {
	sizes := []int{9, 20, 40, 80}
	first := curve(t, recallPlan(0.95, 0.05, 3), sizes...)
	for i, at := range first {
		if at.Queries != sizes[i] || i > 0 && at.Go < first[i-1].Go {
			t.Errorf("the curve is %+v", first)
		}
	}
	if first[0].Decided() != 0 || first[3].Go < 0.9 {
		t.Errorf("the curve is %+v", first)
	}
	if diff := cmp.Diff(first, curve(t, recallPlan(0.95, 0.05, 3), sizes...)); diff != "" {
		t.Errorf("equal seeds differ:\n%s", diff)
	}
}

// curve is the power with each number of queries.
func curve(t *testing.T, p stat.Plan, queries ...int) []stat.Power {
	t.Helper()
	powers := make([]stat.Power, len(queries))
	for i, n := range queries {
		var err error
		if powers[i], err = p.At(n); err != nil {
			t.Fatal(err)
		}
	}
	return powers
}

// TestCertainRates: gates that are always or never right are decided as soon as may be.
func TestCertainRates(t *testing.T) {
	for rate, want := range map[float64]stat.Power{1: {Queries: 30, Go: 1}, 0: {Queries: 30, NoGo: 1}} {
		if got, err := recallPlan(rate, 0.2, 3).At(30); err != nil || got != want {
			t.Errorf("rate %v: %+v, %v", rate, got, err)
		}
	}
	// Shapes that underflow: every query is all or nothing.
	if got, err := recallPlan(0.9, 0.9999, 3).At(30); err != nil || got.Decided()+got.Inconclusive != 1 {
		t.Errorf("ICC 0.9999: %+v, %v", got, err)
	}
}

func TestBadPlans(t *testing.T) {
	for want, plan := range map[string]stat.Plan{
		"rate 1.2":            recallPlan(1.2, 0, 1),
		"correlation 1":       recallPlan(0.9, 1, 1),
		"without criteria":    {},
		"f1 cannot be":        {Assume: []stat.Assumption{{Criterion: stat.Criterion{Metric: "f1", Threshold: 0.8}}}},
		`unknown metric "re"`: {Assume: []stat.Assumption{{Criterion: stat.Criterion{Metric: "re", Threshold: 0.8}}}},
	} {
		_, err := plan.At(20)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %s", err, want)
		}
		if _, _, err := plan.Needed(0.8, 100); err == nil {
			t.Errorf("%s: no error", want)
		}
	}
}
