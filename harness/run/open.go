package run

import (
	"context"
	"errors"
	"slices"

	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/journal"
)

// sampler is a live model: its replies are paid for, so they are recorded whole, never
// overwritten, and can be resumed.
type sampler interface{ Sampling() map[string]any }

// open opens the record of a run.
func (r *runner) open(run *plan.Run, in plan.Input, h journal.Header, model loop.Model) (*record.Writer, error) {
	live, isLive := model.(sampler)
	if !isLive {
		if r.Resume && r.folder.HoldsLive(run.Name) {
			return nil, &record.OtherRecord{Path: r.folder.CallsPath(run.Name), Difference: "it is of a live model, and the spec's is none"}
		}
		return r.folder.Create(run.Name, h, record.Source{Model: model, Terse: func(loop.Request) bool { return true }})
	}
	if err := r.present(); err != nil {
		return nil, err
	}
	h.Model = journal.LiveModel(run.Model, live.Sampling())
	source := record.Source{Model: model, Sync: true, Present: r.present, Answer: run.Setup.Answers != nil}
	if run.ReplayOf != "" {
		pair, err := r.replayedPair(run.ReplayOf, h, model)
		if err != nil {
			return nil, err
		}
		source.Model, source.Terse = pair, pair.replays
	}
	if !r.Resume {
		return r.folder.Create(run.Name, h, source)
	}
	if r.Extend {
		if err := extend(r.Loop, r.plan, r.folder, run, in, h); err != nil {
			return nil, err
		}
	}
	w, err := r.folder.Resume(run.Name, h, source, r.plan.CountRendered)
	if other, ok := errors.AsType[*record.OtherRecord](err); ok && run.OverMemories() && grewBelow(r.folder, run, h) {
		other.Difference += ": keep the turns that are the same with --live --resume --extend"
	}
	return w, err
}

// replayedPair answers a run with the exit gate enforced from the journal of the recorded run:
// both come from one set of calls. An answer from a memory that the recorded run did not end
// with is asked for.
type replayedPair struct {
	replay   *journal.Replay
	answered bool // the recorded run has an answer
	live     loop.Model
}

func (r *runner) replayedPair(recorded string, h journal.Header, model loop.Model) (*replayedPair, error) {
	path := r.folder.CallsPath(recorded)
	j, err := record.ReadCalls(r.folder, recorded)
	if err != nil {
		return nil, err
	}
	if diff := j.Header.Difference(h, true); diff != "" {
		return nil, &record.OtherRecord{Path: path, Difference: diff}
	}
	return &replayedPair{
		replay: journal.NewReplay(j.Header, j.Calls), live: model,
		answered: slices.ContainsFunc(j.Calls, func(c journal.Call) bool { return c.Turn == loop.AnswerTurn && c.Error == "" }),
	}, nil
}

// unanswered keeps a run from asking for an answer that may yet be asked for by the run that
// it replays.
type unanswered struct{}

func (unanswered) Error() string { return "the run with the exit gate recorded has no answer yet" }

// NotSent is true: no call was made.
func (unanswered) NotSent() bool { return true }

// replays reports whether the recorded run answers a request.
func (p *replayedPair) replays(r loop.Request) bool {
	r.Attempt = 1
	return r.Turn != loop.AnswerTurn || p.replay.Has(r)
}

// Complete answers, or asks for the answer where the recorded run asked for another one.
func (p *replayedPair) Complete(ctx context.Context, r loop.Request) (loop.Completion, error) {
	switch {
	case p.replays(r):
		return p.replay.Complete(ctx, r)
	case !p.answered:
		return loop.Completion{}, unanswered{}
	}
	return p.live.Complete(ctx, r)
}
