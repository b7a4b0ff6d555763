// Package inputfile opens and reads the files that a user names: regular files only, each kind
// up to a size.
//
// A device such as /dev/zero has no end, and opening a named pipe waits for a writer, so both
// are refused before they are opened. Errors are *fs.PathError.
package inputfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// The largest files of each kind that are read, in bytes. Corpora and journals have no limit:
// they are read record by record, and their lines have one.
const (
	MaxSpec      = 1 << 20
	MaxTemplate  = 1 << 20  // of prompts
	MaxMemory    = 1 << 20  // that a prompt is shown with
	MaxScript    = 16 << 20 // of gates
	MaxLabels    = 16 << 20
	MaxGolden    = 16 << 20 // and its ledger
	MaxTokenizer = 64 << 20 // the largest published ones have 34 MB
	MaxHaystack  = 64 << 20
	MaxSummary   = 128 << 20 // and the other results that an evaluation writes
	MaxEventLog  = 128 << 20 // that is resumed or shown
)

// Open opens a regular file.
func Open(path string) (*os.File, error) {
	_, err := check(path)
	if err != nil {
		return nil, err
	}
	return os.Open(path)
}

// Read reads a regular file of at most max bytes.
func Read(path string, max int64) ([]byte, error) {
	size, err := check(path)
	if err != nil {
		return nil, err
	}
	if size > max {
		return nil, tooLarge(path, fmt.Sprint(size), max)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, path, size, max)
}

// ReadStdin reads standard input, at most max bytes.
func ReadStdin(r io.Reader, max int64) ([]byte, error) { return readAll(r, "-", 0, max) }

// readAll does not rely on size: files of /proc have none, and a file may grow.
func readAll(r io.Reader, path string, size, max int64) ([]byte, error) {
	data := make([]byte, 0, size+1) // one read more finds the end
	for {
		n, err := r.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case int64(len(data)) > max:
			return nil, tooLarge(path, fmt.Sprint("over ", max), max)
		case errors.Is(err, io.EOF):
			return data, nil
		case err != nil:
			return nil, err
		case len(data) == cap(data):
			data = append(data, 0)[:len(data)]
		}
	}
}

func tooLarge(path, found string, max int64) error {
	return &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("found %s bytes, want at most %d", found, max)}
}

// check is the size of a regular file. Any other file is an error.
func check(path string) (size int64, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, &fs.PathError{Op: "open", Path: path, Err: reason(err)}
	}
	if !info.Mode().IsRegular() {
		return 0, &fs.PathError{Op: "read", Path: path, Err: notRegular(info.Mode())}
	}
	return info.Size(), nil
}

func reason(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

func notRegular(mode fs.FileMode) error {
	found := "a special file"
	switch {
	case mode.IsDir():
		return errors.New("is a directory, want a regular file")
	case mode&fs.ModeNamedPipe != 0:
		found = "a pipe"
	case mode&fs.ModeSocket != 0:
		found = "a socket"
	case mode&fs.ModeDevice != 0:
		found = "a device"
	}
	return fmt.Errorf("is %s, want a regular file, or - for standard input where a command takes it", found)
}
