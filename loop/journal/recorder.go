package journal

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/poimen-memory/mem/loop"
)

// Recorder is a Model that writes each call of Model to W, one Write a line, before it
// hands on the reply. Make one for a new journal and call Start, or take one that continues
// a journal from Journal.Recorder. After an error of W or Sync it asks and writes nothing
// more, and returns that error: what follows a torn line could not be read back.
type Recorder struct {
	Header Header
	Model  loop.Model
	W      io.Writer
	// Recomputable reports that a request can be assembled again from the run's log and its
	// session. Its digest then stands in place of its prompts. nil: no request can.
	Recomputable func(loop.Request) bool
	Sync         func() error // called after each line; nil: none

	link   link
	failed error
}

// Start writes the header line of a new journal.
func (rec *Recorder) Start() error {
	rec.Header.Schema, rec.link = Schema, newLink()
	return rec.write(rec.Header)
}

// Complete asks Model and records the call. A call that cannot be recorded is an error,
// whatever the model said: an unrecorded reply could not be resumed from. Neither an
// interrupt nor a loop.NotSent error is recorded as one.
func (rec *Recorder) Complete(ctx context.Context, r loop.Request) (loop.Completion, error) {
	if rec.failed != nil {
		return loop.Completion{}, rec.failed
	}
	c, err := rec.Model.Complete(ctx, r)
	if errors.Is(err, context.Canceled) || loop.IsNotSent(err) {
		return c, err
	}
	call := Call{
		Turn: r.Turn, Attempt: r.Attempt, Digest: rec.Header.Digest(r), System: r.System, User: r.User, MaxTokens: r.MaxTokens,
		Reply: c.Text, Reasoning: c.Reasoning, Finish: c.Finish, Usage: c.Usage, Confidence: c.Confidence,
	}
	if rec.Recomputable != nil && rec.Recomputable(r) {
		call.System, call.User = "", ""
	}
	if err != nil {
		call.Error = err.Error()
	}
	if err := rec.Record(call); err != nil {
		return loop.Completion{}, err
	}
	return c, err
}

// Record writes a call as it is, such as one of another journal of the same run.
func (rec *Recorder) Record(c Call) error { return rec.write(wired(c)) }

// End writes the last line. It fills in JournalSHA256. A journal of schema 1 has no end:
// nothing is written.
func (rec *Recorder) End(e End) error {
	if rec.Header.Schema == unchainedSchema {
		return nil
	}
	e.JournalSHA256 = rec.link.journal()
	return rec.write(endLine{e})
}

func (rec *Recorder) write(v any) error {
	if rec.failed == nil {
		rec.failed = rec.append(v)
	}
	return rec.failed
}

func (rec *Recorder) append(v any) error {
	line, err := encodeLine(v)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	if rec.Header.Schema != unchainedSchema {
		line = rec.link.chained(line)
	}
	_, err = rec.W.Write(line)
	if err == nil && rec.Sync != nil {
		err = rec.Sync()
	}
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	rec.link.add(line)
	return nil
}
