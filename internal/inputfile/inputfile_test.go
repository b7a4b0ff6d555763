package inputfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/poimen-memory/mem/internal/inputfile"
)

func TestRegularFilesUpToTheirLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("12345"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, max := range []int64{5, 6} {
		if data, err := inputfile.Read(path, max); err != nil || string(data) != "12345" {
			t.Errorf("at most %d: %q, %v", max, data, err)
		}
	}
	_, err := inputfile.Read(path, 4)
	if _, is := errors.AsType[*fs.PathError](err); !is || !strings.Contains(err.Error(), "found 5 bytes, want at most 4") {
		t.Errorf("at most 4: error is %v, want a PathError with both numbers", err)
	}
	if _, err := inputfile.Read(path+"x", 4); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: error is %v", err)
	}
}

// endless never ends; it is standard input, or a file that grows while it is read.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestStdinHasALimit(t *testing.T) {
	if _, err := inputfile.ReadStdin(endless{}, 1000); err == nil || !strings.Contains(err.Error(), "over 1000 bytes, want at most 1000") {
		t.Errorf("error is %v", err)
	}
	if data, err := inputfile.ReadStdin(strings.NewReader("ab"), 2); err != nil || string(data) != "ab" {
		t.Errorf("%q, %v", data, err)
	}
}

func TestDirectoriesAreRefused(t *testing.T) {
	dir := t.TempDir()
	if _, err := inputfile.Open(dir); err == nil || !strings.Contains(err.Error(), "is a directory, want a regular file") {
		t.Errorf("error is %v", err)
	}
}
