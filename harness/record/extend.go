package record

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/poimen-memory/mem/harness/atomicfile"
	"github.com/poimen-memory/mem/internal/inputfile"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/eventlog"
	"github.com/poimen-memory/mem/loop/journal"
)

// Kept is what a record still says of a session that has grown: the turns whose prompts are
// the same, which are those before the first chunk that changed.
type Kept struct {
	Header journal.Header // of the record
	Turns  int            // whole ones
	Ended  bool           // the loop ends within them
	Other  bool           // the record answers a turn that is another now

	calls []journal.Call
	log   []byte
}

// Keep answers from a record's journal again, by a function that takes a model through the loop over
// the session as it is now. It changes nothing.
func Keep(f Folder, run string, again func(loop.Model, loop.Sink) (loop.Outcome, error)) (Kept, error) {
	j, err := ReadCalls(f, run)
	if err != nil {
		return Kept{}, err
	}
	var log bytes.Buffer
	out, err := again(journal.NewReplay(j.Header, j.Calls), eventlog.Writer{W: &log})
	miss, missed := errors.AsType[*journal.Miss](err)
	if err != nil && !missed {
		return Kept{}, err
	}
	k := Kept{Header: j.Header, Turns: out.ChunksSeen, Ended: err == nil, Other: missed && miss.Misconfigured(), log: log.Bytes()}
	for _, c := range j.Calls {
		of := c.Turn <= k.Turns && c.Turn != loop.AnswerTurn
		unresolved := missed && c.Turn == miss.Request.Turn && c.Attempt < miss.Request.Attempt
		answer := c.Turn == loop.AnswerTurn && k.Ended
		if of || unresolved || answer {
			k.calls = append(k.calls, c)
		}
	}
	return k, nil
}

// Extend gives a record a new header, with which it holds what was kept. The rest of the log
// and of the journal stays beside it. A process that is killed meanwhile leaves a record that
// can be extended again.
func Extend(f Folder, run string, h journal.Header, k Kept) error {
	n, err := freeCut(f.RunDir(run))
	if err != nil {
		return err
	}
	calls, log := f.CallsPath(run), f.EventsPath(run)
	callsRest, err := restAfter(calls, 1+len(k.calls))
	if err != nil {
		return err
	}
	logRest, err := restAfter(log, bytes.Count(k.log, []byte("\n")))
	if err != nil {
		return err
	}
	for _, file := range []struct {
		path string
		fill func(io.Writer) error
	}{
		{fmt.Sprint(calls, cutMark, n), writes(callsRest)},
		{fmt.Sprint(log, cutMark, n), writes(logRest)},
		{log, writes(k.log)},
		{calls, func(w io.Writer) error { return writeCalls(w, h, k.calls) }},
	} {
		if err := atomicfile.Write(file.path, file.fill); err != nil {
			return err
		}
	}
	return syncDir(filepath.Dir(calls))
}

func writes(data []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}
}

func writeCalls(w io.Writer, h journal.Header, calls []journal.Call) error {
	var lines bytes.Buffer
	rec := &journal.Recorder{Header: h, W: &lines}
	if err := rec.Start(); err != nil {
		return err
	}
	for _, c := range calls {
		if err := rec.Record(c); err != nil {
			return err
		}
	}
	_, err := w.Write(lines.Bytes())
	return err
}

// restAfter is what follows the first lines of a file; a file that does not exist is empty.
func restAfter(path string, lines int) ([]byte, error) {
	rest, err := inputfile.Read(path, inputfile.MaxEventLog)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for ; lines > 0 && err == nil; lines-- {
		_, rest, _ = bytes.Cut(rest, []byte("\n"))
	}
	return rest, err
}
