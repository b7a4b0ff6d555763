package stat_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/harness/stat"
)

func compare(t *testing.T, a, b []stat.Run, metric string) stat.Comparison {
	t.Helper()
	c, err := stat.Compare(a, b, metric, stat.Flips{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCompare(t *testing.T) {
	a, b := repeat(12, 2, "n Y N n y"), repeat(12, 2, "n Y Y n y")
	c := compare(t, a, b, "recall_strict")
	if c.Units != 12 || c.Cells != 48 || *c.A != 0.5 || *c.B != 1 || *c.Difference != 0.5 || c.NonZero != 12 || !c.Exact {
		t.Errorf("comparison is %+v", c)
	}
	if want := 2 / math.Exp2(12); math.Abs(*c.P-want) > 1e-9 || !c.Significant() || c.Regressed() {
		t.Errorf("p is %v, significant %v, regressed %v", *c.P, c.Significant(), c.Regressed())
	}
	if want := (&stat.McNemarTest{OnlyB: 24, Exact: 1.19e-07, MidP: 6e-08}); c.McNemar == nil || c.McNemar.OnlyB != want.OnlyB || c.McNemar.OnlyA != 0 || c.McNemar.Exact != want.Exact || !strings.Contains(c.McNemar.Note, "nothing is decided") {
		t.Errorf("McNemar is %+v", c.McNemar)
	}
	if back := compare(t, b, a, "recall_strict"); !back.Regressed() || *back.Difference != -0.5 || *back.Lower != -*c.Upper {
		t.Errorf("the other way round: %+v", back)
	}
	if same := compare(t, a, b, "specificity_strict"); *same.Difference != 0 || *same.P != 1 || same.Significant() {
		t.Errorf("equal specificity: %+v", same)
	}
}

// TestLowerIsBetter: more of a bad thing is a regression.
func TestLowerIsBetter(t *testing.T) {
	c := compare(t, repeat(12, 1, "n Y n"), repeat(12, 1, "n! Y n"), "exit_premature")
	if *c.Difference != 1 || !c.Regressed() {
		t.Errorf("premature exits: %+v", c)
	}
}

// TestOnlyPairedCellsCount: what one side alone has scored is dropped and listed.
func TestOnlyPairedCellsCount(t *testing.T) {
	a := []stat.Run{
		parseRun("q1", 1, "Y F Y N"), parseRun("q1", 2, "Y Y"), parseRun("q2", 1, "Y N"), parseRun("q3", 1, "Y"), parseRun("q4", 1, "Y"),
	}
	b := []stat.Run{
		parseRun("q1", 1, "Y Y F Y"), parseRun("q2", 1, "Y Y Y"), parseRun("q3", 1, "Y"), parseRun("q4", 1, "N"), parseRun("q5", 3, "Y"),
	}
	a[3].Incomplete, b[3].Incomplete = true, true
	c := compare(t, a, b, "recall_parsed")
	drop := func(query string, trial int, why string, turns ...int) stat.Drop {
		return stat.Drop{Query: query, Corpus: "c", Level: "L1", Trial: trial, Turns: turns, Why: why}
	}
	want := []stat.Drop{
		drop("q1", 1, "scored in A only", 3), drop("q1", 1, "scored in B only", 2), drop("q1", 2, "no run in B"),
		drop("q2", 1, "scored in B only", 3), drop("q3", 1, "incomplete in A"), drop("q4", 1, "incomplete in B"), drop("q5", 3, "no run in A"),
	}
	if diff := cmp.Diff(want, c.Drops); diff != "" {
		t.Errorf("drops (-want +got):\n%s", diff)
	}
	pairs := []stat.Pair{{Query: "q1", AX: 1, AN: 2, BX: 2, BN: 2}, {Query: "q2", AX: 1, AN: 2, BX: 2, BN: 2}}
	if diff := cmp.Diff(pairs, c.Queries); diff != "" {
		t.Errorf("pairs (-want +got):\n%s", diff)
	}
	// Twins: pooling all that each side has, or counting a failure as a miss.
	if strict := compare(t, a, b, "recall_strict"); *strict.Difference == *c.Difference || len(strict.Drops) == len(c.Drops) {
		t.Errorf("parsed and strict recall are compared alike: %+v", strict)
	}
	if *measure(t, a, "recall_parsed").Value == *c.A {
		t.Error("the pooled rate of A equals that of its paired cells: this test catches nothing")
	}
}

func TestRunMetricsPairByRun(t *testing.T) {
	c := compare(t, repeat(8, 2, "n Y n"), repeat(8, 2, "n! Y n n n"), "exit_safe")
	if c.Cells != 16 || len(c.Drops) != 0 || *c.Difference != -1 {
		t.Errorf("exit_safe: %+v", c)
	}
	c = compare(t, []stat.Run{parseRun("q", 1, "Y n"), parseRun("p", 1, "Y n")}, []stat.Run{parseRun("q", 1, "Y! n"), parseRun("p", 1, "n n")}, "exit_safe")
	if diff := cmp.Diff([]stat.Drop{{Query: "p", Corpus: "c", Level: "L1", Trial: 1, Why: "scored in A only"}}, c.Drops); diff != "" {
		t.Errorf("drops (-want +got):\n%s", diff)
	}
}

func TestFewDifferencesAreSaid(t *testing.T) {
	a := repeat(20, 1, "n Y")
	b := append(repeat(5, 1, "n N"), a[5:]...)
	c := compare(t, a, b, "recall_strict")
	if c.NonZero != 5 || !contains(c.Notes, "5 non-zero differences: fewer than 6 cannot reach 0.05") || c.Significant() {
		t.Errorf("5 of 20 differ: %+v", c)
	}
	if c := compare(t, a, append(repeat(6, 1, "n N"), a[6:]...), "recall_strict"); len(c.Notes) != 0 || !c.Significant() {
		t.Errorf("6 of 20 differ: notes %q, p %v", c.Notes, *c.P)
	}
	if c := compare(t, a[:4], b[:4], "recall_strict"); c.Lower != nil || !contains(c.Notes, "unbounded") {
		t.Errorf("4 queries: %+v", c)
	}
}

func TestNothingPaired(t *testing.T) {
	c := compare(t, repeat(3, 1, "n Y"), nil, "recall_strict")
	if c.Difference != nil || c.P != nil || c.Reason == "" || len(c.Drops) != 3 || c.Significant() || c.Regressed() {
		t.Errorf("comparison with nothing: %+v", c)
	}
}

func TestCompareRefuses(t *testing.T) {
	twice := append(repeat(2, 1, "n Y"), repeat(1, 1, "n Y")...)
	for want, of := range map[string]struct {
		b      []stat.Run
		metric string
	}{
		"B has two runs of query Aa": {twice, "recall_strict"},
		"unknown metric":             {nil, "recall"},
		"cannot be compared":         {nil, "mcc"},
		"flip_rate cannot be":        {nil, "flip_rate"},
	} {
		if _, err := stat.Compare(repeat(2, 1, "n Y"), of.b, of.metric, stat.Flips{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
}

// TestHolmOverTheTable: a claim that is significant alone need not be among others.
func TestHolmOverTheTable(t *testing.T) {
	a := repeat(20, 1, "n Y")
	table := []stat.Comparison{
		compare(t, a, append(repeat(6, 1, "n N"), a[6:]...), "recall_strict"),
		compare(t, a, a, "recall_strict"),
		compare(t, a, nil, "recall_strict"),
	}
	if !table[0].Regressed() {
		t.Fatal("alone it is no regression: this test catches nothing")
	}
	stat.AdjustHolm(table)
	if table[0].Regressed() || *table[0].PHolm != 2**table[0].P || *table[1].PHolm != 1 || table[2].PHolm != nil {
		t.Errorf("adjusted: %v, %v, %v of %v", *table[0].PHolm, *table[1].PHolm, table[2].PHolm, *table[0].P)
	}
}

// TestRegressedIsSignificantAndWorse, whichever way the metric improves; at 5 % it is, and
// an adjusted p-value is the one that counts.
func TestRegressedIsSignificantAndWorse(t *testing.T) {
	num := func(v float64) *float64 { return &v }
	for _, test := range []struct {
		better         stat.Better
		difference     *float64
		p, holm        *float64
		significant, r bool
	}{
		{stat.Higher, num(-0.1), num(0.05), nil, true, true},
		{stat.Higher, num(-0.1), num(0.0501), nil, false, false},
		{stat.Higher, num(0.1), num(0.01), nil, true, false},
		{stat.Higher, num(0), num(0.01), nil, true, false},
		{stat.Lower, num(0.1), num(0.01), nil, true, true},
		{stat.Lower, num(-0.1), num(0.01), nil, true, false},
		{stat.Lower, num(0), num(0.01), nil, true, false},
		{stat.Neither, num(0.1), num(0.01), nil, true, false},
		{stat.Neither, num(-0.1), num(0.01), nil, true, false},
		{stat.Higher, num(-0.1), num(0.01), num(0.06), false, false},
		{stat.Higher, num(-0.1), nil, nil, false, false},
		{stat.Higher, nil, num(0.01), nil, true, false},
	} {
		c := stat.Comparison{Better: test.better, Difference: test.difference, P: test.p, PHolm: test.holm}
		if c.Significant() != test.significant || c.Regressed() != test.r {
			t.Errorf("%+v: significant %v, regressed %v", test, c.Significant(), c.Regressed())
		}
	}
}

// TestMcNemarCountsWhatOnlyOneGotRight, of metrics whose every cell is right or wrong.
func TestMcNemarCountsWhatOnlyOneGotRight(t *testing.T) {
	a, b := []stat.Run{parseRun("q", 1, "n Y Y Y N")}, []stat.Run{parseRun("q", 1, "n! N N Y Y")}
	c, err := stat.Compare(a, b, "recall_strict", stat.Flips{})
	if err != nil || c.McNemar == nil || c.McNemar.OnlyA != 2 || c.McNemar.OnlyB != 1 {
		t.Errorf("recall_strict: %+v, %v, want 2 and 1", c.McNemar, err)
	}
	for _, graded := range []string{"turns_saved", "safe_turns_saved", "reward_update"} {
		for _, pair := range [][2][]stat.Run{{a, b}, {b, a}} {
			if c, err := stat.Compare(pair[0], pair[1], graded, stat.Flips{}); err != nil || c.McNemar != nil {
				t.Errorf("%s: %+v, %v, want none", graded, c.McNemar, err)
			}
		}
	}
	twice := append(b, b...)
	if _, err := stat.Compare(a, twice, "recall_strict", stat.Flips{}); err == nil || !strings.HasPrefix(err.Error(), "B has two runs of query q") {
		t.Errorf("B twice: %v", err)
	}
}
