package journal

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
)

// Continue opens a journal to append to: what it holds, and the file, cut back to its last
// whole line. A journal that is not there, or was killed before its header was whole, is
// begun: its header is the zero Header.
func Continue(path string) (*os.File, Header, []Call, error) {
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, Header{}, nil, err
	}
	whole := data[:bytes.LastIndexByte(data, '\n')+1]
	var h Header
	var calls []Call
	if len(whole) > 0 {
		if h, calls, err = Read(bytes.NewReader(whole)); err != nil {
			return nil, h, nil, located(path, err)
		}
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, h, nil, err
	}
	if err := errors.Join(f.Truncate(int64(len(whole))), seekEnd(f)); err != nil {
		f.Close()
		return nil, h, nil, err
	}
	return f, h, calls, nil
}

func seekEnd(f *os.File) error {
	_, err := f.Seek(0, io.SeekEnd)
	return err
}
