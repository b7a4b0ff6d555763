package journal

import (
	"bytes"
	"io"
	"os"
)

// File is a journal's file, to be continued. Nothing is changed before the first Write: it
// then cuts off what follows the last call, a torn line or the end, unless it writes the
// same end again. A run that is resumed and asks nothing leaves its journal as it was.
type File struct {
	*os.File
	at   int64
	rest []byte // what follows
}

// Continue opens a journal to append to: what it holds, and its file. A journal that does
// not exist, or was killed before its header was whole, is begun: its header is the zero
// Header.
func Continue(path string) (*File, Journal, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, Journal{}, err
	}
	j, rest, err := readToContinue(f)
	if err != nil {
		f.Close()
		return nil, j, Located(path, err)
	}
	return &File{File: f, at: j.Bytes, rest: rest}, j, nil
}

func readToContinue(f *os.File) (j Journal, rest []byte, err error) {
	if j, err = Read(f); err != nil && err != ErrNoHeader {
		return j, nil, err
	}
	if _, err := f.Seek(j.Bytes, io.SeekStart); err != nil {
		return j, nil, err
	}
	rest, err = io.ReadAll(f)
	return j, rest, err
}

// Write writes a line after the last one.
func (f *File) Write(line []byte) (int, error) {
	if len(f.rest) > 0 {
		same := bytes.Equal(f.rest, line)
		f.rest = nil
		if same {
			f.at += int64(len(line))
			return len(line), nil
		}
		if err := f.Truncate(f.at); err != nil {
			return 0, err
		}
	}
	n, err := f.WriteAt(line, f.at)
	f.at += int64(n)
	return n, err
}
