package eventlog

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// maxLine bounds a line, in bytes: a reply is no longer than 16 MiB, and JSON writes a byte
// as six at the most. It makes an end of a file that has no newline in it.
const maxLine = 6<<24 + 1<<10

var errTooLong = fmt.Errorf("the line is longer than %d MiB, and no run writes one", maxLine>>20)

// lines reads a log by lines. What stands after the last newline comes with io.EOF.
type lines struct {
	in  *bufio.Reader
	max int
}

func newLines(r io.Reader) lines { return lines{bufio.NewReader(r), maxLine} }

// next is valid with its error.
func (l lines) next() (line []byte, err error) {
	for {
		part, err := l.in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > l.max:
			return line, errTooLong
		case !errors.Is(err, bufio.ErrBufferFull):
			return line, err
		}
	}
}
