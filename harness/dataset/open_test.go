package dataset_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/corpus/corpustest"
	"github.com/poimen-memory/mem/harness/dataset"
)

func gz(t testing.TB, w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }

func zst(t testing.TB, w io.Writer) io.WriteCloser {
	t.Helper()
	enc, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	return enc
}

var compressors = map[string]func(testing.TB, io.Writer) io.WriteCloser{"gz": gz, "zst": zst}

func compressed(t testing.TB, how, content string) string {
	t.Helper()
	var b bytes.Buffer
	w := compressors[how](t, &b)
	if _, err := io.WriteString(w, content); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A compressed file is read as if it were not, whatever its name, in memory and again:
// samples are read by their offsets, here also out of their order.
func TestCompressed(t *testing.T) {
	for file, format := range map[string]string{"claude-code.jsonl": "claude-code", "squad.json": "squad", "longmemeval.json": "longmemeval"} {
		plain, err := os.ReadFile(samplesDir + file)
		if err != nil {
			t.Fatal(err)
		}
		cfg := corpus.Config{ID: "c", Path: samplesDir + file, Reader: dataset.Reader{Format: format}, Pack: corpus.Pack{Records: 1}, Prompts: corpustest.Builder(t, corpustest.BytesCounter{}), Keep: -1}
		want, err := corpus.Load(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		for how := range compressors {
			cfg.Path = corpustest.WriteFile(t, "no-such-extension", compressed(t, how, string(plain)))
			got, err := corpus.Load(t.Context(), cfg)
			if err != nil || len(got) != len(want) {
				t.Fatalf("%s, %s: %d sessions (%v), want %d", file, how, len(got), err, len(want))
			}
			for range 2 {
				for i := len(want) - 1; i >= 0; i-- {
					if diff := cmp.Diff(corpustest.Renderings(t, want[i]), corpustest.Renderings(t, got[i])); diff != "" {
						t.Errorf("%s, %s, session %d: -plain +compressed\n%s", file, how, i, diff)
					}
				}
			}
		}
	}
}

// What is cut short or broken within its compression is an error, not an end.
func TestCompressedCutShort(t *testing.T) {
	line := `{"role":"tool","text":"` + strings.Repeat("0123456789 abcdef", 1000) + `"}` + "\n"
	for how := range compressors {
		whole := compressed(t, how, strings.Repeat(line, 50))
		path := corpustest.WriteFile(t, "c", whole[:len(whole)-9])
		_, err := corpus.Load(t.Context(), corpus.Config{ID: "c", Path: path, Pack: corpus.Pack{Records: 1}, Prompts: corpustest.Builder(t, corpustest.BytesCounter{})})
		if err == nil || !strings.Contains(err.Error(), "unexpected EOF") || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want that it ends too early and where", how, err)
		}
	}
}

// stream is how many bytes TestStreamTakesFlatMemory generates for each format:
//
//	go test ./harness/dataset -run Stream -stream 10000000000
var stream = flag.Int64("stream", 48<<20, "bytes of each generated stream")

// streams are unending files of each format that is read as it comes: what begins them,
// and an element.
var streams = map[string]struct{ head, each string }{
	"jsonl":       {"", `{"role":"tool","text":"TEXT"}` + "\n"},
	"claude-code": {"", `{"type":"user","message":{"role":"user","content":"TEXT"}}` + "\n"},
	"text":        {"", "TEXT\n\n"},
	"markdown":    {"", "# H\nTEXT\n"},
	"openai-chat": {"[", `{"role":"user","content":"TEXT"}`},
}

// The memory that an import takes does not grow with its file. The files are compressed,
// so that neither the test's disk nor its time does.
func TestStreamTakesFlatMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("slow, and the race detector has a heap of its own")
	}
	for format, s := range streams {
		t.Run(format, func(t *testing.T) {
			path := generateStream(t, *stream, s.head, strings.ReplaceAll(s.each, "TEXT", strings.Repeat("all went well; ", 4000)), format == "openai-chat")
			var im *dataset.Imported
			var err error
			peak := corpustest.PeakHeld(func() {
				im, err = dataset.Import(context.Background(), dataset.ImportConfig{Format: format, Paths: []string{path}, Counter: corpustest.BytesCounter{}}, io.Discard)
			})
			if err != nil {
				t.Fatal(err)
			}
			if most := uint64(40 << 20); peak > most || int64(im.Tokens) < *stream*9/10 {
				t.Errorf("%d MiB at the most for %d MiB, want under %d", peak>>20, im.Tokens>>20, most>>20)
			}
		})
	}
}

func generateStream(t *testing.T, size int64, head, each string, list bool) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "stream.zst")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := zst(t, f)
	b := bufio.NewWriterSize(w, 1<<20)
	fmt.Fprint(b, head)
	for n := int64(0); n < size; n += int64(len(each)) {
		if list && n > 0 {
			b.WriteByte(',')
		}
		b.WriteString(each)
	}
	if list {
		b.WriteByte(']')
	}
	if err := b.Flush(); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return path
}
