// Package corpustest has what the tests of packages that make or read sessions share.
package corpustest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/prompt"
)

// BytesCounter counts bytes: the size of a chunk is known exactly.
type BytesCounter struct{}

// Count implements prompt.Counter.
func (BytesCounter) Count(s string) int { return len(s) }

// FourthCounter counts four bytes as one: the parts of a text can sum to less than the whole.
type FourthCounter struct{}

// Count implements prompt.Counter.
func (FourthCounter) Count(s string) int { return len(s) / 4 }

// Builder has a budget that refuses no chunk of a test.
func Builder(t testing.TB, c prompt.Counter) *prompt.Builder {
	t.Helper()
	b, err := prompt.New(prompt.Config{Counter: c, Budget: prompt.Budget{Window: 1 << 30, Template: 1 << 20, Chunk: 1 << 24}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Record is a record of a JSONL corpus.
type Record struct {
	Role string `json:"role"`
	Text string `json:"text"`
	ID   string `json:"id,omitempty"`
}

// JSONL is a corpus of the records.
func JSONL(t testing.TB, records ...Record) string {
	t.Helper()
	var b strings.Builder
	enc := json.NewEncoder(&b)
	for _, r := range records {
		if err := enc.Encode(r); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// WriteFile writes a file of that name in a folder of its own and returns its path.
func WriteFile(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// Chunks are the chunks of a session.
func Chunks(t testing.TB, s *corpus.Session) []prompt.Chunk {
	t.Helper()
	var all []prompt.Chunk
	for c, err := range s.Chunks() {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}

// Renderings are the texts of a session's chunks.
func Renderings(t testing.TB, s *corpus.Session) []string {
	t.Helper()
	var all []string
	for _, c := range Chunks(t, s) {
		all = append(all, c.Raw)
	}
	return all
}

// Short is the text of errors without the folder of the file, and without its name if there
// is a line.
func Short(es diag.Errors) string {
	var lines []string
	for _, e := range es {
		e := *e
		if e.Pos.File = e.Pos.File[strings.LastIndex(e.Pos.File, "/")+1:]; e.Pos.Line > 0 {
			lines = append(lines, strings.TrimPrefix(e.Error(), e.Pos.File+":"))
		} else {
			lines = append(lines, e.Error())
		}
	}
	return strings.Join(lines, "\n")
}
