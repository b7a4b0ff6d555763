package harness_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/stat"
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

// The ladder's rows add up to the gate row of the corpus, each with the runs of its length.
func TestByLength(t *testing.T) {
	cfg := config(t)
	cfg.Select = func(c harness.Cell) bool { return c.Corpus == "multikey" }
	r := eval(t, cfg, experiments+"needles.yaml")
	var lengths []int
	sums := map[string]stat.Counts{}
	for _, row := range r.ByLength {
		lengths = append(lengths, row.Length)
		sums[row.Model] = sums[row.Model].Add(row.Counts)
		if row.Counts.Runs != 4 || row.Corpus != "multikey" || row.Calls != row.Counts.Turns {
			t.Errorf("length %d: %d runs of %s with %d calls", row.Length, row.Counts.Runs, row.Corpus, row.Calls)
		}
		evidence, written := 0, 0
		for _, d := range row.Depths {
			evidence, written = evidence+d.Evidence, written+d.Written
		}
		if evidence != row.Counts.TruePos || written != row.Counts.TruePos {
			t.Errorf("length %d: depths hold %d turns on evidence, %d written, want %d", row.Length, evidence, written, row.Counts.TruePos)
		}
	}
	if want := []int{2048, 4096, 2048, 4096}; !slices.Equal(lengths, want) {
		t.Errorf("lengths %v, want %v", lengths, want)
	}
	for _, row := range r.Gates {
		if sums[row.Model] != row.Counts {
			t.Errorf("%s: lengths add up to %+v, want %+v", row.Model, sums[row.Model], row.Counts)
		}
	}
	for _, run := range r.Runs {
		name := corpus.Length(run.Length) + "-"
		if !strings.HasPrefix(run.Session, "multikey/"+name) {
			t.Errorf("session %s has length %d", run.Session, run.Length)
		}
	}
}
