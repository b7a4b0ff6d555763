package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLineEndsOfWindows: a spec, a script and a session with the line ends that an editor on
// Windows writes are what they were: the golden prompt agrees, and every expectation is met.
func TestLineEndsOfWindows(t *testing.T) {
	dir := t.TempDir()
	mem := func(args ...string) (int, string) {
		var out bytes.Buffer
		code := execute(t.Context(), args, strings.NewReader(""), &out, &out)
		return code, out.String()
	}
	if code, out := mem("init", dir); code != 0 {
		t.Fatal(out)
	}
	converted := 0
	err := filepath.WalkDir(filepath.Join(dir, "experiments"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		converted++
		return os.WriteFile(path, bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n")), 0o666)
	})
	if err != nil || converted < 4 {
		t.Fatal(converted, err)
	}
	code, out := mem("eval", filepath.Join(dir, "experiments/first.yaml"), "--out", filepath.Join(dir, "reports"), "--quiet")
	if code != 0 || !strings.Contains(out, "first: passed — 18 checks passed, 6 runs, 20 turns") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}
