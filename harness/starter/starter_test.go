package starter_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/starter"
)

// TestWrittenSpecLoads: the files are those that the spec names, but for the golden.
func TestWrittenSpecLoads(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	if err := starter.Free(dir); err != nil {
		t.Fatal(err)
	}
	names, err := starter.Write(dir)
	if err != nil {
		t.Fatal(err)
	}
	s, err := spec.Load(filepath.Join(dir, starter.Spec))
	if err != nil {
		t.Fatal(err)
	}
	made := strings.Join(append(names, starter.Made[:]...), "\n")
	for _, file := range s.Files() {
		if name, _ := filepath.Rel(dir, file); !strings.Contains(made, filepath.ToSlash(name)) {
			t.Errorf("the spec names %s, files are\n%s", name, made)
		}
	}
}

// TestFilesInTheWay: each file is found, and none is replaced.
func TestFilesInTheWay(t *testing.T) {
	for _, name := range []string{starter.Spec, starter.Made[0], starter.Made[1]} {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("mine"), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := starter.Free(dir); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("Free: %v, want an error about %s", err, path)
		}
		if _, err := starter.Write(dir); name == starter.Spec && err == nil {
			t.Errorf("Write replaced %s", path)
		}
		if data, _ := os.ReadFile(path); string(data) != "mine" {
			t.Errorf("%s holds %q", path, data)
		}
	}
}
