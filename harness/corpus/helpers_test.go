package corpus_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/prompt"
)

// The counters of these tests: exact, so that a chunk's size can be foretold; and one that
// sums to less than the whole, as no packer may rely on.
type (
	bytesCounter  struct{}
	fourthCounter struct{}
)

func (bytesCounter) Count(s string) int  { return len(s) }
func (fourthCounter) Count(s string) int { return len(s) / 4 }

// wide is a budget that no test's chunk is refused by.
var wide = prompt.Budget{Window: 1 << 30, Template: 1 << 20, Chunk: 1 << 24}

func builder(t testing.TB, c prompt.Counter) *prompt.Builder {
	t.Helper()
	b, err := prompt.New(prompt.Config{Counter: c, Budget: wide})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

type rec struct {
	Role string `json:"role"`
	Text string `json:"text"`
	ID   string `json:"id,omitempty"`
}

func jsonl(t testing.TB, records ...rec) string {
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

func write(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// load reads a JSONL corpus that must be good, counted in bytes unless cfg says otherwise.
func load(t testing.TB, cfg corpus.Config, records ...rec) *corpus.Session {
	t.Helper()
	cfg.ID, cfg.Path = "c", write(t, "c.jsonl", jsonl(t, records...))
	if cfg.Prompts == nil {
		cfg.Prompts = builder(t, bytesCounter{})
	}
	sessions, err := corpus.Load(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if len(sessions) != 1 {
		t.Fatalf("%d sessions, want 1", len(sessions))
	}
	return sessions[0]
}

func chunks(t testing.TB, s *corpus.Session) []prompt.Chunk {
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

// raws are the renderings of a session's chunks.
func raws(t testing.TB, s *corpus.Session) []string {
	t.Helper()
	var all []string
	for _, c := range chunks(t, s) {
		all = append(all, c.Raw)
	}
	return all
}
