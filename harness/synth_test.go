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
	yes := map[string]int{"oracle": 0, "always_update": turns["always_update"]}
	for _, row := range r.Gates {
		want, known := yes[row.Model]
		if known && row.Hard != (harness.HardRow{Turns: turns[row.Model], Yes: want}) || turns[row.Model] == 0 {
			t.Errorf("%s: hard negatives %+v, want %d, yes on %d", row.Model, row.Hard, turns[row.Model], want)
		}
	}
}
