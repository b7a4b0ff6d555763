package record

import (
	"errors"
	"io"
	"io/fs"
	"iter"
	"path/filepath"

	"github.com/poimen-memory/mem/internal/inputfile"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/eventlog"
	"github.com/poimen-memory/mem/loop/journal"
)

// Record is what a run left. It is read turn by turn and holds one turn at a time.
type Record struct {
	Run    string
	Header journal.Header

	dir string
}

// Open opens a run's record. The error is fs.ErrNotExist where there is none; a folder without
// a whole journal header is none.
func (f Folder) Open(run string) (*Record, error) {
	if err := confinedRun(f, run); err != nil {
		return nil, err
	}
	dir := f.RunDir(run)
	h, err := journal.ReadHeader(filepath.Join(dir, Calls))
	if errors.Is(err, journal.ErrNoHeader) {
		return nil, fs.ErrNotExist
	}
	return &Record{Run: run, Header: h, dir: dir}, err
}

// Path is that of the record's journal.
func (r *Record) Path() string { return filepath.Join(r.dir, Calls) }

// Turn is one turn of a record: its events and the calls that led to them.
type Turn struct {
	eventlog.Turn
	Calls []journal.Call // in order; a call without a reply may stand before the one that was asked again
}

// Reply is the reply that decided the turn; ok is false if none came.
func (t Turn) Reply() (reply loop.Completion, ok bool) {
	for _, c := range t.Calls {
		if c.Error == "" {
			reply, ok = loop.Completion{Text: c.Reply, Reasoning: c.Reasoning, Finish: c.Finish}, true
		}
	}
	return reply, ok
}

// Confidence is that of the reply that parsed; nil if none did, or its model was not asked.
func (t Turn) Confidence() *loop.Confidence {
	for _, c := range t.Calls {
		if t.Parsed && c.Error == "" && c.Attempt == t.Attempts {
			return c.Confidence
		}
	}
	return nil
}

// Reading is one pass over a record.
type Reading struct {
	Start *loop.RunStart // after Turns: nil if the log has none
	Ended *loop.RunEnd   // after Turns: nil if the loop did not end
	Rest  []journal.Call // after Turns: calls of a turn that was not resolved, then those for the answer
	End   *journal.End   // after Turns: nil if the run was killed

	record *Record
	turns  int // whole turns of the log
	used   int // of them wrote a memory
	memory *string
}

// Read begins a pass.
func (r *Record) Read() *Reading { return &Reading{record: r} }

// Turns gives the whole turns of the record, in order. What is wrong with the event log is
// left to VerifyLog; the turns before it are given. The error is about the journal.
func (p *Reading) Turns() iter.Seq2[Turn, error] {
	return func(yield func(Turn, error) bool) {
		calls, err := p.record.openCalls()
		if err != nil {
			yield(Turn{}, err)
			return
		}
		defer calls.close()
		if !p.whole(calls, yield) {
			return
		}
		for group := calls.next(); group != nil; group = calls.next() {
			p.Rest = append(p.Rest, group...)
		}
		p.End = calls.reader.End
		if calls.err != nil {
			yield(Turn{}, calls.err)
		}
	}
}

// whole gives the whole turns. It is false when the caller wants no more.
func (p *Reading) whole(calls *callReader, yield func(Turn, error) bool) bool {
	log, err := inputfile.Open(filepath.Join(p.record.dir, Events))
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	if err != nil {
		yield(Turn{}, err)
		return false
	}
	defer log.Close()
	reader := eventlog.NewReader(log)
	for turn, err := range reader.Turns() {
		if err != nil {
			break
		}
		if !yield(p.count(Turn{Turn: turn, Calls: calls.of(turn.Number)}), nil) {
			return false
		}
	}
	p.Start, p.Ended = reader.Start, reader.End
	return true
}

func (p *Reading) count(turn Turn) Turn {
	p.turns++
	if turn.Written {
		p.used++
		p.memory = &turn.Memory.Text
	}
	return turn
}

// VerifyLog verifies the record's event log.
func (r *Record) VerifyLog(count eventlog.CountTokens) (eventlog.Report, error) {
	f, err := inputfile.Open(filepath.Join(r.dir, Events))
	if err != nil {
		return eventlog.Report{}, err
	}
	defer f.Close()
	return eventlog.Verify(f, count)
}

// OpenLog opens a run's event log.
func (f Folder) OpenLog(run string) (io.ReadCloser, error) {
	if err := confinedRun(f, run); err != nil {
		return nil, err
	}
	return inputfile.Open(filepath.Join(f.RunDir(run), Events))
}

// Outcome reads what a run left.
func (f Folder) Outcome(run string) Outcome {
	rec, err := f.Open(run)
	if err != nil {
		return Outcome{End: End{State: Incomplete, Reason: err.Error()}}
	}
	var out Outcome
	reading := rec.Read()
	var damage error
	for turn, err := range reading.Turns() {
		if damage = err; err != nil {
			break
		}
		if turn.Written {
			out.Written = append(out.Written, turn.Number)
		}
	}
	out.Turns, out.Memory, out.End = reading.turns, reading.memory, rec.EndOf(reading, damage)
	return out
}
