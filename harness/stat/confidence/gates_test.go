package confidence_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/harness/stat/confidence"
)

func p(v float64) *float64 { return &v }

// TestGates: yes is held against evidence, end against the last evidence, and what is not known
// is counted by its reason.
func TestGates(t *testing.T) {
	if confidence.Of(nil) != nil {
		t.Error("there are gates of no turns")
	}
	g := confidence.Of([]confidence.Turn{
		{Yes: p(0.1), End: p(0.2)},
		{Yes: p(0.9), End: p(0.6), Evidence: true, Due: true},
		{Yes: p(0.4), Missing: "b", Due: true},
		{Missing: "a"}, {Missing: "b"}, {Missing: "a"},
		{Yes: p(0.3), End: p(0.9), NoExit: true},
	})
	if g.Turns != 7 || g.Update.Replies != 4 || g.Update.Positive != 1 || *g.Update.AUC != 1 || g.Exit.Replies != 2 || *g.Exit.AUC != 1 {
		t.Errorf("found %+v", g)
	}
	if want := []confidence.Missing{{Reason: "a", Turns: 2}, {Reason: "b", Turns: 2}}; !cmp.Equal(want, g.Missing) {
		t.Errorf("missing is %v, want %v", g.Missing, want)
	}
}

// TestROCIsThinned: its end is kept, and the AUC is that of all points.
func TestROCIsThinned(t *testing.T) {
	var turns []confidence.Turn
	for i := range 1000 {
		turns = append(turns, confidence.Turn{Yes: p(float64(i) / 1000), Evidence: i >= 500})
	}
	g := confidence.Of(turns)
	last := g.Update.ROC[len(g.Update.ROC)-1]
	if len(g.Update.ROC) != 100 || last.TruePositive != 1 || last.FalsePositive != 1 || *g.Update.AUC != 1 {
		t.Errorf("%d points, the last %+v", len(g.Update.ROC), last)
	}
}
