package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/journal"
)

// Growth is a live record of a session that has grown.
type Growth struct {
	Run      string
	Kept     int  // turns whose prompts are the same
	Again    int  // turns that are asked, or asked again; a bound where the exit gate is enforced
	Replayed bool // they are answered by the run with the exit gate recorded
}

// Grown are the selected live runs whose records are of sessions that have grown since. Runs
// over memories are not among them: what they read is not known before the runs below have
// ended.
func Grown(p *plan.Plan, folder record.Folder) (grown []Growth, err error) {
	for _, run := range p.Selected() {
		if !run.Live() || run.OverMemories() || !folder.HoldsLive(run.Name) {
			continue
		}
		in := run.Input()
		kept, grew, err := keep(loop.Run, p, folder, run, in, p.Header(run, in), false)
		if err != nil {
			return nil, err
		}
		if grew {
			again := len(in.Tokens) - kept.Turns
			if kept.Ended {
				again = 0
			}
			grown = append(grown, Growth{Run: run.Name, Kept: kept.Turns, Again: again, Replayed: run.ReplayOf != ""})
		}
	}
	return grown, nil
}

// GrownError is that of resuming records of sessions that have grown.
type GrownError struct {
	Dir   string
	Grown []Growth
}

func (e *GrownError) Error() string {
	return fmt.Sprintf("%s holds live results of sessions that have grown since: %d runs, the first is %s: keep the turns that are the same with --live --resume --extend, or begin anew with --live --fresh",
		e.Dir, len(e.Grown), e.Grown[0].Run)
}

// keep tells what a record keeps for its run's session as it is now; grew is false if the
// session has not grown. models says whether the model is compared too.
func keep(run Loop, p *plan.Plan, folder record.Folder, r *plan.Run, in plan.Input, h journal.Header, models bool) (kept record.Kept, grew bool, err error) {
	rec, err := folder.Open(r.Name)
	if _, corrupt := errors.AsType[*journal.Corrupt](err); corrupt || errors.Is(err, fs.ErrNotExist) {
		return kept, false, nil // resuming tells
	}
	if err != nil {
		return kept, false, err
	}
	chained := rec.Header.Chained()
	if chained && !changed(rec.Header, h, r, models) || !chained && rec.Header.Difference(h, models) != "" {
		return kept, false, nil
	}
	kept, err = record.Keep(folder, r.Name, func(m loop.Model, sink loop.Sink) (loop.Outcome, error) {
		return run(context.Background(), loop.Config{
			Model: m, Sink: sink, Prompts: r.Setup.Prompts, Level: loop.Level(r.Level),
			UseExitGate: r.ExitGate == spec.Enforce, Tokenizer: p.Tokenizer(),
		}, r.Question, in.Chunks)
	})
	if err != nil || chained {
		return kept, err == nil, err
	}
	return kept, kept.Other || !kept.Ended && logEnded(rec), nil // schema 1 does not hold the session
}

// changed reports whether a record differs from its run in the session alone, which has grown.
// Of memories there may be as many as before.
func changed(recorded, h journal.Header, r *plan.Run, models bool) bool {
	if r.OverMemories() && recorded.SessionSHA != h.SessionSHA {
		h.Records = recorded.Records + 1
	}
	return recorded.Grew(h, models)
}

// logEnded reports whether a record's log has a run_end.
func logEnded(rec *record.Record) bool {
	reading := rec.Read()
	for _, err := range reading.Turns() {
		if err != nil {
			return false
		}
	}
	return reading.Ended != nil
}

// extend rewrites the record of a session that has grown, as far as it is still the same.
func extend(run Loop, p *plan.Plan, folder record.Folder, r *plan.Run, in plan.Input, h journal.Header) error {
	kept, grew, err := keep(run, p, folder, r, in, h, true)
	if err != nil || !grew {
		return err
	}
	return record.Extend(folder, r.Name, h, kept)
}

// grewBelow reports whether a record is of other memories than its run reads now, and of
// nothing else.
func grewBelow(folder record.Folder, r *plan.Run, h journal.Header) bool {
	rec, err := folder.Open(r.Name)
	return err == nil && changed(rec.Header, h, r, true)
}
