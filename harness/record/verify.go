package record

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/poimen-memory/mem/internal/inputfile"
	"github.com/poimen-memory/mem/loop/eventlog"
	"github.com/poimen-memory/mem/loop/journal"
)

// Verdict says whether a record is complete, interrupted or corrupt.
type Verdict struct {
	State eventlog.State // Complete: nothing is left to be done; Interrupted: the run can go on from it
	Turns int            // whole turns, all verified
	Path  string         // of the log; Corrupt: of the file with the first violation
	Line  int            // Corrupt: 1-based; 0: not one line's
	Rule  string         // Corrupt: the violation
	Note  string         // what else is to be known; "": nothing

	log, calls int64 // bytes of the log and of the journal that are good
}

// Verify recomputes everything in a run's folder that can be recomputed: the log from itself,
// the journal by its chain, and the log from the replies in the journal. The error is that of
// reading; what is wrong with the record is in the Verdict.
func Verify(dir string, count eventlog.CountTokens) (Verdict, error) {
	if err := confinedRecord(dir); err != nil {
		return Verdict{}, err
	}
	v := verification{dir: dir, verdict: Verdict{Path: filepath.Join(dir, Events)}}
	if err := v.readLog(count); err != nil {
		return Verdict{}, err
	}
	err := v.readCalls(count)
	corrupt, isCorrupt := errors.AsType[*journal.Corrupt](err)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		v.judgeLog()
		v.verdict.Note = "no journal beside it: the log is verified alone"
	case errors.Is(err, journal.ErrNoHeader):
		v.judgeBegun()
	case isCorrupt:
		v.corrupt(corrupt.Path, corrupt.Line, corrupt.Problem)
	case err != nil:
		return Verdict{}, err
	default:
		v.judge()
	}
	return v.verdict, nil
}

// VerifyLog verifies a log that is no record's.
func VerifyLog(path string, count eventlog.CountTokens) (Verdict, error) {
	v := verification{dir: filepath.Dir(path), verdict: Verdict{Path: path}}
	report, err := verifyFile(path, count)
	if err != nil {
		return Verdict{}, err
	}
	v.log = report
	v.judgeLog()
	return v.verdict, nil
}

// verification is a record that is being verified.
type verification struct {
	dir     string
	log     eventlog.Report
	noLog   bool
	header  journal.Header
	end     *journal.End
	ahead   bool   // the log has turns that the journal has no calls of
	differs string // how the log is not what the journal's replies give; "": not
	line    int    // of the log, where it differs
	verdict Verdict
}

func verifyFile(path string, count eventlog.CountTokens) (eventlog.Report, error) {
	f, err := inputfile.Open(path)
	if err != nil {
		return eventlog.Report{}, err
	}
	defer f.Close()
	return eventlog.Verify(f, count)
}

func (v *verification) readLog(count eventlog.CountTokens) (err error) {
	v.log, err = verifyFile(v.verdict.Path, count)
	if v.noLog = errors.Is(err, fs.ErrNotExist); v.noLog {
		v.log, err = eventlog.Report{State: eventlog.Interrupted}, nil
	}
	v.verdict.Turns, v.verdict.log = v.log.Turns, v.log.Bytes
	return err
}

// readCalls reads the journal to its end, next to the log's whole turns.
func (v *verification) readCalls(count eventlog.CountTokens) error {
	r := &Record{dir: v.dir}
	calls, err := r.openCalls()
	if err != nil {
		return err
	}
	defer calls.close()
	v.header = calls.reader.Header
	if err := v.compare(calls, count); err != nil {
		return err
	}
	for calls.next() != nil {
	}
	v.end, v.verdict.calls = calls.reader.End, calls.reader.Bytes
	return calls.err
}

// judge is of a record whose journal is whole.
func (v *verification) judge() {
	if !v.header.Chained() {
		v.verdict.Note = "its journal has no chain, as earlier versions wrote it: replies are not verified"
	}
	switch {
	case v.log.State == eventlog.Corrupt:
		v.corrupt(v.verdict.Path, v.log.Line, v.log.Rule)
	case v.differs != "":
		v.corrupt(v.verdict.Path, v.line, v.differs)
	case v.end != nil:
		v.judgeEnd()
	case v.header.Chained() && v.log.State == eventlog.Complete:
		v.interrupted("the journal has no end")
	case v.ahead:
		v.interrupted("the journal ends before the log")
	default:
		v.verdict.State = v.log.State
	}
}

// judgeEnd holds the log against the end of the journal.
func (v *verification) judgeEnd() {
	sum, err := FileSHA(v.verdict.Path)
	other := err != nil || sum != v.end.LogSHA256
	switch {
	case other && v.log.State == eventlog.Interrupted:
		v.interrupted("the log ends before the one that its journal ends with")
	case other:
		v.corrupt(v.verdict.Path, 0, "it is not the log that its journal ends with (log_sha256)")
	case State(v.end.State) == Complete:
		v.verdict.State = v.log.State
	default:
		v.interrupted(v.end.State + ": " + v.end.Reason)
	}
}

// judgeBegun is of a record whose journal was not begun.
func (v *verification) judgeBegun() {
	v.judgeLog()
	if v.verdict.State == eventlog.Complete || v.log.Turns > 0 {
		v.interrupted("the journal ends before the log")
	}
}

// judgeLog is of a log alone.
func (v *verification) judgeLog() {
	v.verdict.State, v.verdict.Turns, v.verdict.log = v.log.State, v.log.Turns, v.log.Bytes
	if v.log.State == eventlog.Corrupt {
		v.corrupt(v.verdict.Path, v.log.Line, v.log.Rule)
	}
}

func (v *verification) interrupted(note string) {
	v.verdict.State, v.verdict.Note = eventlog.Interrupted, note
}

func (v *verification) corrupt(path string, line int, rule string) {
	v.verdict.State, v.verdict.Path, v.verdict.Line, v.verdict.Rule = eventlog.Corrupt, path, line, rule
}

// Place is a verdict's path with its line, if it has one.
func (v Verdict) Place() string {
	if v.Line == 0 {
		return v.Path
	}
	return fmt.Sprintf("%s:%d", v.Path, v.Line)
}
