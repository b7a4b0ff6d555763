package harness_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/poimen-memory/mem/harness"
)

// Hard negatives are counted apart: all of them tempt who always says yes, none the oracle.
func TestHardNegatives(t *testing.T) {
	r := eval(t, config(t), experiments+"needles.yaml")
	turns := map[string]int{}
	for _, run := range r.Runs {
		turns[run.Model] += len(run.Hard)
		if !strings.HasPrefix(run.Session, run.Corpus+"/") {
			t.Errorf("session %s, want it named %s/SAMPLE", run.Session, run.Corpus)
		}
		for _, turn := range run.Hard {
			if slices.Contains(run.Evidence, turn) {
				t.Errorf("%s: turn %d is evidence and a hard negative", run.Name, turn)
			}
		}
	}
	for _, row := range r.Gates {
		want := harness.HardRow{Turns: turns[row.Model]}
		if row.Model == "always_update" {
			want.Yes = want.Turns
		}
		if row.Hard != want || want.Turns == 0 {
			t.Errorf("%s: hard negatives %+v, want %+v", row.Model, row.Hard, want)
		}
	}
}
