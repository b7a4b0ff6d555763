package corpus_test

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/corpus/corpustest"
)

// reread is a corpus that is not kept in memory: 100 records of 2 kB, each cut twice or more.
func reread(t *testing.T, cfg corpus.Config, record func(i int) string) (*corpus.Session, string) {
	t.Helper()
	var b strings.Builder
	for i := range 100 {
		b.WriteString(corpustest.JSONL(t, corpustest.Record{Role: "tool", Text: record(i)}))
	}
	cfg.ID, cfg.Path, cfg.Pack = "big", corpustest.WriteFile(t, "big.jsonl", b.String()), corpus.Pack{Tokens: 640}
	cfg.Prompts, cfg.Keep = corpustest.Builder(t, corpustest.BytesCounter{}), -1
	sessions, err := corpus.Load(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return sessions[0], cfg.Path
}

func hay(i int) string {
	return strings.Repeat(strings.Repeat("häy\n\n", 30)+"<memory>", 9) + strings.Repeat("-", i) + "x"
}

// A corpus that is read again gives the chunks that were counted; they come from the file.
func TestChunksAreReadAgain(t *testing.T) {
	s, path := reread(t, corpus.Config{}, hay)
	prompts := corpustest.Builder(t, corpustest.BytesCounter{})
	told := strings.Builder{}
	n := 0
	for i, c := range corpustest.Chunks(t, s) {
		if got := prompts.Measure(c.Raw); got != c.Text || got.Tokens != s.ChunkTokens()[i] {
			t.Fatalf("chunk %d measures %d tokens and %d reserved, was said to be %d and %d", i+1, got.Tokens, got.Reserved, c.Tokens, c.Reserved)
		}
		told.WriteString(strings.NewReplacer("[tool] ", "", "x\n\n[tool] ", "x").Replace(c.Raw))
		n += c.Reserved
	}
	want := strings.Builder{}
	for i := range 100 {
		want.WriteString(hay(i))
	}
	if told.String() != want.String() {
		t.Error("the chunks do not tell the records")
	}
	if n != s.Reserved() || n == 0 {
		t.Errorf("chunks hold %d reserved tags, the session %d", n, s.Reserved())
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	for _, err := range s.Chunks() {
		if err == nil || !strings.Contains(err.Error(), "corpus big was read before and cannot be read again: open "+path) {
			t.Errorf("without its file: %v", err)
		}
	}
}

// A small corpus does not need its file any more.
func TestChunksAreKept(t *testing.T) {
	path := corpustest.WriteFile(t, "c.jsonl", corpustest.JSONL(t, corpustest.Record{Role: "a", Text: "x"}))
	sessions, err := corpus.Load(t.Context(), corpus.Config{Path: path, Pack: corpus.Pack{Tokens: 50}, Prompts: corpustest.Builder(t, corpustest.BytesCounter{})})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if diff := cmp.Diff([]string{"[a] x"}, corpustest.Renderings(t, sessions[0])); diff != "" {
			t.Error(diff)
		}
	}
}

// 8 MiB are kept unless the configuration says otherwise.
// TestSHANamesChunksAndTheirBorders: the same text packed in another way is another corpus.
func TestSHANamesChunksAndTheirBorders(t *testing.T) {
	sha := func(records int, texts ...string) string {
		var list []corpustest.Record
		for _, text := range texts {
			list = append(list, corpustest.Record{Role: "tool", Text: text})
		}
		sessions, err := corpus.Load(t.Context(), corpus.Config{
			ID: "c", Path: corpustest.WriteFile(t, "c.jsonl", corpustest.JSONL(t, list...)), Prompts: corpustest.Builder(t, corpustest.BytesCounter{}), Pack: corpus.Pack{Records: records},
		})
		if err != nil {
			t.Fatal(err)
		}
		return sessions[0].SHA()
	}
	long := strings.Repeat("long ", 5000) // more than is hashed at a time
	base := sha(1, "a", "b", long)
	if again := sha(1, "a", "b", long); again != base || len(base) != 64 {
		t.Errorf("the same chunks are %q and %q", base, again)
	}
	for name, other := range map[string]string{
		"a byte": sha(1, "a", "c", long), "the last byte": sha(1, "a", "b", long+"."), "the packing": sha(2, "a", "b", long),
		"the order": sha(1, "b", "a", long), "a chunk more": sha(1, "a", "b", long, "d"),
	} {
		if other == base {
			t.Errorf("%s changes nothing", name)
		}
	}
}

func TestChunksAreKeptUpToEightMiB(t *testing.T) {
	for mib, want := range map[int]bool{7: true, 9: false} {
		cfg := corpus.Config{Path: corpustest.WriteFile(t, "c.jsonl", corpustest.JSONL(t, corpustest.Record{Role: "a", Text: strings.Repeat("x", mib<<20)})),
			Pack: corpus.Pack{Records: 1}, Prompts: corpustest.Builder(t, corpustest.BytesCounter{})}
		sessions, err := corpus.Load(t.Context(), cfg)
		if err != nil || os.Remove(cfg.Path) != nil {
			t.Fatal(err)
		}
		for _, err := range sessions[0].Chunks() {
			if kept := err == nil; kept != want {
				t.Errorf("%d MiB are kept: %v (%v)", mib, kept, err)
			}
		}
	}
}

// Whatever changes in a file after Load, no chunk comes that was not counted.
func TestChangedFile(t *testing.T) {
	s, path := reread(t, corpus.Config{}, hay)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	first := corpustest.Renderings(t, s)
	lines := strings.SplitAfter(string(before), "\n")
	for name, c := range map[string]struct {
		content string
		chunks  int // that may still come
		want    string
	}{
		"a byte":            {strings.Replace(string(before), "häy", "hay", 1), 0, "from chunk 1 of"},
		"the last byte":     {strings.TrimSuffix(string(before), "x\"}\n") + "y\"}\n", s.Len() - 1, "changed while it was in use"},
		"the role":          {strings.Replace(string(before), `"tool"`, `"user"`, 1), 0, "from chunk 1 of"},
		"a line less":       {strings.Join(lines[:99], ""), -1, "changed while it was in use"},
		"a line more":       {string(before) + lines[0], s.Len(), "changed while it was in use"},
		"a border moved":    {strings.Replace(string(before), `x"}`+"\n"+`{"role":"tool","text":"`, `"}`+"\n"+`{"role":"tool","text":"x`, 1), -1, "changed while it was in use"},
		"cut within a line": {string(before[:len(before)/2]), -1, "cannot be read again"},
		"nothing left":      {"", 0, "cannot be read again"},
	} {
		if err := os.WriteFile(path, []byte(c.content), 0o644); err != nil {
			t.Fatal(err)
		}
		var last error
		n := 0
		for chunk, err := range s.Chunks() {
			if last != nil {
				t.Errorf("%s: something came after the error", name)
			}
			if last = err; err != nil {
				continue
			}
			if n >= len(first) || chunk.Raw != first[n] {
				t.Errorf("%s: chunk %d is not what was counted", name, n+1)
			}
			n++
		}
		if last == nil || !strings.Contains(last.Error(), c.want) || c.chunks >= 0 && n != c.chunks {
			t.Errorf("%s: after %d chunks (want %d), error %v, want %q", name, n, c.chunks, last, c.want)
		}
	}
}

// Passes are independent: they may stop early, and run at the same time.
func TestChunksConcurrently(t *testing.T) {
	s, _ := reread(t, corpus.Config{}, hay)
	var wg sync.WaitGroup
	for stop := range 8 {
		wg.Go(func() {
			n := 0
			for c, err := range s.Chunks() {
				if err != nil || c.Tokens != s.ChunkTokens()[n] {
					t.Errorf("chunk %d: %d tokens, %v", n+1, c.Tokens, err)
				}
				if n++; n == 20*stop+1 {
					break
				}
			}
		})
	}
	wg.Wait()
}

// Evidence of a corpus that is read again, the label cut by a chunk's border.
func TestEvidenceWhenReadAgain(t *testing.T) {
	cfg := corpus.Config{Queries: []corpus.Query{{ID: "q", Labels: []corpus.Label{{Match: "needle"}}}}}
	s, _ := reread(t, cfg, func(i int) string {
		if i == 50 {
			return strings.Repeat("-", 640-7-3) + "needle" + strings.Repeat("-", 600)
		}
		return strings.Repeat("-", 1800)
	})
	got := s.Queries()[0].Evidence
	if len(got) != 2 || got[0].Excerpt != "nee" || got[1].Excerpt != "dle" || got[1].Chunk != got[0].Chunk+1 {
		t.Fatalf("evidence %v, want nee and dle in two chunks", got)
	}
	n := 0
	for c := range s.Chunks() {
		if n++; n == got[0].Chunk && !strings.HasSuffix(c.Raw, "nee") || n == got[1].Chunk && !strings.HasPrefix(c.Raw, "[tool] dle") {
			t.Errorf("chunk %d does not hold its evidence", n)
		}
	}
}

func TestLoadStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	cfg := tokens(50)
	cfg.Path, cfg.Prompts = corpustest.WriteFile(t, "c.jsonl", corpustest.JSONL(t, corpustest.Record{Role: "a"})), corpustest.Builder(t, corpustest.BytesCounter{})
	if _, err := corpus.Load(ctx, cfg); err != context.Canceled {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

// load reads a JSONL corpus that must be good, counted in bytes unless cfg says otherwise.
func load(t testing.TB, cfg corpus.Config, records ...corpustest.Record) *corpus.Session {
	t.Helper()
	cfg.ID, cfg.Path = "c", corpustest.WriteFile(t, "c.jsonl", corpustest.JSONL(t, records...))
	if cfg.Prompts == nil {
		cfg.Prompts = corpustest.Builder(t, corpustest.BytesCounter{})
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
