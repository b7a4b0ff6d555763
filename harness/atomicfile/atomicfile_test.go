package atomicfile_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/poimen-memory/mem/harness/atomicfile"
)

// TestNewFilesAreReadable: what replaces a file keeps its mode, and a new one is for all
// to read, as CI steps under other users want.
func TestNewFilesAreReadable(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no such modes")
	}
	dir := t.TempDir()
	kept := filepath.Join(dir, "kept")
	write(t, kept, "old")
	if err := os.Chmod(kept, 0o640); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]fs.FileMode{kept: 0o640, filepath.Join(dir, "new"): 0o644} {
		if err := atomicfile.Write(path, func(w io.Writer) error { _, err := io.WriteString(w, "text"); return err }); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode() != want || info.Size() != 4 {
			t.Errorf("%s: %v, %v, want mode %v and 4 bytes", path, info, err, want)
		}
	}
}

// TestFailedWriteKeepsTheFile: what could not be written whole leaves the old file, and
// nothing beside it.
func TestFailedWriteKeepsTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	write(t, path, "old")
	full := errors.New("disk full")
	err := atomicfile.Write(path, func(w io.Writer) error { io.WriteString(w, "half"); return full })
	if err != full {
		t.Errorf("error %v, want %v", err, full)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("folder holds %v (%v), want the file alone", entries, err)
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "old" {
		t.Errorf("file holds %q (%v), want what it held", data, err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestSweepRemovesStagedFilesOnly: a file that was staged and never committed goes, others stay.
func TestSweepRemovesStagedFilesOnly(t *testing.T) {
	dir := t.TempDir()
	kept := filepath.Join(dir, ".hidden")
	write(t, kept, "kept")
	staged, err := atomicfile.Stage(filepath.Join(dir, "file"), func(io.Writer) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Sweep(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(staged); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is still there (%v)", staged, err)
	}
	if _, err := os.Stat(kept); err != nil {
		t.Error(err)
	}
}
