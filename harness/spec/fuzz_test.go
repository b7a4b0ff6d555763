package spec_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/spec"
)

// FuzzParse: a file is a spec that reads the same again, or has errors that point into it.
func FuzzParse(f *testing.F) {
	specs, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(specs) == 0 {
		f.Fatal("no specs: ", err)
	}
	for _, path := range specs {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	_, list := wrongs(f)
	for _, w := range list {
		f.Add([]byte(w.data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := spec.Parse("s.yaml", data)
		if err != nil {
			checkErrors(t, data, err)
			return
		}
		if wrong := spec.CheckName(s.Experiment.Value); wrong != nil {
			t.Errorf("a spec with the name %q: %v", s.Experiment.Value, wrong)
		}
		again, err := spec.Parse("s.yaml", data)
		if err != nil || !reflect.DeepEqual(s, again) {
			t.Errorf("read again it is another spec: %v", err)
		}
	})
}

func checkErrors(t *testing.T, data []byte, err error) {
	t.Helper()
	list, ok := errors.AsType[diag.Errors](err)
	if !ok || len(list) == 0 {
		t.Fatalf("error %v, want a diag.Errors", err)
	}
	lines := strings.Count(strings.ReplaceAll(string(data), "\r", "\n"), "\n") + 1
	for _, e := range list {
		if e.Pos.Line < 1 || e.Pos.Line > lines || e.Pos.Col < 1 || e.Msg == "" {
			t.Errorf("no such place in %q: %v", data, e)
		}
	}
}
