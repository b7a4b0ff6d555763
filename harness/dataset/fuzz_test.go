package dataset_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/corpus/corpustest"
	"github.com/poimen-memory/mem/harness/dataset"
)

func FuzzClaudeCode(f *testing.F)  { fuzzImport(f, "claude-code") }
func FuzzHotpotQA(f *testing.F)    { fuzzImport(f, "hotpotqa") }
func FuzzLoCoMo(f *testing.F)      { fuzzImport(f, "locomo") }
func FuzzLongMemEval(f *testing.F) { fuzzImport(f, "longmemeval") }
func FuzzMarkdown(f *testing.F)    { fuzzImport(f, "markdown") }
func FuzzMuSiQue(f *testing.F)     { fuzzImport(f, "musique") }
func FuzzOpenAIChat(f *testing.F)  { fuzzImport(f, "openai-chat") }
func FuzzSQuAD(f *testing.F)       { fuzzImport(f, "squad") }
func FuzzText(f *testing.F)        { fuzzImport(f, "text") }

// fuzzImport: what an import writes is a corpus of as many records, with labels that can be read.
func fuzzImport(f *testing.F, format string) {
	for file, of := range published {
		if of == format {
			data, err := os.ReadFile(samplesDir + file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	prompts := corpustest.Builder(f, corpustest.BytesCounter{})
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out.jsonl")
		if err := os.WriteFile(in, data, 0o666); err != nil {
			t.Fatal(err)
		}
		var records, labels bytes.Buffer
		im, err := dataset.Import(t.Context(), dataset.ImportConfig{Format: format, Paths: []string{in}, Counter: corpustest.BytesCounter{}}, &records)
		if err != nil || im.Records == 0 {
			return
		}
		if err := os.WriteFile(out, records.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		cfg := corpus.Config{ID: "c", Path: out, Prompts: prompts, Pack: corpus.Pack{Records: 1}}
		if len(im.Queries) > 0 {
			if err := corpus.WriteLabels(&labels, "labels", labelled(im.Queries)); err != nil {
				t.Fatal(err)
			}
			cfg.Labels = corpus.LabelsPath(out)
			if err := os.WriteFile(cfg.Labels, labels.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		sessions, err := corpus.Load(t.Context(), cfg)
		if err != nil {
			t.Fatalf("what was imported is refused: %v\n%q\n%q", err, &records, &labels)
		}
		if got := sessions[0].Records(); got != im.Records {
			t.Errorf("%d records were imported, %d are read", im.Records, got)
		}
	})
}
