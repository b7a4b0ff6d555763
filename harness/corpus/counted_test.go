package corpus_test

import (
	"bytes"
	"fmt"
	"iter"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/corpus/corpustest"
	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/prompt"
)

// records are a record and entries that are not imported: a kind for each, on lines 2, 3, ….
func records(file string, kinds ...string) corpus.Records {
	return func() iter.Seq2[*corpus.Record, error] {
		return func(yield func(*corpus.Record, error) bool) {
			ok := yield(&corpus.Record{Record: prompt.Record{Role: "user", Text: "x"}, At: diag.Pos{File: file, Line: 1, Col: 1}}, nil)
			for i, kind := range kinds {
				ok = ok && yield(&corpus.Record{Skipped: kind, At: diag.Pos{File: file, Line: i + 2, Col: 1}}, nil)
			}
		}
	}
}

// What is not imported is counted by file and kind, in the order of the files, with the position
// of the first entry.
func TestSkippedAreCountedByFileAndKind(t *testing.T) {
	note := []corpus.Counted{{Kind: "reordered", Count: 1, First: diag.Pos{File: "b", Line: 1, Col: 1}}}
	joined := corpus.Join([]corpus.Source{
		{Name: "1", Records: records("b", "z", "a", "z"), Notes: note}, {Name: "2", Records: records("a", "a"), Notes: note}, {Name: "3", Records: records("b", "a")},
	})
	w, err := corpus.Write(t.Context(), joined, "f", corpustest.BytesCounter{}, new(bytes.Buffer))
	if err != nil {
		t.Fatal(err)
	}
	at := func(file string, line int) diag.Pos { return diag.Pos{File: file, Line: line, Col: 1} }
	if diff := cmp.Diff([]corpus.Counted{{"a", 2, at("b", 3)}, {"z", 2, at("b", 2)}, {"a", 1, at("a", 2)}}, w.Skipped); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]corpus.Counted{{"reordered", 2, at("b", 1)}}, w.Notes); diff != "" {
		t.Error(diff)
	}
}

// A file that names a new kind on every line does not make the list grow without bound.
func TestKindsAreBounded(t *testing.T) {
	var kinds []string
	for i := range 5000 {
		kinds = append(kinds, fmt.Sprint(i))
	}
	w, err := corpus.Write(t.Context(), corpus.Source{Records: records("f", kinds...)}, "f", corpustest.BytesCounter{}, new(bytes.Buffer))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, s := range w.Skipped {
		n += s.Count
	}
	if len(w.Skipped) > 201 || n != 5000 {
		t.Errorf("%d kinds of %d entries, want at most 201 of 5000", len(w.Skipped), n)
	}
}
