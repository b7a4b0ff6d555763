package harness_test

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/harness/run"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/internal/digest"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/prompt"
	"github.com/poimen-memory/mem/prompt/token"
	"github.com/poimen-memory/mem/scripted"
)

type chunkSeq = iter.Seq2[prompt.Chunk, error]

// TestGatedLoopSpecCatchesBrokenLoops breaks each rule of the loop in turn. The spec
// that claims to hold the ten assertions must fail every time.
func TestGatedLoopSpecCatchesBrokenLoops(t *testing.T) {
	for name, broken := range map[string]struct {
		loop  run.Loop
		check string
	}{
		"a1 updates on no":               {rewrite(func(s string) string { return strings.ReplaceAll(s, "<check>no", "<check>yes") }), "expect"},
		"a2 never updates":               {rewrite(func(s string) string { return strings.ReplaceAll(s, "<check>yes", "<check>no") }), "expect"},
		"a3 acts on the exit unasked":    {broken(func(c *loop.Config) { c.UseExitGate = true }), "expect"},
		"a4 ignores the exit gate":       {broken(func(c *loop.Config) { c.UseExitGate = false }), "expect"},
		"a5 forgets exits":               {rewrite(func(s string) string { return strings.ReplaceAll(s, "<next>end", "<next>continue") }), "expect"},
		"a6 has no memory budget":        {broken(func(c *loop.Config) { c.Prompts = roomy(t) }), "expect"},
		"a7 gives up at the first reply": {rewriteAttempt(func(attempt int, s string) string { return "no gates" }, 2), "expect"},
		"a8 guesses no":                  {rewriteAttempt(func(int, string) string { return "<check>no</check><next>end</next>" }, 3), "expect"},
		"a9 drops a parent":              {events(dropParent), "log"},
		"a10 hashes the level":           {events(levelInSHA), "levels"},
		"a10 ignores the level":          {broken(func(c *loop.Config) { c.Level = 1 }), "levels"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config(t)
			cfg.Run.Loop = broken.loop
			r := eval(t, cfg, experiments+"gated-loop.yaml")
			for _, c := range r.Checks {
				if c.Check == broken.check && c.Status == check.Fail {
					return
				}
			}
			t.Errorf("no %s failed; failures:\n%s", broken.check, failures(r))
		})
	}
}

func rewrite(change func(string) string) run.Loop {
	return rewriteAttempt(func(_ int, s string) string { return change(s) }, 1)
}

// rewriteAttempt changes the replies of an attempt and later ones.
func rewriteAttempt(change func(int, string) string, from int) run.Loop {
	return broken(func(c *loop.Config) {
		inner := c.Model
		c.Model = modelFunc(func(ctx context.Context, r loop.Request) (loop.Completion, error) {
			reply, err := inner.Complete(ctx, r)
			if r.Attempt >= from {
				reply = loop.Completion{Text: change(r.Attempt, reply.Text)}
			}
			return reply, err
		})
	})
}

func roomy(t *testing.T) *prompt.Builder {
	count, err := token.New("o200k_base")
	if err != nil {
		t.Fatal(err)
	}
	b, err := prompt.New(prompt.Config{Counter: count, Budget: prompt.Budget{Memory: 10000}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func events(change func(loop.Event) loop.Event) run.Loop {
	return broken(func(c *loop.Config) {
		inner := c.Sink
		c.Sink = sinkFunc(func(unit []loop.Event) error {
			changed := make([]loop.Event, len(unit))
			for i, e := range unit {
				changed[i] = change(e)
			}
			return inner.Emit(changed)
		})
	})
}

func dropParent(e loop.Event) loop.Event {
	if m, ok := e.(loop.Memory); ok {
		m.Parents = m.Parents[:1]
		return m
	}
	return e
}

// levelInSHA makes a digest depend on the level where Verify cannot recompute it.
func levelInSHA(e loop.Event) loop.Event {
	if s, ok := e.(loop.RunStart); ok {
		s.QuerySHA = digest.Of(s.QuerySHA + strings.Repeat("x", int(s.Level)))
		return s
	}
	return e
}

func row(t *testing.T, r *result.Result, model, exit string) stat.Counts {
	t.Helper()
	for _, g := range r.Gates {
		if g.Model == model && g.ExitGate == exit && g.Level == 1 {
			return g.Counts
		}
	}
	t.Fatalf("no gate row of %s, %s", model, exit)
	return stat.Counts{}
}

func TestOracleIsPerfectAndAlwaysUpdateIsNot(t *testing.T) {
	names := []string{"hotpotqa", "needles", "agent-session", "hotpotqa-long"}
	if testing.Short() {
		names = names[:2]
	}
	for _, name := range names {
		r := evaluated(t, name)
		o := row(t, r, "oracle", spec.Record)
		if o.FalseNeg+o.FalsePos+o.ParseFailed()+o.OverBudget+o.ExitEarly+o.ExitLate+o.ExitNever+o.ExitNoEvidence != 0 ||
			o.TruePos == 0 || o.TrueNeg == 0 || o.ExitOnTime+o.NoEvidence != o.Runs || o.ExitOnTime == 0 {
			t.Errorf("%s: the oracle errs: %+v", name, o)
		}
		if a := row(t, r, "always_update", spec.Record); a.FalsePos == 0 || a.TrueNeg != 0 || a.ExitNever == 0 {
			t.Errorf("%s: always_update looks perfect: %+v", name, a)
		}
	}
}

// TestLexicalBeatsTheBlindPolicies: without labels it must tell evidence from the rest
// better than a policy that does not look.
func TestLexicalBeatsTheBlindPolicies(t *testing.T) {
	r := evaluated(t, "hotpotqa")
	rate := func(model string) float64 {
		rate, ok := row(t, r, model, spec.Record).BalancedAccuracy()
		if !ok {
			t.Fatalf("%s: undefined", model)
		}
		return rate
	}
	lexical, always, never := rate("lexical"), rate("always_update"), rate("never_update")
	if lexical <= always+0.1 || lexical <= never+0.1 {
		t.Errorf("balanced accuracy: lexical %.3f, always_update %.3f, never_update %.3f", lexical, always, never)
	}
	t.Logf("balanced accuracy: lexical %.3f, always_update %.3f, never_update %.3f", lexical, always, never)
}

// TestGateTableEqualsTheInjectedErrors recomputes from the seed what noisy_oracle did, cell
// by cell, without looking at a log.
func TestGateTableEqualsTheInjectedErrors(t *testing.T) {
	var truth [][]scripted.Truth
	var oracles []scripted.NoisyOracle
	cfg := config(t)
	cfg.Run.Parallel = 1
	cfg.Select = func(c plan.Cell) bool { return c.Model == "noisy_oracle" && c.ExitGate == spec.Record }
	cfg.Models = func(r run.ModelFor) (loop.Model, error) {
		truth = append(truth, r.Truth)
		model, err := factory(r)
		oracles = append(oracles, model.(scripted.NoisyOracle))
		return model, err
	}
	r := eval(t, cfg, experiments+"hotpotqa.yaml")
	var want stat.Counts
	for i, run := range truth {
		want = want.Add(injected(run, oracles[i]))
	}
	got := row(t, r, "noisy_oracle", spec.Record)
	want.ChunksUsed = want.TruePos + want.FalsePos
	want.MemoryTokens = got.MemoryTokens // no error is injected there
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("gate counts (-injected +table):\n%s", diff)
	}
	if got.FalseNeg == 0 || got.FalsePos == 0 || got.ParseFailed() == 0 || got.ExitEarly+got.ExitLate == 0 || got.FirstTry == got.Turns {
		t.Errorf("some kind of error was never injected: %+v", got)
	}
}

func injected(truth []scripted.Truth, oracle scripted.NoisyOracle) (c stat.Counts) {
	c.Runs = 1
	firstExit, last, open := 0, 0, false
	for i, chunk := range truth {
		turn := i + 1
		wrongUpdate, wrongExit, malformed := oracle.Errors(turn)
		open = open || chunk.Last
		if chunk.Last {
			last = turn
		}
		c.Turns++
		if malformed == 0 {
			c.FirstTry++
		}
		switch yes := chunk.Evidence != wrongUpdate; {
		case malformed == 3 && chunk.Evidence:
			c.FailedPos++
		case malformed == 3:
			c.FailedNeg++
		case chunk.Evidence && yes:
			c.TruePos++
		case chunk.Evidence:
			c.FalseNeg++
		case yes:
			c.FalsePos++
		default:
			c.TrueNeg++
		}
		if malformed < 3 && open != wrongExit && firstExit == 0 {
			firstExit = turn
		}
	}
	switch {
	case firstExit == 0:
		c.ExitNever++
	case firstExit < last:
		c.ExitEarly++
	case firstExit == last:
		c.ExitOnTime++
	default:
		c.ExitLate++
	}
	return c
}

// TestEnforcedRunIsAPrefixOfTheRecordedOne: both come from the same replies.
func TestEnforcedRunIsAPrefixOfTheRecordedOne(t *testing.T) {
	cfg := config(t)
	r := eval(t, cfg, experiments+"hotpotqa.yaml")
	compared := 0
	for _, run := range r.Runs {
		if run.ExitGate != spec.Enforce || run.StoppedBy != string(loop.ExitGate) {
			continue
		}
		read := func(name string) []string {
			data, err := os.ReadFile(filepath.Join(cfg.Out, "hotpotqa", "runs", name, "events.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			return strings.Split(string(data), "\n")
		}
		enforced := read(run.Name)
		recorded := read(strings.TrimSuffix(run.Name, spec.Enforce) + spec.Record)
		n := len(enforced) - 2 // but for run_end and the last newline
		if diff := cmp.Diff(recorded[1:n], enforced[1:n]); diff != "" {
			t.Fatalf("%s (-recorded +enforced):\n%s", run.Name, diff)
		}
		compared++
	}
	if compared < 50 {
		t.Errorf("compared %d runs only", compared)
	}
}

func TestResultDoesNotDependOnParallelism(t *testing.T) {
	name, widths := "agent-session", []int{2, 8, 64}
	if testing.Short() {
		name, widths = "gated-loop", []int{8}
	}
	run := func(width int) (string, map[string]string) {
		cfg := config(t)
		cfg.Run.Parallel = width
		r := eval(t, cfg, experiments+name+".yaml")
		return marshal(t, r), tree(t, cfg.Out)
	}
	r1, files1 := run(1)
	for _, width := range widths {
		r, files := run(width)
		if r != r1 {
			t.Errorf("the result of --parallel %d differs from that of 1", width)
		}
		if diff := cmp.Diff(files1, files); diff != "" {
			t.Errorf("the files of --parallel %d differ from those of 1:\n%s", width, diff)
		}
	}
	if len(files1) < 50 {
		t.Errorf("only %d files were compared", len(files1))
	}
}

func TestL2ReadsTheMemoriesOfL1(t *testing.T) {
	cfg := config(t)
	var seen []scripted.Truth
	var sent []string
	cfg.Select = func(c plan.Cell) bool {
		return c.Level == 2 && c.Query == "redis-port" && c.Model == "oracle" && c.ExitGate == spec.Record
	}
	cfg.Models = func(r run.ModelFor) (loop.Model, error) {
		m, err := factory(r)
		if r.Cell.Level == 2 {
			seen = r.Truth
		}
		return modelFunc(func(ctx context.Context, q loop.Request) (loop.Completion, error) {
			if r.Cell.Level == 2 {
				parts, err := prompt.Split(q.User)
				if err != nil {
					t.Error(err)
				}
				sent = append(sent, parts.Section)
			}
			return m.Complete(ctx, q)
		}), err
	}
	r := eval(t, cfg, experiments+"agent-session.yaml")
	memory := map[string]string{}
	for _, run := range r.Runs {
		if run.Level == 1 && run.FinalMemory != nil {
			memory[run.Session] = *run.FinalMemory
		}
	}
	// Thursday says nothing about the port: its memory is none, and gives no chunk.
	want := []string{" [memory] " + memory["monday"] + " ", " [memory] " + memory["wednesday"] + " "}
	if diff := cmp.Diff(want, sent); diff != "" || len(r.Runs) != 4 {
		t.Errorf("%d runs; sections sent at L2 (-want +got):\n%s", len(r.Runs), diff)
	}
	if len(seen) != 2 || !seen[0].Evidence || seen[0].Last || !seen[1].Last || seen[1].Excerpt != memory["wednesday"] {
		t.Errorf("truth at L2 is %+v", seen)
	}
}

func TestL2WithTooFewMemoriesIsSkipped(t *testing.T) {
	r := eval(t, config(t), small(t, "levels: [L1, L2]\n"))
	run := r.Runs[1]
	if run.State != record.Skipped || run.Reason != "1 of 1 sessions left a memory, L2 needs two" || result.Exit(r) != 0 {
		t.Errorf("run is %+v", run)
	}
}

func TestIncompleteL1MakesL2Incomplete(t *testing.T) {
	cfg := config(t)
	cfg.Models = func(r run.ModelFor) (loop.Model, error) {
		m, err := factory(r)
		if r.Cell.Session == "wednesday" && r.Cell.Level == 1 {
			return modelFunc(func(context.Context, loop.Request) (loop.Completion, error) {
				return loop.Completion{}, errors.New("connection refused")
			}), nil
		}
		return m, err
	}
	cfg.Select = func(c plan.Cell) bool { return c.Model == "oracle" && c.Query == "redis-port" }
	r := eval(t, cfg, experiments+"agent-session.yaml")
	for _, run := range r.Runs {
		wantState := record.Complete
		if run.Level == 2 || run.Session == "wednesday" {
			wantState = record.Incomplete
		}
		if run.State != wantState {
			t.Errorf("%s is %s, want %s", run.Name, run.State, wantState)
		}
	}
	if result.Exit(r) != 3 {
		t.Errorf("exit is %d, want 3", result.Exit(r))
	}
	for _, g := range r.Gates {
		if g.Level == 1 && (g.Excluded != 1 || g.Counts.Runs != 2) {
			t.Errorf("gate row counts %d runs and excludes %d, want 2 and 1", g.Counts.Runs, g.Excluded)
		}
	}
}
