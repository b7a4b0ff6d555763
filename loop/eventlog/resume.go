package eventlog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Resume opens a log to be continued: cut back to its last whole unit. The writer takes
// the run's units from the first one on; those that the log holds already are compared
// and not written again, so that a replay that says anything else than what was logged
// is an error and not a forked log. A log that is not there is begun.
func Resume(path string, count CountTokens) (io.WriteCloser, error) {
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	report, err := Verify(bytes.NewReader(data), count)
	if err != nil {
		return nil, err
	}
	if report.State == Corrupt {
		return nil, fmt.Errorf("%s:%d: %s: a corrupt log is not resumed", path, report.Line, report.Rule)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	if err := f.Truncate(report.Bytes); err != nil {
		f.Close()
		return nil, err
	}
	return &continued{known: data[:report.Bytes], f: f}, nil
}

type continued struct {
	known []byte // still to be compared
	f     *os.File
	at    int64
}

func (c *continued) Write(unit []byte) (int, error) {
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

func (c *continued) Close() error { return c.f.Close() }
