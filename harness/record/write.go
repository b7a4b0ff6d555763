package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/poimen-memory/mem/harness/atomicfile"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/eventlog"
	"github.com/poimen-memory/mem/loop/journal"
)

// Source is who answers a run, and how its calls are kept.
type Source struct {
	Model loop.Model
	// Terse says which requests may be kept as digests, if log and corpus give their prompts;
	// nil: none. A broken loop's prompts are not given by them, and are kept whole.
	Terse func(loop.Request) bool
	Sync  bool // each line is on disk before its reply is used: the calls are paid for
	// Present is asked before each call that is paid for; its error is that of a call that is
	// not made. Pin makes one.
	Present func() error
	// Answer says that the run is asked for its answer: a record without one is not complete.
	Answer bool
}

// Writer is the record of a run in progress: a loop.Model that records its calls, and a
// loop.Sink that logs its events.
type Writer struct {
	dir      string
	model    loop.Model // answers through the recorder
	recorder *journal.Recorder
	source   Source
	explains func(loop.Request) bool
	events   eventFile
	calls    *os.File
	memory   *string // by the log
}

// eventFile is a log that is begun or continued.
type eventFile interface {
	io.WriteCloser
	Sync() error
}

// Create begins a run's record anew.
func (f Folder) Create(run string, h journal.Header, s Source) (*Writer, error) {
	if err := confinedRun(f, run); err != nil {
		return nil, err
	}
	dir := f.RunDir(run)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	calls, err := os.Create(filepath.Join(dir, Calls))
	if err != nil {
		return nil, err
	}
	w := &Writer{dir: dir, source: s, calls: calls, recorder: &journal.Recorder{Header: h, W: calls}}
	events, err := os.Create(filepath.Join(dir, Events))
	if err != nil {
		calls.Close()
		return nil, err
	}
	w.events = events
	w.record(f, events)
	w.model = w.recorder
	if err := errors.Join(w.recorder.Start(), w.syncDirs(f)); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

// Refuse leaves the record of a run that could not be executed: a journal of no calls.
func (f Folder) Refuse(run string, h journal.Header, end End) error {
	if err := confinedRun(f, run); err != nil {
		return err
	}
	if err := f.removeRun(f.RunDir(run)); err != nil {
		return err
	}
	if err := os.MkdirAll(f.RunDir(run), 0o777); err != nil {
		return err
	}
	sum, err := FileSHA(f.EventsPath(run))
	if err != nil {
		return err
	}
	return atomicfile.Write(f.CallsPath(run), func(w io.Writer) error {
		rec := &journal.Recorder{Header: h, W: w}
		return errors.Join(rec.Start(), rec.End(journal.End{State: string(end.State), Reason: end.Reason, LogSHA256: sum}))
	})
}

// record has the recorder ask the source. What is paid for is synced, and not asked for where
// it could not be kept.
func (w *Writer) record(f Folder, events *os.File) {
	w.recorder.Model = w.source.Model
	w.recorder.Recomputable = func(r loop.Request) bool {
		return w.source.Terse != nil && w.source.Terse(r) && w.explains != nil && w.explains(r)
	}
	if w.source.Sync {
		w.recorder.Sync = func() error { return syncData(w.calls) }
		w.recorder.Model = &kept{w.source.Model, w.source.Present, f.Dir, []*os.File{w.calls, events}}
	}
}

func (w *Writer) syncDirs(f Folder) error {
	if !w.source.Sync {
		return nil
	}
	return SyncDirs(f, w.dir)
}

// ErrComplete is that of resuming a record that is complete: nothing is left to be asked.
var ErrComplete = errors.New("the record is complete")

// Resume continues a run's record: what its journal answers is not asked again. A record that
// does not exist is begun. The error is ErrComplete, or an *OtherRecord where the record was
// made under other circumstances.
func (f Folder) Resume(run string, h journal.Header, s Source, count eventlog.CountTokens) (*Writer, error) {
	if err := confinedRun(f, run); err != nil {
		return nil, err
	}
	dir := f.RunDir(run)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	file, j, err := journal.Continue(filepath.Join(dir, Calls))
	if err != nil {
		return nil, damaged(dir, err)
	}
	w, err := f.resume(dir, file, j, h, s, count)
	if err != nil {
		file.Close()
		return nil, err
	}
	return w, nil
}

func (f Folder) resume(dir string, file *journal.File, j journal.Journal, h journal.Header, s Source, count eventlog.CountTokens) (*Writer, error) {
	w := &Writer{dir: dir, source: s, calls: file.File}
	begun := j.Header.Schema == 0
	if diff := j.Header.Difference(h, true); diff != "" && !begun {
		return nil, &OtherRecord{filepath.Join(dir, Calls), diff}
	}
	complete, err := s.completes(dir, j)
	if complete || err != nil {
		return nil, cmp.Or(err, ErrComplete)
	}
	log, err := eventlog.Resume(filepath.Join(dir, Events), count)
	if err != nil {
		return nil, damaged(dir, err)
	}
	if begun {
		w.recorder = &journal.Recorder{Header: h, W: file}
	} else {
		w.recorder = j.Recorder(file)
	}
	w.record(f, log.File())
	if begun {
		err = w.recorder.Start()
	}
	if err := errors.Join(err, w.syncDirs(f)); err != nil {
		log.Close()
		return nil, err
	}
	replay := journal.NewReplay(w.recorder.Header, j.Calls)
	replay.Next = cutting{w.recorder, log}
	w.events, w.model = log, replay
	return w, nil
}

// damaged names the command that repairs a record that cannot be continued.
func damaged(dir string, err error) error {
	_, journal := errors.AsType[*journal.Corrupt](err)
	_, log := errors.AsType[*eventlog.NotResumed](err)
	if journal || log {
		return fmt.Errorf("%w: cut it back to its last good line with mem repair %s", err, dir)
	}
	return err
}

// cutting asks a model what a journal does not hold, and drops before that what the log holds
// of it: a power failure may lose the last lines of the one and not of the other.
type cutting struct {
	loop.Model
	log *eventlog.Resumed
}

func (c cutting) Complete(ctx context.Context, r loop.Request) (loop.Completion, error) {
	if err := c.log.Cut(); err != nil {
		return loop.Completion{}, err
	}
	return c.Model.Complete(ctx, r)
}

// completes reports whether a record leaves nothing to ask and nothing to log. A log that is
// not the one that its journal ends with is replayed.
func (s Source) completes(dir string, j journal.Journal) (bool, error) {
	answered := slices.ContainsFunc(j.Calls, func(c journal.Call) bool { return c.Turn == loop.AnswerTurn && c.Error == "" })
	if j.End == nil || State(j.End.State) != Complete || s.Answer && !answered {
		return false, nil
	}
	sum, err := FileSHA(filepath.Join(dir, Events))
	return sum == j.End.LogSHA256, err
}

// OtherRecord is a record that was made under other circumstances.
type OtherRecord struct{ Path, Difference string }

func (e *OtherRecord) Error() string {
	return fmt.Sprintf("%s is of another experiment: %s", e.Path, e.Difference)
}

// Misconfigured is true: no call would succeed.
func (e *OtherRecord) Misconfigured() bool { return true }

// Expect sets the function that reports whether log and corpus give a request's prompt.
func (w *Writer) Expect(explains func(loop.Request) bool) { w.explains = explains }

// Complete answers from the record, or asks the source and records the call.
func (w *Writer) Complete(ctx context.Context, r loop.Request) (loop.Completion, error) {
	return w.model.Complete(ctx, r)
}

// Emit logs a unit of events.
func (w *Writer) Emit(unit []loop.Event) error {
	if err := (eventlog.Writer{W: w.events}).Emit(unit); err != nil {
		return err
	}
	for _, e := range unit {
		if m, ok := e.(loop.Memory); ok {
			w.memory = &m.Text
		}
	}
	return nil
}

// Finish ends the record and closes it. out is what the loop returned.
func (w *Writer) Finish(end End, out loop.Outcome) error {
	var err error
	if w.source.Sync { // before the end, which says what the log is
		err = w.events.Sync()
	}
	err = errors.Join(err, w.events.Close())
	sum, sumErr := FileSHA(filepath.Join(w.dir, Events))
	if err := errors.Join(err, sumErr); err != nil {
		return errors.Join(err, w.calls.Close())
	}
	err = w.recorder.End(journal.End{State: string(end.State), Reason: end.Reason, LogSHA256: sum, Outcome: w.outcome(out)})
	return errors.Join(err, unmoved(w.calls), w.calls.Close())
}

// outcome is what the loop said, with its memory only where that is not the log's.
func (w *Writer) outcome(out loop.Outcome) *journal.Outcome {
	if log, ok := w.events.(interface{ Ahead() bool }); ok && log.Ahead() {
		return nil // stopped while it replayed: the log knows more than the loop
	}
	said := &journal.Outcome{ChunksSeen: out.ChunksSeen, ChunksUsed: out.ChunksUsed, StoppedBy: out.StoppedBy}
	var memory *string
	if out.Memory != nil {
		memory = &out.Memory.Raw
	}
	if (memory == nil) != (w.memory == nil) || memory != nil && *memory != *w.memory {
		said.OtherMemory, said.Memory = true, memory
	}
	return said
}

func (w *Writer) close() {
	w.events.Close()
	w.calls.Close()
}
