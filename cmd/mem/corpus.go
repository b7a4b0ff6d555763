package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/prompt"
	"github.com/poimen-memory/mem/prompt/token"
)

func corpusCommand() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "corpus",
		Short: "Import sessions, look at them, label and check them",
		Long: `corpus makes sessions and their labels fit for use. Files may be compressed with gzip or
zstd. Labels of FILE.jsonl stand beside it in FILE.labels.yaml, and a spec names both:

  corpora:
    - {id: staging, path: staging.jsonl, labels: staging.labels.yaml}`,
		Example: `  mem corpus import --from claude-code session.jsonl --out corpora/session.jsonl
  mem corpus stats corpora/session.jsonl
  mem corpus label corpora/session.jsonl --query port --text "Which port?" --answer 6380
  mem corpus check experiments/*.yaml`,
	})
	cmd.AddCommand(corpusImport(), corpusSynth(), corpusStats(), corpusShow(), corpusLabel(), corpusCheck())
	return cmd
}

// looked is which corpora a command looks at, and how they are read.
type looked struct {
	from, labels string
	tokenizer    string
	chunkTokens  int
}

// flags are those by which a file is read; a spec says it all itself.
func (l *looked) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&l.from, "from", "jsonl", "`FORMAT` of files, one of "+strings.Join(corpus.Formats(), ", "))
	cmd.Flags().StringVar(&l.labels, "labels", "", "labels `FILE`; without it, the one beside the corpus if there is one")
	completeWords(cmd, "from", corpus.Formats()...)
}

// packing are the flags by which a file is packed into chunks.
func (l *looked) packing(cmd *cobra.Command) {
	cmd.Flags().StringVar(&l.tokenizer, "tokenizer", "o200k_base", "what counts tokens: a vocabulary's `NAME`, or a tokenizer.json")
	cmd.Flags().IntVar(&l.chunkTokens, "chunk-tokens", 4800, "how full chunks are packed, in tokens `N`")
	completeWords(cmd, "tokenizer", token.Names()...)
}

// corpora are those that arguments name: files, and all of specs.
func (l *looked) corpora(args []string) ([]corpus.Config, error) {
	var list []corpus.Config
	for _, arg := range args {
		files, err := expand(arg)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			of, err := l.of(file)
			if err != nil {
				return nil, err
			}
			list = append(list, of...)
		}
	}
	return list, nil
}

func (l *looked) of(file string) ([]corpus.Config, error) {
	if isSpec(file) {
		s, err := spec.Load(file)
		if err != nil {
			return nil, err
		}
		prompts, err := builder(s.Tokenizer, prompt.Budget(s.Budget.Value))
		return with(prompts, harness.Corpora(s)), err
	}
	cfg := corpus.Config{
		ID: fileName(file), Path: file, Format: l.from, Labels: l.beside(file),
		Pack: corpus.Pack{Tokens: l.chunkTokens},
	}
	if l.tokenizer == "" {
		return []corpus.Config{cfg}, nil
	}
	t, err := tokenizerFlag(l.tokenizer)
	if err != nil {
		return nil, err
	}
	prompts, err := builder(t, prompt.Budget{})
	return with(prompts, []corpus.Config{cfg}), err
}

func isSpec(file string) bool {
	return slices.Contains([]string{".yaml", ".yml"}, strings.ToLower(filepath.Ext(file)))
}

func with(prompts *prompt.Builder, list []corpus.Config) []corpus.Config {
	for i := range list {
		list[i].Prompts = prompts
	}
	return list
}

func builder(t spec.Tokenizer, budget prompt.Budget) (*prompt.Builder, error) {
	count, err := counter(t)
	if err != nil {
		return nil, err
	}
	return prompt.New(prompt.Config{Counter: count, Budget: budget})
}

// beside is the labels file of a corpus, "" for none.
func (l *looked) beside(file string) string {
	if l.labels != "" {
		return l.labels
	}
	path := corpus.LabelsPath(file)
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

// fileName names a corpus by its file.
func fileName(path string) string {
	name, _, _ := strings.Cut(strings.TrimLeft(filepath.Base(path), "."), ".")
	if spec.CheckName(name) != nil {
		return "corpus"
	}
	return name
}

func count(n int, noun, nouns string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %s", n, nouns)
}
