package compare_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/harness/stat/compare"
)

// atLevel is a parsed run on a corpus at a level.
func atLevel(level, corpus, query, line string) stat.Run {
	r := parse(query, 1, line)
	r.Level, r.Corpus = level, corpus
	return r
}

func levels(t *testing.T, a, b []stat.Run, metric string) *compare.Comparison {
	t.Helper()
	c, err := compare.Levels(a, b, []string{metric}, compare.Config{Unit: stat.ByQuery})
	if err != nil {
		t.Fatal(err)
	}
	return c[0]
}

// TestLevelsByQuery: a query counts once, however many sessions it has at L1 and turns at L2.
func TestLevelsByQuery(t *testing.T) {
	lower := []stat.Run{
		atLevel("L1", "a", "q1", "Y N N N"), atLevel("L1", "b", "q1", "Y"), // 2 of 5
		atLevel("L1", "a", "q2", "Y"),
		atLevel("L1", "a", "q3", "Y"),
		atLevel("L1", "a", "q4", "Y"), atLevel("L1", "b", "q4", "Y"),
	}
	lower[5].Incomplete = true
	upper := []stat.Run{
		atLevel("L2", "memories", "q1", "Y Y Y N"), // 3 of 4
		atLevel("L2", "memories", "q2", "N"),
		atLevel("L2", "memories", "q4", "Y"),
		atLevel("L2", "memories", "q5", "Y"),
	}
	for i := range upper {
		upper[i].Session = "a+b"
	}
	c := levels(t, lower, upper, "recall_strict")
	if *c.A != (0.4+1)/2 || *c.B != (0.75+0)/2 || c.Cells != 2 || c.Queries != 2 || c.Sessions != 1 || c.McNemar != nil {
		t.Errorf("%v and %v of %d cells, %d queries, %d sessions, McNemar %v", *c.A, *c.B, c.Cells, c.Queries, c.Sessions, c.McNemar)
	}
	if math.Abs(*c.Difference-(*c.B-*c.A)) > 1e-9 || len(c.Notes) == 0 || !strings.Contains(c.Notes[len(c.Notes)-1], "counts once") {
		t.Errorf("difference %v, notes %q", *c.Difference, c.Notes)
	}
	drop := func(query, corpus, why string) compare.Drop {
		return compare.Drop{Query: query, Corpus: corpus, Trial: 1, Why: why}
	}
	want := []compare.Drop{drop("q3", "a", "no run in B"), drop("q4", "a", "incomplete in A"), drop("q5", "memories", "no run in A")}
	if diff := cmp.Diff(want, c.Drops); diff != "" {
		t.Errorf("drops (-want +got):\n%s", diff)
	}
}

// TestLevelsOverTheSameChunks are paired turn by turn.
func TestLevelsOverTheSameChunks(t *testing.T) {
	lower := []stat.Run{atLevel("L1", "a", "q1", "Y N N N"), atLevel("L1", "a", "q2", "Y")}
	upper := []stat.Run{atLevel("L2", "a", "q1", "Y Y Y N"), atLevel("L2", "a", "q2", "Y")}
	c := levels(t, lower, upper, "recall_strict")
	if *c.A != 2.0/5 || *c.B != 4.0/5 || c.Cells != 5 || c.McNemar == nil || c.McNemar.OnlyB != 2 || len(c.Drops) > 0 {
		t.Errorf("%v and %v of %d cells, McNemar %+v, drops %v", *c.A, *c.B, c.Cells, c.McNemar, c.Drops)
	}
}
