package dataset_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/poimen-memory/mem/harness/corpus/corpustest"
	"github.com/poimen-memory/mem/harness/dataset"
)

// variants yields a value with each of the values within it replaced, one at a time, by each of
// the wrong kinds.
func variants(v any, yield func(any)) {
	for _, wrong := range []any{nil, 7, []any{}, map[string]any{"type": "text"}} {
		yield(wrong)
	}
	switch v := v.(type) {
	case []any:
		for i, was := range v {
			variants(was, func(w any) { v[i] = w; yield(v) })
			v[i] = was
		}
	case map[string]any:
		for key, was := range v {
			variants(was, func(w any) { v[key] = w; yield(v) })
			delete(v, key)
			yield(v)
			v[key] = was
		}
	}
}

// A value of the wrong kind, or none, is refused or counted wherever it stands; nothing panics.
func TestWrongKindsDoNotPanic(t *testing.T) {
	if testing.Short() {
		t.Skip("tens of thousands of files")
	}
	for file, format := range published {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(samplesDir + file)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "f")
			for dec, n := json.NewDecoder(bytes.NewReader(data)), 0; n < 12; n++ {
				var v any
				if dec.Decode(&v) != nil {
					return
				}
				variants(v, func(v any) {
					content, err := json.Marshal(v)
					if err != nil || os.WriteFile(path, append(content, "\n{}\n"...), 0o600) != nil {
						t.Fatal(err)
					}
					dataset.Import(t.Context(), dataset.ImportConfig{Format: format, Paths: []string{path}, Counter: corpustest.BytesCounter{}}, io.Discard)
				})
			}
		})
	}
}
