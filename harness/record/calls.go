package record

import (
	"iter"
	"os"
	"path/filepath"

	"github.com/poimen-memory/mem/internal/inputfile"
	"github.com/poimen-memory/mem/loop/journal"
)

// callReader reads a journal's calls turn by turn.
type callReader struct {
	file   *os.File
	reader *journal.Reader
	pull   func() ([]journal.Call, error, bool)
	stop   func()
	ahead  []journal.Call // of a turn that was not asked for yet
	err    error
}

func (r *Record) openCalls() (*callReader, error) {
	path := filepath.Join(r.dir, Calls)
	f, err := inputfile.Open(path)
	if err != nil {
		return nil, err
	}
	reader, err := journal.NewReader(f)
	if err != nil {
		f.Close()
		return nil, journal.Located(path, err)
	}
	c := &callReader{file: f, reader: reader}
	c.pull, c.stop = iter.Pull2(reader.Turns())
	return c, nil
}

// next are the calls of the next turn, nil at the end.
func (c *callReader) next() []journal.Call {
	if c.ahead != nil {
		calls := c.ahead
		c.ahead = nil
		return calls
	}
	calls, err, ok := c.pull()
	if err != nil {
		c.err = journal.Located(c.file.Name(), err)
	}
	if !ok || err != nil {
		return nil
	}
	return calls
}

// of are the calls of a turn, nil if the journal has none.
func (c *callReader) of(turn int) []journal.Call {
	calls := c.next()
	if calls != nil && calls[0].Turn != turn {
		c.ahead = calls
		return nil
	}
	return calls
}

func (c *callReader) close() {
	c.stop()
	c.file.Close()
}
