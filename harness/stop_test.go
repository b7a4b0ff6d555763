package harness_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/harness/run"
	"github.com/poimen-memory/mem/loop"
)

const threeRuns = `experiment: e
corpora: [{id: s, path: s.jsonl, chunk: {records: 1}}]
queries: [{id: q, text: "Which port?"}]
models: [{id: one, script: good.yaml}, {id: two, script: bad.yaml}, {id: three, script: good.yaml}]
expect: [{model: one, chunks_seen: 3}]
`

func threeRunFiles(t *testing.T, bad string) string {
	return write(t, map[string]string{
		"e.yaml": threeRuns, "good.yaml": "default: {check: no, next: continue}\n", "bad.yaml": bad,
		"s.jsonl": strings.Repeat(`{"role": "tool", "text": "Redis"}`+"\n", 3),
	})
}

// hung is a model that is interrupted while it answers at its second turn, and answers all
// the same, as a live one does whose reply is under way; what it says has to be asked again.
type hung struct {
	loop.Model
	interrupt func()
}

func (h hung) Complete(ctx context.Context, r loop.Request) (loop.Completion, error) {
	if r.Turn == 2 && r.Attempt == 1 {
		h.interrupt()
		return loop.Completion{Text: "no gate"}, ctx.Err()
	}
	r.Attempt = 1
	return h.Model.Complete(ctx, r)
}

// TestInterruptFinishesTheTurnInHand: its retry is asked and its events are logged, and
// the turn after it is not begun.
func TestInterruptFinishesTheTurnInHand(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cfg := config(t)
	cfg.Run.Parallel = 1
	cfg.Models = func(r run.ModelFor) (loop.Model, error) {
		m, err := factory(r)
		return hung{m, cancel}, err
	}
	e, err := prepare(t, cfg, threeRunFiles(t, "default: {check: no, next: continue}\n")+"/e.yaml")
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	first := r.Runs[0]
	if first.State != record.Interrupted || first.ChunksSeen != 2 || first.Calls != 3 {
		t.Errorf("the run is %s (%s) after %d turns and %d calls, want interrupted after 2 and 3", first.State, first.Reason, first.ChunksSeen, first.Calls)
	}
	for _, c := range r.Checks {
		if c.Check == "log" && c.Subject == first.Name && !strings.Contains(c.Detail, "interrupted, 2 turns verified") {
			t.Errorf("log: %s %s", c.Status, c.Detail)
		}
	}
	if result.Exit(r) != 130 || failures(r) != "" {
		t.Errorf("exit %d, want 130; failures: %s", result.Exit(r), failures(r))
	}
}

func TestFailFastBeginsNothingMore(t *testing.T) {
	for name, test := range map[string]struct {
		bad  string
		more string // of the spec
		want []record.State
		exit int
	}{
		"nothing fails":         {"default: {check: no, next: continue}\n", "", []record.State{"complete", "complete", "complete"}, 0},
		"a reply does not come": {"default: {error: refused}\n", "", []record.State{"complete", "incomplete", "skipped"}, 3},
		"a script runs out":     {"turns: [{turn: 1, check: no, next: continue}]\n", "", []record.State{"complete", "misconfigured", "skipped"}, 2},
		"a golden is missing": {"default: {check: no, next: continue}\n", "golden: [{file: g.txt, query: q, corpus: s, turn: 1}]\n",
			[]record.State{"skipped", "skipped", "skipped"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			dir := threeRunFiles(t, test.bad)
			path := dir + "/f.yaml"
			writeFile(t, path, threeRuns+test.more)
			cfg := config(t)
			cfg.Run.FailFast, cfg.Run.Parallel = true, 8
			r := eval(t, cfg, path)
			var got []record.State
			for _, run := range r.Runs {
				got = append(got, run.State)
			}
			if diff := cmp.Diff(test.want, got); diff != "" || result.Exit(r) != test.exit {
				t.Errorf("exit %d, want %d (-want +got):\n%s", result.Exit(r), test.exit, diff)
			}
			cfg.Run.FailFast = false
			if r := eval(t, cfg, path); r.Count(record.Skipped) > 0 {
				t.Errorf("without it %d runs are skipped", r.Count(record.Skipped))
			}
		})
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
