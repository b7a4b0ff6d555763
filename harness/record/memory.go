package record

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"

	"github.com/poimen-memory/mem/internal/inputfile"
	"github.com/poimen-memory/mem/loop/eventlog"
)

// MemoryBefore is the memory that the model of a logged run saw at a turn, nil for none.
func MemoryBefore(f Folder, run string, turn int, count eventlog.CountTokens) (*string, error) {
	turns, log, err := readLog(f, run, count)
	if err != nil {
		return nil, err
	}
	if turn > log.Turns {
		return nil, fmt.Errorf("%s: found %d turns, so no model was asked at turn %d", f.EventsPath(run), log.Turns, turn)
	}
	return memoryOf(turns, turn), nil
}

// MemoryAtEnd is the memory that a logged run was asked for its answer with, nil for none.
func MemoryAtEnd(f Folder, run string, count eventlog.CountTokens) (*string, error) {
	turns, log, err := readLog(f, run, count)
	if err != nil {
		return nil, err
	}
	if log.State != eventlog.Complete {
		return nil, fmt.Errorf("%s: the run did not end, so it was not asked for its answer", f.EventsPath(run))
	}
	return memoryOf(turns, log.Turns+1), nil
}

func memoryOf(turns []eventlog.Turn, before int) (memory *string) {
	for _, t := range turns {
		if t.Written && t.Number < before {
			memory = &t.Memory.Text
		}
	}
	return memory
}

// readLog reads the whole turns of a log that verifies.
func readLog(f Folder, run string, count eventlog.CountTokens) ([]eventlog.Turn, eventlog.Report, error) {
	if err := confinedRun(f, run); err != nil {
		return nil, eventlog.Report{}, err
	}
	path := f.EventsPath(run)
	data, err := inputfile.Read(path, inputfile.MaxEventLog)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, eventlog.Report{}, fmt.Errorf("%s: no such log, want one that mem eval left", path)
	}
	if err != nil {
		return nil, eventlog.Report{}, err
	}
	report, err := eventlog.Verify(bytes.NewReader(data), count)
	if err != nil {
		return nil, eventlog.Report{}, err
	}
	if report.State == eventlog.Corrupt {
		return nil, eventlog.Report{}, fmt.Errorf("%s:%d: the log is corrupt: %s", path, report.Line, report.Rule)
	}
	var turns []eventlog.Turn
	for t, err := range eventlog.Turns(bytes.NewReader(data)) {
		if err != nil {
			return nil, eventlog.Report{}, fmt.Errorf("%s: %v", path, err)
		}
		turns = append(turns, t)
	}
	return turns, report, nil
}
