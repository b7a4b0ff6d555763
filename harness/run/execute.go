package run

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/journal"
	"github.com/poimen-memory/mem/prompt"
)

// execute takes one run through the loop and returns how it ended. Its record is on disk as
// far as the run came.
func (r *runner) execute(ctx context.Context, run *plan.Run) record.End {
	in, blocked := r.input(run)
	if blocked.State != record.Complete {
		return blocked // the records of the L1 runs say it too
	}
	start := time.Now()
	end := r.asked(ctx, run, in)
	r.Timed(r.plan.Spec.Experiment.Value+"/"+run.Name, time.Since(start))
	return end
}

// input is what a run reads, or why it cannot be executed.
func (r *runner) input(run *plan.Run) (plan.Input, record.End) {
	if !run.OverMemories() {
		return run.Input(), record.End{State: record.Complete}
	}
	var outcomes []record.Outcome
	for _, name := range run.Sources {
		outcomes = append(outcomes, r.outcome(name))
	}
	return r.plan.MemoryInput(run, outcomes)
}

// outcome is what an earlier run left.
func (r *runner) outcome(name string) record.Outcome {
	r.mu.Lock()
	end, noted := r.unrecorded[name]
	r.mu.Unlock()
	if noted {
		return record.Outcome{End: end.End}
	}
	return r.folder.Outcome(name)
}

// asked makes the run's model, opens its record and executes the loop.
func (r *runner) asked(ctx context.Context, run *plan.Run, in plan.Input) record.End {
	header := r.plan.Header(run, in)
	model, err := r.Models(ModelFor{
		Spec: r.plan.Spec, Model: run.Spec, Cell: run.Cell, Header: header, Truth: in.Truth(),
		Budget: run.Setup.Budget(), Count: r.plan.Counter(),
	})
	if err != nil {
		return r.refuse(run, header, err)
	}
	rec, err := r.open(run, in, header, model)
	if errors.Is(err, record.ErrComplete) {
		return record.End{State: record.Complete}
	}
	if err != nil {
		return r.note(run, record.Unrecorded{End: endOf(ctx, err)})
	}
	t := r.newTracker(run, rec)
	out, err := r.Loop(context.WithoutCancel(ctx), loop.Config{
		Model: t, Sink: t, Prompts: run.Setup.Prompts, Level: loop.Level(run.Level),
		UseExitGate: run.ExitGate == spec.Enforce, Tokenizer: r.plan.Tokenizer(),
	}, run.Question, t.follow(until(ctx, in.Chunks)))
	if err == nil {
		err = r.askAnswer(ctx, run, t, out.Memory)
	}
	end := endOf(ctx, err)
	if err := rec.Finish(end, out); err != nil {
		return r.note(run, record.Unrecorded{End: record.End{State: record.Incomplete, Reason: err.Error()}, Begun: true})
	}
	return end
}

// refuse leaves a record of a run whose model cannot be made. A record that was paid for stays.
func (r *runner) refuse(run *plan.Run, header journal.Header, err error) record.End {
	end := record.End{State: record.Misconfigured, Reason: err.Error()}
	if r.folder.HoldsLive(run.Name) {
		return r.note(run, record.Unrecorded{End: end})
	}
	if err := r.folder.Refuse(run.Name, header, end); err != nil {
		end.Reason += "; " + err.Error()
		return r.note(run, record.Unrecorded{End: end})
	}
	return end
}

// askAnswer asks for the answer of a run whose loop has ended. It is no event of the run. Once
// ctx is cancelled nothing is asked; a call in progress is finished, as a turn's is.
func (r *runner) askAnswer(ctx context.Context, run *plan.Run, t *tracker, memory *prompt.Text) error {
	if run.Setup.Answers == nil {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	p, err := run.Setup.Answers.Assemble(run.Setup.Prompts.Measure(run.Question), memory)
	if err != nil {
		return err
	}
	t.expectAnswer(p)
	_, err = loop.AskAnswer(context.WithoutCancel(ctx), t, p, run.Setup.AnswerTokens())
	return err
}

// until ends chunks with ctx's error once it is cancelled: so the loop, which does not see
// ctx itself, finishes the turn in progress.
func until(ctx context.Context, chunks iter.Seq2[prompt.Chunk, error]) iter.Seq2[prompt.Chunk, error] {
	return func(yield func(prompt.Chunk, error) bool) {
		for chunk, err := range chunks {
			if ctx.Err() != nil {
				yield(prompt.Chunk{}, ctx.Err())
				return
			}
			if !yield(chunk, err) {
				return
			}
		}
	}
}

// endOf names a run's end. A model that cannot answer as it was set up says so itself.
func endOf(ctx context.Context, err error) record.End {
	switch {
	case err == nil:
		return record.End{State: record.Complete}
	case ctx.Err() != nil && errors.Is(err, ctx.Err()): // else a model's own, as of a timeout
		return record.End{State: record.Interrupted, Reason: "interrupted"}
	case loop.IsMisconfigured(err):
		return record.End{State: record.Misconfigured, Reason: err.Error()}
	}
	if _, over := errors.AsType[*prompt.OverBudget](err); over {
		return record.End{State: record.Failed, Reason: err.Error()}
	}
	return record.End{State: record.Incomplete, Reason: err.Error()}
}

// tracker stands between the loop and a run's record: it knows which prompt log and corpus
// give for the turn in progress, and shows our token count where a server finds a prompt too
// long.
type tracker struct {
	record  *record.Writer
	prompts *prompt.Builder
	problem prompt.Text
	name    string // of the tokenizer
	turned  func() // after each turn

	chunk    prompt.Chunk  // of the turn in progress
	memory   *prompt.Text  // M_t by the log; nil: none
	expected prompt.Prompt // of the turn in progress, or for the answer
	known    bool          // expected is set
}

func (r *runner) newTracker(run *plan.Run, rec *record.Writer) *tracker {
	t := &tracker{
		record: rec, prompts: run.Setup.Prompts, problem: run.Setup.Prompts.Measure(run.Question),
		name: r.plan.Tokenizer(), turned: func() { r.progress.turnEnded(run) },
	}
	rec.Expect(t.explains)
	return t
}

// follow passes chunks on and keeps the one in progress.
func (t *tracker) follow(chunks iter.Seq2[prompt.Chunk, error]) iter.Seq2[prompt.Chunk, error] {
	return func(yield func(prompt.Chunk, error) bool) {
		for chunk, err := range chunks {
			t.chunk, t.known = chunk, false
			if !yield(chunk, err) {
				return
			}
		}
	}
}

// expectAnswer tells that what is asked from now on is the answer.
func (t *tracker) expectAnswer(p prompt.Prompt) { t.expected, t.known = p, true }

// explains reports whether log and corpus give the request's prompt.
func (t *tracker) explains(r loop.Request) bool {
	if !t.known {
		var err error
		t.expected, err = t.prompts.Assemble(t.problem, t.memory, t.chunk)
		t.known = err == nil
	}
	return t.known && t.expected.User == r.User && t.expected.System == r.System
}

// tokens counts a request's prompt.
func (t *tracker) tokens(r loop.Request) int {
	if t.explains(r) {
		return t.expected.Tokens.Prompt()
	}
	return t.prompts.Measure(r.System).Tokens + t.prompts.Measure(r.User).Tokens
}

// Complete asks the model through the record.
func (t *tracker) Complete(ctx context.Context, r loop.Request) (loop.Completion, error) {
	reply, err := t.record.Complete(ctx, r)
	if loop.IsContextLength(err) {
		return reply, fmt.Errorf("%w (we count %d tokens in the prompt, by %s)", err, t.tokens(r), t.name)
	}
	return reply, err
}

// Emit logs a unit of events.
func (t *tracker) Emit(unit []loop.Event) error {
	if err := t.record.Emit(unit); err != nil {
		return err
	}
	switch unit[0].(type) {
	case loop.RunStart, loop.RunEnd:
		return nil
	}
	if m, wrote := unit[len(unit)-1].(loop.Memory); wrote {
		memory := m.Measured()
		t.memory = &memory
	}
	t.turned()
	return nil
}
