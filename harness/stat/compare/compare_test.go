package compare_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	stat "github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/harness/stat/cluster"
	"github.com/poimen-memory/mem/harness/stat/compare"
)

// parse reads turns: y, n and f (not parsed), upper case on evidence, ! for end.
func parse(query string, trial int, line string) stat.Run {
	r := stat.Run{Query: query, Corpus: "c-" + query, Level: "L1", Trial: trial}
	for _, word := range strings.Fields(line) {
		letter := strings.ToLower(word[:1])
		yes, parsed := letter == "y", letter != "f"
		r.Turns = append(r.Turns, stat.Turn{
			Evidence: letter != word[:1], Parsed: parsed, FirstTry: parsed, Update: yes, Written: yes, Exit: strings.Contains(word, "!"),
		})
	}
	return r
}

func repeat(queries, trials int, line string) (runs []stat.Run) {
	for q := range queries {
		for trial := range trials {
			runs = append(runs, parse(fmt.Sprint("q", q), trial, line))
		}
	}
	return runs
}

func comparison(t *testing.T, a, b []stat.Run, metric string, cfg compare.Config) *compare.Comparison {
	t.Helper()
	c, err := compare.Runs(a, b, []string{metric}, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c[0]
}

func TestCompare(t *testing.T) {
	a, b := repeat(40, 2, "n Y N n y"), repeat(40, 2, "n Y Y n y")
	c := comparison(t, a, b, "recall_strict", compare.Config{})
	if c.Queries != 40 || c.Cells != 160 || *c.A != 0.5 || *c.B != 1 || *c.Difference != 0.5 || !c.Significant() || c.Regressed() || c.Power() != "" {
		t.Errorf("comparison is %+v", c)
	}
	if c.McNemar == nil || c.McNemar.OnlyB != 80 || c.McNemar.OnlyA != 0 || !strings.Contains(c.McNemar.Note, "nothing is decided") {
		t.Errorf("McNemar is %+v", c.McNemar)
	}
	if back := comparison(t, b, a, "recall_strict", compare.Config{}); !back.Regressed() || *back.Difference != -0.5 || math.Abs(*back.Lower+*c.Upper) > 1e-8 {
		t.Errorf("the other way round: %+v", back)
	}
	same := comparison(t, a, b, "specificity_strict", compare.Config{})
	if *same.Difference != 0 || *same.P != 1 || same.Significant() || *same.Lower >= 0 || !strings.HasPrefix(same.Power(), "would detect a difference of 0.") {
		t.Errorf("equal specificity: %+v, %q", same, same.Power())
	}
}

// TestPrintedRatesAgree: queries of unequal size do not turn the sign of the difference
// against the printed rates.
func TestPrintedRatesAgree(t *testing.T) {
	long := strings.Repeat("Y ", 30)
	worse := strings.Repeat("Y ", 20) + strings.Repeat("N ", 10)
	a, b := []stat.Run{parse("long", 1, long)}, []stat.Run{parse("long", 1, worse)}
	for q := range 5 {
		a, b = append(a, parse(fmt.Sprint("short", q), 1, "N")), append(b, parse(fmt.Sprint("short", q), 1, "Y"))
	}
	c := comparison(t, a, b, "recall_strict", compare.Config{})
	if math.Abs(*c.B-*c.A-*c.Difference) > 1e-9 || *c.Difference >= 0 {
		t.Errorf("rates %v and %v, difference %v", *c.A, *c.B, *c.Difference)
	}
}

// TestMeansAreOnTheirScale: a bounded mean's difference is in its own unit, as its margin is.
func TestMeansAreOnTheirScale(t *testing.T) {
	a, b := repeat(40, 1, "Y n n n"), repeat(40, 1, "Y n n y") // one of 4 turns wrong: −2/4
	c := comparison(t, a, b, "reward_update", compare.Config{Margin: 0.6})
	if *c.A != 1 || *c.B != 0.5 || *c.Difference != -0.5 || !(*c.Lower > -1 && *c.Lower < -0.5) {
		t.Errorf("%v to %v is %v, at least %v", *c.A, *c.B, *c.Difference, *c.Lower)
	}
	small := comparison(t, a, b, "reward_update", compare.Config{Margin: 0.3})
	if c.Margin.Verdict == cluster.Worse || small.Margin.Verdict != cluster.Worse {
		t.Errorf("margin 0.6: %s, margin 0.3: %s", c.Margin.Verdict, small.Margin.Verdict)
	}
}

// TestLowerIsBetter: more of a bad thing is a regression, and worse than a margin.
func TestLowerIsBetter(t *testing.T) {
	good, bad := repeat(40, 1, "n Y n"), repeat(40, 1, "n! Y n")
	c := comparison(t, good, bad, "exit_premature", compare.Config{Margin: 0.1})
	if *c.Difference != 1 || !c.Regressed() || c.Margin.Verdict != cluster.Worse {
		t.Errorf("premature exits: %+v, margin %s", c, c.Margin.Verdict)
	}
	if c := comparison(t, bad, good, "exit_premature", compare.Config{Margin: 0.1}); c.Regressed() || c.Margin.Verdict != cluster.NotWorse {
		t.Errorf("fewer premature exits: %+v, margin %s", c, c.Margin.Verdict)
	}
}

// TestOnlyPairedCellsCount: what one side alone has scored is dropped and listed.
func TestOnlyPairedCellsCount(t *testing.T) {
	a := []stat.Run{
		parse("q1", 1, "Y F Y N"), parse("q1", 2, "Y Y"), parse("q2", 1, "Y N"), parse("q3", 1, "Y"), parse("q4", 1, "Y"),
	}
	b := []stat.Run{
		parse("q1", 1, "Y Y F Y"), parse("q2", 1, "Y Y Y"), parse("q3", 1, "Y"), parse("q4", 1, "N"), parse("q5", 3, "Y"),
	}
	a[3].Incomplete, b[3].Incomplete = true, true
	c := comparison(t, a, b, "recall_parsed", compare.Config{})
	drop := func(query string, trial int, why string, turns ...int) compare.Drop {
		return compare.Drop{Query: query, Corpus: "c-" + query, Level: "L1", Trial: trial, Why: why, Turns: turns}
	}
	want := []compare.Drop{
		drop("q1", 1, "scored in A only", 3), drop("q1", 1, "scored in B only", 2), drop("q1", 2, "no run in B"),
		drop("q2", 1, "scored in B only", 3), drop("q3", 1, "incomplete in A"), drop("q4", 1, "incomplete in B"), drop("q5", 3, "no run in A"),
	}
	if diff := cmp.Diff(want, c.Drops); diff != "" {
		t.Errorf("drops (-want +got):\n%s", diff)
	}
	if c.Cells != 4 || *c.A != 0.5 || *c.B != 1 {
		t.Errorf("%d cells, %v and %v", c.Cells, *c.A, *c.B)
	}
	if empty := comparison(t, a[:1], b[4:], "recall_parsed", compare.Config{}); empty.Difference != nil || empty.Reason == "" {
		t.Errorf("nothing in common: %+v", empty)
	}
}

// TestFewSessions: on one session nothing is known about others.
func TestFewSessions(t *testing.T) {
	session := func(runs []stat.Run) []stat.Run {
		for i := range runs {
			runs[i].Session = "s"
		}
		return runs
	}
	a, b := session(repeat(40, 1, "N")), session(repeat(40, 1, "Y"))
	if c := comparison(t, a, b, "recall_strict", compare.Config{}); c.Lower != nil || c.P != nil || c.Significant() || c.TheseSessions.Lower == nil || len(c.Notes) == 0 {
		t.Errorf("unit auto on one session: %+v", c)
	}
	if c := comparison(t, a, b, "recall_strict", compare.Config{Unit: stat.ByQuery}); !c.Significant() {
		t.Errorf("unit query on one session: %+v", c)
	}
}

func TestRefused(t *testing.T) {
	for _, metric := range []string{"exit_delay", "memory_slope", "mcc", "flip_rate", "pass_2", "retain_violations", "recal"} {
		if _, err := compare.New([]string{metric}); err == nil {
			t.Errorf("%s is compared", metric)
		}
	}
	twice := []stat.Run{parse("q", 1, "Y"), parse("q", 1, "Y")}
	if _, err := compare.Runs(twice, twice[:1], []string{"recall_strict"}, compare.Config{}); err == nil {
		t.Error("two runs of one cell are compared")
	}
	twice[1].ID = "q2" // of an id that is the same query
	if _, err := compare.Runs(twice, twice, []string{"recall_strict"}, compare.Config{}); err != nil {
		t.Error(err)
	}
}

func TestAdjustHolm(t *testing.T) {
	p := []float64{0.04, 0.01, 0.03}
	table := []*compare.Comparison{{P: &p[0]}, {}, {P: &p[1]}, {P: &p[2]}}
	compare.AdjustHolm(table)
	if *table[0].PHolm != 0.06 || table[1].PHolm != nil || *table[2].PHolm != 0.03 || *table[3].PHolm != 0.06 || table[0].Significant() {
		t.Errorf("adjusted %v, %v, %v, %v", *table[0].PHolm, table[1].PHolm, *table[2].PHolm, *table[3].PHolm)
	}
}
