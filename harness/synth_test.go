package harness_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/poimen-memory/mem/harness/result"
)

// Hard negatives are counted apart: all of them tempt who always says yes, none the oracle.
func TestHardNegatives(t *testing.T) {
	r := evaluated(t, "needles")
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
		if known && row.Hard != (result.HardRow{Turns: turns[row.Model], Yes: want}) || turns[row.Model] == 0 {
			t.Errorf("%s: hard negatives %+v, want %d, yes on %d", row.Model, row.Hard, turns[row.Model], want)
		}
	}
}

// What only the tokenizer or the rest of a map can tell is said at the field that it is about.
func TestSynthErrorsStandAtTheirFields(t *testing.T) {
	for synth, says := range map[string]string{
		"tokens: 30":               ":2:58: corpora[0].synth.tokens: found 30, want at least the",
		"lengths: [8k, 30]":        ":2:59: corpora[0].synth.lengths: found 30, want at least the",
		"tokens: 8k, queries: 9":   ":2:71: corpora[0].synth.queries: found 9, want at most the needles, 4",
		"tokens: 8k, needles: 501": ":2:71: corpora[0].synth.needles: found 501, want at most 500",
		"tokens: 8k, values: 200":  ":2:26: corpora[0].synth: needles: found 4 of 200 values, want",
	} {
		path := filepath.Join(write(t, map[string]string{"s.yaml": "experiment: s\ncorpora: [{id: c, synth: {task: niah_multikey_1, " +
			synth + "}}]\nmodels: [{id: o, policy: oracle}]\n"}), "s.yaml")
		if _, err := prepare(t, config(t), path); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: error is %v, want %q", synth, err, says)
		}
	}
}
