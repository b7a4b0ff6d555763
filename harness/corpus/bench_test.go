package corpus_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/corpus/corpustest"
	"github.com/poimen-memory/mem/prompt"
	"github.com/poimen-memory/mem/prompt/token"
)

// generate writes a JSONL corpus of about size bytes with one needle, and returns its path.
func generate(t testing.TB, size int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "big.jsonl")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	paragraph := strings.Repeat("The deploy of the staging cluster went on as planned; see the log.\\n", 12)
	for n, i := 0, 0; n < size; i++ {
		needle := ""
		if i == 1000 {
			needle = "needle 6380"
		}
		line, err := fmt.Fprintf(w, `{"role":"tool","ts":%d,"text":"%d %s%s","id":"r%d"}`+"\n", i, i, paragraph, needle, i)
		if n += line; err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return path
}

func needle(path string, prompts *prompt.Builder) corpus.Config {
	return corpus.Config{ID: "big", Path: path, Pack: corpus.Pack{Tokens: 4800}, Prompts: prompts,
		Queries: []corpus.Query{{ID: "q", Labels: []corpus.Label{{Match: "needle 6380"}}}}}
}

// loadAndPass does what a run does: Load, and a pass over all chunks.
func loadAndPass(t testing.TB, cfg corpus.Config) (bytes int) {
	t.Helper()
	sessions, err := corpus.Load(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if got := sessions[0].Queries()[0]; len(got.Evidence) != 1 {
		t.Fatalf("evidence %v, want one chunk", got.Evidence)
	}
	n := 0
	for c, err := range sessions[0].Chunks() {
		if err != nil {
			t.Fatal(err)
		}
		n, bytes = n+1, bytes+len(c.Raw)
	}
	if n != sessions[0].Len() {
		t.Fatalf("a pass of %d chunks, want %d", n, sessions[0].Len())
	}
	return bytes
}

// The text of a corpus is not held: 20 MB of it pass through less than 12 MB of heap. Held,
// it alone would be more.
func TestHeapIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("slow, and the race detector has a heap of its own")
	}
	cfg := needle(generate(t, 20<<20), corpustest.Builder(t, corpustest.FourthCounter{}))
	cfg.Keep = -1
	if peak := corpustest.PeakHeld(func() { loadAndPass(t, cfg) }); peak > 12<<20 {
		t.Errorf("peak heap of %d MB", peak>>20)
	}
}

// BenchmarkChunking reads a corpus of 200 MB as a run does and reports its peak heap. Its
// own speed is seen with a counter that costs nothing; the vocabulary's is in the other.
func BenchmarkChunking(b *testing.B) {
	b.Run("200MB/len", func(b *testing.B) { chunking(b, 200_000_000, corpustest.FourthCounter{}) })
	b.Run("20MB/o200k_base", func(b *testing.B) { chunking(b, 20_000_000, o200k(b)) })
}

// BenchmarkCutting packs one record of 15 MB, of lines and without any.
func BenchmarkCutting(b *testing.B) {
	for name, unit := range map[string]string{"lines": "The deploy went on as planned; see the log.\n", "none": "a1b2C3+/"} {
		b.Run(name, func(b *testing.B) {
			text := strings.Repeat(unit, 15_000_000/len(unit))
			cfg := corpus.Config{Path: corpustest.WriteFile(b, "c.jsonl", corpustest.JSONL(b, corpustest.Record{Role: "tool", Text: text})),
				Pack: corpus.Pack{Tokens: 4800}, Prompts: corpustest.Builder(b, o200k(b))}
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, err := corpus.Load(context.Background(), cfg); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func o200k(b *testing.B) prompt.Counter {
	counter, err := token.New("o200k_base")
	if err != nil {
		b.Fatal(err)
	}
	return counter
}

func chunking(b *testing.B, size int, counter prompt.Counter) {
	cfg := needle(generate(b, size), corpustest.Builder(b, counter))
	b.SetBytes(int64(size))
	b.ReportAllocs()
	peak := uint64(0)
	for b.Loop() {
		peak = max(peak, corpustest.PeakHeap(func() { loadAndPass(b, cfg) }))
	}
	b.ReportMetric(float64(peak)/1e6, "peakMB")
}
