package harness_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/harness/run"
	"github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/harness/synth"
	"github.com/poimen-memory/mem/loop"
)

// The rows of lengths add up to the gate row of the corpus, each with the runs of its length.
func TestByLength(t *testing.T) {
	r := eval(t, multikey(t), experiments+"needles.yaml")
	lengths := map[string][]int{}
	sums := map[string]stat.Counts{}
	for _, row := range r.ByLength {
		lengths[row.Model] = append(lengths[row.Model], row.Length)
		sums[row.Model] = sums[row.Model].Add(row.Counts)
		if row.Counts.Runs != 12 || row.Corpus != "multikey" {
			t.Errorf("length %d: %d runs of %s", row.Length, row.Counts.Runs, row.Corpus)
		}
	}
	for _, row := range r.Gates {
		if want := []int{2048, 4096, 8192, 16384}; !slices.Equal(lengths[row.Model], want) {
			t.Errorf("%s: lengths %v, want %v", row.Model, lengths[row.Model], want)
		}
		if sums[row.Model] != row.Counts {
			t.Errorf("%s: lengths add up to %+v, want %+v", row.Model, sums[row.Model], row.Counts)
		}
	}
	for _, run := range r.Runs {
		if name := synth.Length(run.Length) + "-"; !strings.HasPrefix(run.Session, "multikey/"+name) {
			t.Errorf("session %s has length %d", run.Session, run.Length)
		}
	}
}

func multikey(t *testing.T) harness.Config {
	cfg := config(t)
	cfg.Select = func(c plan.Cell) bool { return c.Corpus == "multikey" }
	return cfg
}

// TestMapEqualsTheRuns counts every cell again, from the ends of the runs alone, and says
// so when cells are transposed, when a depth takes in another's runs, and when an estimate
// is another cell's.
func TestMapEqualsTheRuns(t *testing.T) {
	r := eval(t, multikey(t), experiments+"needles.yaml")
	want := recounted(r.Runs)
	if values := slices.Compact(slices.Sorted(maps.Values(want))); len(values) < 20 {
		t.Fatalf("the map has %d different cells: no test of where they stand", len(values))
	}
	if diff := cmp.Diff(want, mapped(r.ByLength)); diff != "" {
		t.Errorf("cells (-runs +map):\n%s", diff)
	}
	rows := r.ByLength
	for name, change := range map[string]func(){
		"two lengths swapped": func() { rows[4].Depths, rows[5].Depths = rows[5].Depths, rows[4].Depths },
		"transposed":          func() { rows[4].Depths[1], rows[5].Depths[0] = rows[5].Depths[0], rows[4].Depths[1] },
		"upside down":         func() { d := rows[7].Depths; d[0].Metrics, d[4].Metrics = d[4].Metrics, d[0].Metrics },
	} {
		change()
		if cmp.Equal(want, mapped(rows)) {
			t.Errorf("%s: no check failed", name)
		}
		change()
	}
}

// recounted is what each cell of each model must say, in words.
func recounted(runs []result.Run) map[string]string {
	type sum struct{ n, evidence, written, useful, memory, calls int }
	sums := map[string]sum{}
	for _, run := range runs {
		part := min(int(run.Depth/20), 4)
		key := fmt.Sprintf("%s %d %d–%d", run.Model, run.Length, 20*part, 20*part+20)
		s := sums[key]
		s.n++
		s.evidence += len(run.Evidence)
		s.written += run.Counts.TruePos
		s.useful += run.Counts.ExitOnTime + run.Counts.ExitLate
		s.memory += run.MemoryTokens
		s.calls += run.Calls
		sums[key] = s
	}
	words := map[string]string{}
	for key, s := range sums {
		words[key] = fmt.Sprintf("recall_committed %d/%d exit_useful %d/%d final_memory %d/%d calls %d/%d of %d queries",
			s.written, s.evidence, s.useful, s.n, s.memory, s.n, s.calls, s.n, s.n)
	}
	return words
}

// mapped is the cells as the result has them. A cell without a run has no number.
func mapped(rows []result.LengthRow) map[string]string {
	words := map[string]string{}
	for _, row := range rows {
		for _, d := range row.Depths {
			var said []string
			units := 0
			for _, name := range []string{"recall_committed", "exit_useful", result.FinalMemory, result.Calls} {
				if e, _ := d.Metric(name); e.Value != nil {
					said = append(said, fmt.Sprintf("%s %v/%v", name, e.X, e.N))
					units = e.Queries
				} else if e.Reason != "no sample" {
					said = append(said, name+" undefined: "+e.Reason)
				}
			}
			if len(said) > 0 {
				key := fmt.Sprintf("%s %d %d–%d", row.Model, row.Length, d.From, d.To)
				words[key] = fmt.Sprintf("%s of %d queries", strings.Join(said, " "), units)
			}
		}
	}
	return words
}

// TestMapShowsWhatTheModelDoes: a model that misses all evidence after its fifth of nine
// turns fails in the depths of long sessions and nowhere else. A run whose server fails is
// in no cell's numbers.
func TestMapShowsWhatTheModelDoes(t *testing.T) {
	dir := write(t, map[string]string{"x.yaml": `experiment: x
corpora: [{id: c, synth: {task: niah_single_1, lengths: [2k, 4k], depth: grid, samples: 30, seed: 1}, chunk: {tokens: 450}}]
models: [{id: m, policy: oracle}]
`})
	cfg := config(t)
	cfg.Models = func(r run.ModelFor) (loop.Model, error) {
		if r.Cell.Session == "c/2k-07" {
			return modelFunc(func(context.Context, loop.Request) (loop.Completion, error) {
				return loop.Completion{}, errors.New("refused")
			}), nil
		}
		r.Truth = slices.Clone(r.Truth)
		for i := range r.Truth {
			r.Truth[i].Evidence = r.Truth[i].Evidence && i < 5
		}
		return factory(r)
	}
	r := eval(t, cfg, dir+"/x.yaml")
	var got []string
	runs, excluded := 0, 0
	for _, row := range r.ByLength {
		for _, d := range row.Depths {
			e, _ := d.Metric("recall_committed")
			runs, excluded = runs+d.Runs, excluded+d.Excluded
			if d.From != 40 { // where turn 5 is
				got = append(got, fmt.Sprintf("%s %d–%d: %v", row.LengthName(), d.From, d.To, *e.Value))
			}
			if e.Queries != d.Runs {
				t.Errorf("%s %d–%d: an estimate of %d queries over %d runs", row.LengthName(), d.From, d.To, e.Queries, d.Runs)
			}
		}
	}
	want := []string{
		"2k 0–20: 1", "2k 20–40: 1", "2k 60–80: 1", "2k 80–100: 1",
		"4k 0–20: 1", "4k 20–40: 1", "4k 60–80: 0", "4k 80–100: 0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if runs != 59 || excluded != 1 {
		t.Errorf("cells hold %d runs and leave out %d, want 59 and 1", runs, excluded)
	}
}

// TestNoMapOfOneCell: what has one length and one depth is not tabulated, and lengths or depths
// that are not compared make none.
func TestNoMapOfOneCell(t *testing.T) {
	for _, c := range []struct {
		synth         string
		rows, deepest int
	}{
		{"lengths: [1k, 2k], samples: 4", 2, 5},
		{"lengths: [1k, 2k], samples: 4, depth: 50", 2, 0},
		{"lengths: [1k], samples: 4, depth: 50", 0, 0},
		{"lengths: [1k], samples: 4", 1, 5},
		{"tokens: 1k, samples: 4, depth: grid", 1, 5},
		{"tokens: 1k, samples: 4", 0, 0},
	} {
		dir := write(t, map[string]string{"x.yaml": "experiment: x\nmodels: [{id: m, policy: oracle}]\n" +
			"corpora: [{id: c, synth: {task: niah_single_1, seed: 1, " + c.synth + "}, chunk: {tokens: 400}}]\n"})
		rows := eval(t, config(t), dir+"/x.yaml").ByLength
		deepest := 0
		for _, row := range rows {
			deepest = max(deepest, len(row.Depths))
		}
		if len(rows) != c.rows || deepest != c.deepest {
			t.Errorf("%s: %d rows of %d depths, want %d of %d", c.synth, len(rows), deepest, c.rows, c.deepest)
		}
	}
}
