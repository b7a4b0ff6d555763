package textfile

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
)

// MaxLine is the longest line that is read, in bytes.
const MaxLine = 16 << 20

// ErrLongLine is the error of a line that is longer than MaxLine.
var ErrLongLine = fmt.Errorf("the line is over %d MiB, the longest that is read: split the record", MaxLine>>20)

// Lines reads a text line by line. It holds one line.
type Lines struct {
	Number int   // of the line that was read last, from 1
	Offset int64 // where that line starts, in bytes
	Last   bool  // no newline followed that line
	r      *bufio.Reader
	buf    []byte
	end    int64 // of that line
}

// NewLines skips a byte order mark at the start.
func NewLines(r io.Reader) *Lines {
	l := &Lines{r: bufio.NewReaderSize(r, 64<<10)}
	if bom, _ := l.r.Peek(3); string(bom) == "\ufeff" {
		l.r.Discard(3)
		l.end = 3
	}
	return l
}

// Next returns a line without its newline, valid until the next call, or io.EOF. A line that
// is too long is skipped without being held: the error is ErrLongLine, and reading goes on.
func (l *Lines) Next() ([]byte, error) {
	if l.Number++; cap(l.buf) > 1<<20 {
		l.buf = nil // one long line must not take memory for the rest of the file
	}
	l.buf, l.Offset = l.buf[:0], l.end
	size := 0
	for {
		part, err := l.r.ReadSlice('\n')
		l.end += int64(len(part))
		if size += len(part); size <= MaxLine {
			l.buf = append(l.buf, part...)
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		if l.Last = err == io.EOF; err != nil && (!l.Last || size == 0) {
			return nil, err
		}
		if size > MaxLine {
			return nil, ErrLongLine
		}
		return bytes.TrimSuffix(l.buf, []byte("\n")), nil
	}
}
