package eventlog

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/poimen-memory/mem/internal/inputfile"
)

// Resume opens a log to be continued: cut back to its last whole unit. The writer takes
// the run's units from the first one on; those that the log holds already are compared
// and not written again, so that a replay that says anything else than what was logged
// is an error and not a forked log. A log that is not there is begun.
func Resume(path string, count CountTokens) (*Resumed, error) {
	data, err := inputfile.Read(path, inputfile.MaxEventLog)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	report, err := Verify(bytes.NewReader(data), count)
	if err != nil {
		return nil, err
	}
	if report.State == Corrupt {
		return nil, &NotResumed{path, report}
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	if err := f.Truncate(report.Bytes); err != nil {
		f.Close()
		return nil, err
	}
	return &Resumed{known: data[:report.Bytes], f: f}, nil
}

// NotResumed is a log that is corrupt.
type NotResumed struct {
	Path string
	Report
}

func (e *NotResumed) Error() string {
	return fmt.Sprintf("%s:%d: %s: a corrupt log is not resumed", e.Path, e.Line, e.Rule)
}

// Misconfigured is true: no call would succeed.
func (e *NotResumed) Misconfigured() bool { return true }

// Resumed is a log that is continued.
type Resumed struct {
	known []byte // still to be compared
	f     *os.File
	at    int64
}

// Write compares a unit with what the log holds, or appends it.
func (c *Resumed) Write(unit []byte) (int, error) {
	if len(c.known) == 0 {
		n, err := c.f.WriteAt(unit, c.at)
		c.at += int64(n)
		return n, err
	}
	if !bytes.HasPrefix(c.known, unit) {
		return 0, fmt.Errorf("%s: the replay differs from the log after byte %d: it says %.200s", c.f.Name(), c.at, unit)
	}
	c.known = c.known[len(unit):]
	c.at += int64(len(unit))
	return len(unit), nil
}

// Cut drops what the log holds beyond the units that were compared so far. A caller cuts
// before a model is asked for what its journal does not hold: a power failure may leave a
// log that is ahead of its journal, and a model need not say the same again.
func (c *Resumed) Cut() error {
	if len(c.known) == 0 {
		return nil
	}
	c.known = nil
	return c.f.Truncate(c.at)
}

// Ahead reports whether the log holds more than the units written so far: the run was stopped
// while it replayed.
func (c *Resumed) Ahead() bool { return len(c.known) > 0 }

// File is the log's file.
func (c *Resumed) File() *os.File { return c.f }

// Sync puts the log on disk.
func (c *Resumed) Sync() error { return c.f.Sync() }

// Close closes the file.
func (c *Resumed) Close() error { return c.f.Close() }
