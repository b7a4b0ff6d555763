// Package lines reads a file by lines of bounded length.
package lines

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
)

// TooLong is the error of a line that is longer than this bound, in bytes.
type TooLong int

func (max TooLong) Error() string {
	return fmt.Sprintf("the line is longer than %d MiB, and no run writes one", max>>20)
}

// Reader reads lines.
type Reader struct {
	in  *bufio.Reader
	max int
}

// New makes a Reader of lines of at most max bytes, so that a file without newlines ends.
func New(r io.Reader, max int) Reader { return Reader{bufio.NewReader(r), max} }

// Next returns a line with its newline. What stands after the last newline comes with
// io.EOF, and what was read of a line that is too long with a TooLong.
func (r Reader) Next() (line []byte, err error) {
	for {
		part, err := r.in.ReadSlice('\n')
		if len(line)+len(part) > cap(line) {
			line = slices.Grow(line, len(line)+len(part)) // append grows a long line by a quarter only, and leaves garbage of many times its size
		}
		line = append(line, part...)
		switch {
		case len(line) > r.max:
			return line, TooLong(r.max)
		case !errors.Is(err, bufio.ErrBufferFull):
			return line, err
		}
	}
}
