package harness_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/gate"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/harness/run"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/prompt"
)

// twoSessions is an experiment with an L2 over two sessions of one record each.
func twoSessions(t *testing.T, more string) string {
	return write(t, map[string]string{
		"e.yaml": `experiment: e
levels: [L1, L2]
corpora: [{id: a, path: a.jsonl, chunk: {records: 1}}, {id: b, path: b.jsonl, chunk: {records: 1}}]
queries: [{id: q, text: "Which port?"}]
models: [{id: m, policy: never_update}]
` + more,
		"a.jsonl": jsonl("one"), "b.jsonl": jsonl("two"),
	}) + "/e.yaml"
}

// TestL2ReadsTheMemoriesOfItsTrial, and of no other, in the order of the sessions.
func TestL2ReadsTheMemoriesOfItsTrial(t *testing.T) {
	sections := map[string][]string{}
	cfg := config(t)
	cfg.Run.Parallel = 1
	cfg.Models = func(r run.ModelFor) (loop.Model, error) {
		return modelFunc(func(_ context.Context, q loop.Request) (loop.Completion, error) {
			if r.Cell.Level == 2 {
				parts, err := prompt.Split(q.User)
				if err != nil {
					return loop.Completion{}, err
				}
				sections[r.Cell.Name] = append(sections[r.Cell.Name], parts.Section)
			}
			said := gate.Decision{Update: true, HasCandidate: true, Candidate: fmt.Sprint(r.Cell.Session, " of trial ", r.Cell.Trial)}
			return loop.Completion{Text: said.Reply()}, nil
		}), nil
	}
	r := eval(t, cfg, twoSessions(t, "trials: 3\n"))
	wantPassed(t, r)
	want := map[string][]string{}
	for _, run := range r.Runs {
		if run.Level == 2 {
			want[run.Name] = []string{fmt.Sprintf(" [memory] a of trial %d ", run.Trial), fmt.Sprintf(" [memory] b of trial %d ", run.Trial)}
		}
	}
	if diff := cmp.Diff(want, sections); diff != "" || len(want) != 3 {
		t.Errorf("sections of %d L2 runs (-want +got):\n%s", len(want), diff)
	}
}

type unusable struct{}

func (unusable) Error() string       { return "no such script" }
func (unusable) Misconfigured() bool { return true }

// TestHowARunEndsAndWhatL2MakesOfIt: only a reply that did not come can come later.
func TestHowARunEndsAndWhatL2MakesOfIt(t *testing.T) {
	for name, test := range map[string]struct {
		err    error // at the first turn of session b
		state  record.State
		level2 record.State
		exit   int
	}{
		"refused":                  {errors.New("connection refused"), record.Incomplete, record.Incomplete, 3},
		"the model's own timeout":  {fmt.Errorf("post: %w", context.DeadlineExceeded), record.Incomplete, record.Incomplete, 3},
		"cancelled by the model":   {fmt.Errorf("post: %w", context.Canceled), record.Incomplete, record.Incomplete, 3},
		"not as it should be set":  {unusable{}, record.Misconfigured, record.Skipped, 2},
		"a prompt over its budget": {&prompt.OverBudget{Component: prompt.Section, Tokens: 2, Limit: 1}, record.Failed, record.Skipped, 1},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config(t)
			cfg.Models = func(r run.ModelFor) (loop.Model, error) {
				return modelFunc(func(context.Context, loop.Request) (loop.Completion, error) {
					if r.Cell.Session == "b" {
						return loop.Completion{}, test.err
					}
					return loop.Completion{Text: gate.Decision{}.Reply()}, nil
				}), nil
			}
			r := eval(t, cfg, twoSessions(t, ""))
			var got []record.State
			for _, run := range r.Runs {
				got = append(got, run.State)
			}
			if diff := cmp.Diff([]record.State{record.Complete, test.state, test.level2}, got); diff != "" || result.Exit(r) != test.exit {
				t.Errorf("exit %d, want %d; states (-want +got):\n%s", result.Exit(r), test.exit, diff)
			}
			b, over := r.Runs[1], r.Runs[2]
			if !strings.HasSuffix(b.Reason, test.err.Error()) || over.Reason != fmt.Sprintf("its L1 run %s is %s", b.Name, b.State) {
				t.Errorf("reasons are %q and %q", b.Reason, over.Reason)
			}
		})
	}
}

// expiring is a context whose deadline passes when a test says so.
type expiring struct {
	context.Context
	late atomic.Bool
}

func (e *expiring) Err() error {
	if e.late.Load() {
		return context.DeadlineExceeded
	}
	return e.Context.Err()
}

// TestADeadlineInterrupts as a signal does: what it stopped can go on.
func TestADeadlineInterrupts(t *testing.T) {
	ctx := &expiring{Context: t.Context()}
	cfg := config(t)
	cfg.Models = func(run.ModelFor) (loop.Model, error) {
		return modelFunc(func(context.Context, loop.Request) (loop.Completion, error) {
			ctx.late.Store(true)
			return loop.Completion{Text: gate.Decision{}.Reply()}, nil
		}), nil
	}
	e, err := prepare(t, cfg, small(t, ""))
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if run := r.Runs[0]; run.State != record.Interrupted || run.ChunksSeen != 1 || result.Exit(r) != 130 {
		t.Errorf("the run is %s (%s) after %d turns, exit %d; want interrupted after 1, 130", run.State, run.Reason, run.ChunksSeen, result.Exit(r))
	}
}
