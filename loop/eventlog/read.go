package eventlog

import (
	"errors"
	"io"
	"iter"

	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/internal/lines"
)

// Read gives a log's events in order, but for a torn last line. It checks each line for
// itself; what holds between them is Verify's. The error, after which nothing comes, is the
// reader's or Decode's.
func Read(log io.Reader) iter.Seq2[loop.Event, error] {
	return func(yield func(loop.Event, error) bool) {
		in := lines.New(log, maxLine)
		for {
			line, err := in.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			var e loop.Event
			if err == nil {
				e, err = Decode(line)
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}
