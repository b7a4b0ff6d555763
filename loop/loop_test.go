package loop_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/gate"
	"github.com/poimen-memory/mem/internal/digest"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/eventlog"
	"github.com/poimen-memory/mem/prompt"
)

// words counts white-space separated words: exact, fast, and easy to reckon with in tests.
type words struct{}

func (words) Count(s string) int { return len(strings.Fields(s)) }

// script answers turn t with its replies[t-1], attempt by attempt, and keeps what was sent.
type script struct {
	replies [][]string
	sent    []loop.Request
}

func (s *script) Complete(_ context.Context, r loop.Request) (loop.Completion, error) {
	s.sent = append(s.sent, r)
	attempts := s.replies[(r.Turn-1)%len(s.replies)]
	return loop.Completion{Text: attempts[min(r.Attempt, len(attempts))-1]}, nil
}

func each(reply ...string) [][]string { return [][]string{reply} }

// ignored is the candidate of each no: another text than any memory here, so that a loop that
// adopts it is found by every test that looks at a memory.
const ignored = "an ignored candidate"

func no(next string) string {
	return gate.Decision{HasCandidate: true, Candidate: ignored, Exit: next == "end"}.Reply()
}

func yes(memory, next string) string {
	return gate.Decision{Update: true, HasCandidate: true, Candidate: memory, Exit: next == "end"}.Reply()
}

const garbled = "The port is 6380, I think."

// log is a Sink that keeps units and their log's bytes.
type log struct {
	units [][]loop.Event
	text  strings.Builder
}

func (l *log) Emit(unit []loop.Event) error {
	l.units = append(l.units, unit)
	return eventlog.Writer{W: &l.text}.Emit(unit)
}

func events[E loop.Event](l *log) (found []E) {
	for _, unit := range l.units {
		for _, e := range unit {
			if e, ok := e.(E); ok {
				found = append(found, e)
			}
		}
	}
	return found
}

func builder(t testing.TB) *prompt.Builder {
	t.Helper()
	b, err := prompt.New(prompt.Config{Counter: words{}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func chunks(b *prompt.Builder, n int) iter.Seq2[prompt.Chunk, error] {
	return func(yield func(prompt.Chunk, error) bool) {
		for i := range n {
			c := b.Chunk(prompt.Record{Role: "tool", Text: fmt.Sprintf("line %d of the session", i+1)})
			if !yield(c, nil) {
				return
			}
		}
	}
}

type result struct {
	loop.Outcome
	log  *log
	sent []loop.Request
}

// run takes n chunks through loop.Run and demands that the log verifies as complete.
func run(t *testing.T, cfg loop.Config, n int, replies [][]string) result {
	t.Helper()
	s, l := &script{replies: replies}, &log{}
	cfg.Model, cfg.Sink, cfg.Prompts, cfg.Tokenizer = s, l, builder(t), "words"
	if cfg.Level == 0 {
		cfg.Level = 1
	}
	out, err := loop.Run(t.Context(), cfg, "Which port?", chunks(cfg.Prompts, n))
	if err != nil {
		t.Fatal(err)
	}
	count := func(string) func(string) int { return words{}.Count }
	report, err := eventlog.Verify(strings.NewReader(l.text.String()), count)
	if err != nil || report.State != eventlog.Complete {
		t.Fatalf("log: %+v, %v", report, err)
	}
	return result{out, l, s.sent}
}

// memories is what stood between the memory tags, turn by turn, first attempts only.
func (r result) memories(t *testing.T) (sent []string) {
	t.Helper()
	for _, q := range r.sent {
		if q.Attempt > 1 {
			continue
		}
		p, err := prompt.Split(q.User)
		if err != nil {
			t.Fatal(err)
		}
		sent = append(sent, p.Memory)
	}
	return sent
}

// TestLoop holds the ten assertions of the seed's tests/it_gated_loop.rs (M1.5).
func TestLoop(t *testing.T) {
	t.Run("a1_retain_on_no", func(t *testing.T) {
		r := run(t, loop.Config{}, 5, each(no("continue")))
		if r.ChunksUsed != 0 || r.Memory != nil {
			t.Errorf("used %d chunks, memory %v; want none", r.ChunksUsed, r.Memory)
		}
		want := strings.Repeat(" No previous memory |", 5)
		if got := strings.Join(r.memories(t), "|") + "|"; got != want {
			t.Errorf("sent memories are %q, want %q", got, want)
		}
		// Retain after an update is the same rule with bytes to lose.
		written := "port 6380  \n\ttwo  spaces "
		r = run(t, loop.Config{}, 5, [][]string{{yes(written, "continue")}, {no("continue")}, {no("end")}, {no("continue")}, {no("continue")}})
		kept := strings.TrimSpace(written)
		for turn, sent := range r.memories(t)[1:] {
			if sent != " "+kept+" " {
				t.Errorf("turn %d was sent %q, want %q", turn+2, sent, " "+kept+" ")
			}
		}
		if r.Memory.Raw != kept {
			t.Errorf("final memory is %q, want %q", r.Memory.Raw, kept)
		}
	})
	t.Run("a2_update_on_yes", func(t *testing.T) {
		r := run(t, loop.Config{}, 5, [][]string{
			{no("continue")}, {no("continue")}, {yes("turn three", "continue")}, {no("continue")}, {no("continue")},
		})
		if r.Memory == nil || r.Memory.Raw != "turn three" || r.ChunksUsed != 1 {
			t.Errorf("memory %v after %d used chunks, want turn 3's candidate after 1", r.Memory, r.ChunksUsed)
		}
	})
	t.Run("a3_exit_gate_off_reads_all", func(t *testing.T) {
		r := run(t, loop.Config{}, 10, each(no("end")))
		if r.ChunksSeen != 10 || r.StoppedBy != loop.SourceEnd {
			t.Errorf("saw %d chunks, stopped by %s; want all 10 to the source's end", r.ChunksSeen, r.StoppedBy)
		}
	})
	t.Run("a4_exit_gate_on_stops", func(t *testing.T) {
		r := run(t, loop.Config{UseExitGate: true}, 10, each(no("end")))
		if r.ChunksSeen != 1 || len(r.sent) != 1 || r.StoppedBy != loop.ExitGate {
			t.Errorf("saw %d chunks in %d calls, stopped by %s; want 1, 1, exit_gate", r.ChunksSeen, len(r.sent), r.StoppedBy)
		}
		r = run(t, loop.Config{UseExitGate: true}, 10, [][]string{{no("continue")}, {no("continue")}, {no("end")}})
		if r.ChunksSeen != 3 || r.StoppedBy != loop.ExitGate {
			t.Errorf("saw %d chunks, stopped by %s; want 3, exit_gate", r.ChunksSeen, r.StoppedBy)
		}
	})
	t.Run("a4_reads_nothing_beyond_the_exit", func(t *testing.T) {
		b, given := builder(t), 0
		many := func(yield func(prompt.Chunk, error) bool) {
			for range 100 {
				if given++; !yield(b.Chunk(prompt.Record{Role: "tool", Text: "line"}), nil) {
					return
				}
			}
		}
		cfg := loop.Config{Model: &script{replies: each(no("end"))}, Prompts: b, Sink: &log{}, Level: 1, UseExitGate: true}
		if _, err := loop.Run(t.Context(), cfg, "q", many); err != nil || given != 1 {
			t.Errorf("took %d chunks, %v; want 1", given, err)
		}
	})
	t.Run("a5_exit_always_recorded", func(t *testing.T) {
		exits := 0
		for _, g := range events[loop.Gate](run(t, loop.Config{}, 10, each(no("end"))).log) {
			if g.Exit {
				exits++
			}
		}
		if exits != 10 {
			t.Errorf("%d gate events carry exit, want 10", exits)
		}
	})
	t.Run("a6_budget_exceeded_retains", func(t *testing.T) {
		long := strings.TrimSpace(strings.Repeat("word ", 4000))
		r := run(t, loop.Config{}, 3, [][]string{{yes("first", "continue")}, {yes(long, "continue")}, {no("continue")}})
		want := []loop.BudgetExceeded{{Level: 1, Turn: 2, Tokens: 4000, Budget: 1024, CandidateSHA: digest.Of(long)}}
		if diff := cmp.Diff(want, events[loop.BudgetExceeded](r.log)); diff != "" {
			t.Errorf("budget_exceeded (-want +got):\n%s", diff)
		}
		if r.ChunksUsed != 1 || r.Memory.Raw != "first" || r.memories(t)[2] != " first " {
			t.Errorf("used %d, memory %q, then sent %q; want the first memory kept", r.ChunksUsed, r.Memory.Raw, r.memories(t)[2])
		}
	})
	t.Run("a7_parse_retry", func(t *testing.T) {
		r := run(t, loop.Config{}, 1, each(garbled, garbled, yes("third time", "continue")))
		if len(r.sent) != 3 || len(events[loop.Memory](r.log)) != 1 {
			t.Errorf("%d calls, %d memory events; want 3 and 1", len(r.sent), len(events[loop.Memory](r.log)))
		}
		for _, q := range r.sent[1:] {
			q.Attempt = 1
			if diff := cmp.Diff(r.sent[0], q); diff != "" {
				t.Errorf("a retry differs from the first attempt:\n%s", diff)
			}
		}
	})
	t.Run("a8_parse_failure_is_not_an_update", func(t *testing.T) {
		r := run(t, loop.Config{}, 3, [][]string{{yes("kept", "continue")}, {garbled}, {no("continue")}})
		want := []loop.ParseFailed{{Level: 1, Turn: 2, Attempts: 3, Kinds: []gate.Kind{gate.MissingCheck, gate.MissingCheck, gate.MissingCheck}}}
		if diff := cmp.Diff(want, events[loop.ParseFailed](r.log)); diff != "" {
			t.Errorf("parse_failed (-want +got):\n%s", diff)
		}
		if r.ChunksSeen != 3 || r.ChunksUsed != 1 || r.memories(t)[2] != " kept " || len(events[loop.Gate](r.log)) != 2 {
			t.Errorf("saw %d, used %d, then sent %q; want the loop to go on with the memory kept", r.ChunksSeen, r.ChunksUsed, r.memories(t)[2])
		}
	})
	t.Run("a9_parents_linked", func(t *testing.T) {
		r := run(t, loop.Config{}, 4, [][]string{{yes("one", "continue")}, {no("continue")}, {yes("two", "continue")}, {yes("three", "end")}})
		previous := ""
		for i, m := range events[loop.Memory](r.log) {
			ev := events[loop.Evidence](r.log)[i]
			want := []string{ev.SHA}
			if previous != "" {
				want = append(want, previous)
			}
			if diff := cmp.Diff(want, m.Parents); diff != "" || ev.Turn != m.Turn {
				t.Errorf("turn %d (evidence of turn %d): parents (-want +got):\n%s", m.Turn, ev.Turn, diff)
			}
			previous = m.SHA
		}
		if previous != digest.Of("three") {
			t.Errorf("the last memory is not the third")
		}
	})
	t.Run("a10_level_is_a_parameter", func(t *testing.T) {
		replies := [][]string{
			{yes("one", "continue")}, {garbled, no("end")}, {garbled},
			{yes(strings.Repeat("w ", 2000), "continue")}, {yes("two", "end")},
		}
		l1 := run(t, loop.Config{Level: 1}, 10, replies).log.text.String()
		l2 := run(t, loop.Config{Level: 2}, 10, replies).log.text.String()
		if l1 == l2 {
			t.Error("the level is not in the log")
		}
		lowered := strings.ReplaceAll(strings.ReplaceAll(l2, `"level":1`, `"level":0`), `"level":2`, `"level":1`)
		if diff := cmp.Diff(l1, lowered); diff != "" {
			t.Errorf("more than the level differs (-L1 +L2):\n%s", diff)
		}
	})
}

func TestExitEndsTheRunOnATurnWhoseWriteWasRejected(t *testing.T) {
	r := run(t, loop.Config{UseExitGate: true}, 3, each(yes(strings.Repeat("w ", 2000), "end")))
	if r.ChunksSeen != 1 || r.ChunksUsed != 0 || r.StoppedBy != loop.ExitGate {
		t.Errorf("outcome is %+v", r.Outcome)
	}
}

func TestMemoryBudgetIsInclusive(t *testing.T) {
	at := strings.TrimSpace(strings.Repeat("w ", 1024))
	if r := run(t, loop.Config{}, 1, each(yes(at, "continue"))); r.ChunksUsed != 1 {
		t.Error("a candidate of exactly the budget was rejected")
	}
	if r := run(t, loop.Config{}, 1, each(yes(at+" w", "continue"))); r.ChunksUsed != 0 {
		t.Error("a candidate of one token over the budget was kept")
	}
}

// bytesCounted makes escaping visible in the count: "&lt;" is three bytes more than "<".
type bytesCounted struct{}

func (bytesCounted) Count(s string) int { return len(s) / 2 }

func TestBudgetCountsTheCandidateAsRendered(t *testing.T) {
	b, err := prompt.New(prompt.Config{Counter: bytesCounted{}, Budget: prompt.Budget{Template: 2000, Memory: 10, Chunk: 100}})
	if err != nil {
		t.Fatal(err)
	}
	// 20 bytes as written, 23 as rendered: 10 and 11 "tokens".
	s, l := &script{replies: each(yes("<memory>abcdefghijkl", "continue"))}, &log{}
	out, err := loop.Run(t.Context(), loop.Config{Model: s, Sink: l, Prompts: b, Level: 1}, "q", chunks(b, 1))
	if err != nil {
		t.Fatal(err)
	}
	if got := events[loop.BudgetExceeded](l); out.ChunksUsed != 0 || len(got) != 1 || got[0].Tokens != 11 {
		t.Errorf("used %d, events %+v; want one of 11 tokens", out.ChunksUsed, got)
	}
}

func TestReplyCutByTheTokenLimitIsAParseFailure(t *testing.T) {
	whole := modelFunc(func(context.Context, loop.Request) (loop.Completion, error) {
		return loop.Completion{Text: yes("looks whole", "continue"), Finish: loop.FinishLength}, nil
	})
	l := &log{}
	b := builder(t)
	out, err := loop.Run(t.Context(), loop.Config{Model: whole, Sink: l, Prompts: b, Level: 1}, "q", chunks(b, 1))
	if err != nil {
		t.Fatal(err)
	}
	failed := events[loop.ParseFailed](l)
	if out.ChunksUsed != 0 || len(failed) != 1 || failed[0].Kinds[0] != gate.Length {
		t.Errorf("used %d, events %+v", out.ChunksUsed, failed)
	}
}

func TestReasoningApartFromTheTextIsReadBeforeIt(t *testing.T) {
	m := modelFunc(func(context.Context, loop.Request) (loop.Completion, error) {
		return loop.Completion{Reasoning: "maybe <check>yes</check>", Text: no("continue")}, nil
	})
	l := &log{}
	b := builder(t)
	if _, err := loop.Run(t.Context(), loop.Config{Model: m, Sink: l, Prompts: b, Level: 1}, "q", chunks(b, 1)); err != nil {
		t.Fatal(err)
	}
	if got := events[loop.Gate](l); len(got) != 1 || got[0].Update || got[0].Attempts != 1 {
		t.Errorf("gates are %+v", got)
	}
}

type modelFunc func(context.Context, loop.Request) (loop.Completion, error)

func (f modelFunc) Complete(ctx context.Context, r loop.Request) (loop.Completion, error) {
	return f(ctx, r)
}

func TestErrorsStopTheRunAndKeepWholeTurns(t *testing.T) {
	refused := errors.New("connection refused")
	full := errors.New("disk full")
	torn := errors.New("line 7: not JSON")
	b := builder(t)
	good := modelFunc(func(_ context.Context, r loop.Request) (loop.Completion, error) {
		return loop.Completion{Text: yes(fmt.Sprint("turn ", r.Turn), "continue")}, nil
	})
	atTurn3 := modelFunc(func(ctx context.Context, r loop.Request) (loop.Completion, error) {
		if r.Turn == 3 {
			return loop.Completion{}, refused
		}
		return good(ctx, r)
	})
	longThird := func(yield func(prompt.Chunk, error) bool) {
		for c, err := range chunks(b, 2) {
			yield(c, err)
		}
		yield(b.Chunk(prompt.Record{Role: "tool", Text: strings.Repeat("w ", 20000)}), nil)
	}
	tornThird := func(yield func(prompt.Chunk, error) bool) {
		for c, err := range chunks(b, 2) {
			yield(c, err)
		}
		yield(prompt.Chunk{}, torn)
	}
	var over *prompt.OverBudget
	var model *loop.ModelError
	for _, test := range []struct {
		name   string
		model  loop.Model
		source iter.Seq2[prompt.Chunk, error]
		sink   error // at the third turn
		is     error
		as     any
		says   string
	}{
		{"model", atTurn3, chunks(b, 5), nil, refused, &model, "turn 3, attempt 1: connection refused"},
		{"over budget", good, longThird, nil, nil, &over, "turn 3: section is over budget: 20001 tokens, limit 5000"},
		{"source", good, tornThird, nil, torn, nil, "chunk 3: line 7: not JSON"},
		{"sink", good, chunks(b, 5), full, full, nil, "disk full"},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := &log{}
			sink := sinkFunc(func(unit []loop.Event) error {
				if test.sink != nil && len(l.units) == 3 {
					return test.sink
				}
				return l.Emit(unit)
			})
			out, err := loop.Run(t.Context(), loop.Config{Model: test.model, Sink: sink, Prompts: b, Level: 1}, "q", test.source)
			if err == nil || err.Error() != test.says {
				t.Errorf("error is %v, want %q", err, test.says)
			}
			if test.is != nil && !errors.Is(err, test.is) || test.as != nil && !errors.As(err, test.as) {
				t.Errorf("error %v lost its cause", err)
			}
			if out.ChunksSeen != 2 || out.ChunksUsed != 2 || out.Memory.Raw != "turn 2" || out.StoppedBy != "" {
				t.Errorf("outcome is %+v, want the state after turn 2", out)
			}
			interrupted(t, l, 2)
		})
	}
}

type sinkFunc func([]loop.Event) error

func (f sinkFunc) Emit(unit []loop.Event) error { return f(unit) }

func interrupted(t *testing.T, l *log, turns int) {
	t.Helper()
	report, err := eventlog.Verify(strings.NewReader(l.text.String()), nil)
	if err != nil || report.State != eventlog.Interrupted || report.Turns != turns || report.Bytes != int64(l.text.Len()) {
		t.Errorf("log: %+v, %v; want interrupted after %d whole turns", report, err, turns)
	}
}

// TestCancelAnywhere cancels at each step of each turn, from inside the model and the
// sink, and demands a log of whole turns and the outcome that belongs to it.
func TestCancelAnywhere(t *testing.T) {
	const turns = 3
	b := builder(t)
	// Each turn takes two attempts, so that "between attempts" exists.
	replies := func(r loop.Request) string {
		if r.Attempt == 1 {
			return garbled
		}
		return yes(fmt.Sprint("turn ", r.Turn), "continue")
	}
	for step := 0; ; step++ {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		at := 0
		tick := func() bool { // one place where a cancellation can strike
			at++
			if at == step+1 {
				cancel()
			}
			return at == step+1
		}
		l := &log{}
		source := func(yield func(prompt.Chunk, error) bool) {
			for c, err := range chunks(b, turns) {
				tick() // before the call
				if !yield(c, err) {
					return
				}
			}
			tick() // before the end
		}
		model := modelFunc(func(ctx context.Context, r loop.Request) (loop.Completion, error) {
			if ctx.Err() != nil {
				t.Errorf("step %d: the model is asked after the cancellation", step)
			}
			if tick() { // during the call
				return loop.Completion{}, errors.New("connection closed")
			}
			defer tick() // after the reply
			return loop.Completion{Text: replies(r)}, nil
		})
		sink := sinkFunc(func(unit []loop.Event) error {
			if ctx.Err() != nil {
				t.Errorf("step %d: a unit is emitted after the cancellation", step)
			}
			tick() // during emission
			defer tick()
			return l.Emit(unit)
		})
		out, err := loop.Run(ctx, loop.Config{Model: model, Sink: sink, Prompts: b, Level: 1}, "q", source)
		report, verr := eventlog.Verify(strings.NewReader(l.text.String()), nil)
		if verr != nil || report.State == eventlog.Corrupt || report.Bytes != int64(l.text.Len()) {
			t.Fatalf("step %d: log: %+v, %v", step, report, verr)
		}
		if out.ChunksSeen != report.Turns || out.ChunksUsed != len(events[loop.Memory](l)) {
			t.Fatalf("step %d: outcome %+v, log has %d turns", step, out, report.Turns)
		}
		if at <= step { // ran past the last step without a cancellation
			if err != nil || out.ChunksSeen != turns || report.State != eventlog.Complete {
				t.Fatalf("undisturbed run: %+v, %v", out, err)
			}
			if step < turns*6 {
				t.Fatalf("only %d steps were tried", step)
			}
			return
		}
		if (err == nil) != (report.State == eventlog.Complete) || err != nil && err != context.Canceled {
			t.Fatalf("step %d: error is %v, log %s", step, err, report.State)
		}
	}
}
