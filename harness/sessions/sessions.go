// Package sessions finds the sessions that arguments of commands name: corpus files, read as
// flags say, and all corpora of specs.
package sessions

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/dataset"
	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/models"
	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/render/corpora"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/prompt"
)

// Config says how corpus files are read and packed; a spec says it itself.
type Config struct {
	Format      string // of files, one of dataset.Formats
	Labels      string // file; "": the one beside the corpus, if there is one
	Tokenizer   string // see models.Tokenizer; "": files are not packed
	ChunkTokens int    // how full chunks are packed

	LoadSpec func(path string) (*spec.Spec, error) // nil: spec.Load
}

// Corpora lists the corpora that arguments name.
func (c Config) Corpora(args []string) ([]corpus.Config, error) {
	files, err := spec.Expand(args)
	if err != nil {
		return nil, err
	}
	var list []corpus.Config
	for _, file := range files {
		read := c.file
		if spec.IsSpec(file) {
			read = c.spec
		}
		corpora, err := read(file)
		if err != nil {
			return nil, err
		}
		list = append(list, corpora...)
	}
	return list, nil
}

// Load reads the sessions that arguments name.
func (c Config) Load(ctx context.Context, args []string) (all []*corpus.Session, err error) {
	corpora, err := c.Corpora(args)
	if err != nil {
		return nil, err
	}
	for _, cfg := range corpora {
		sessions, err := corpus.Load(ctx, cfg)
		if err != nil {
			return nil, err
		}
		all = append(all, sessions...)
	}
	return all, nil
}

func (c Config) spec(file string) ([]corpus.Config, error) {
	load := c.LoadSpec
	if load == nil {
		load = spec.Load
	}
	s, err := load(file)
	if err != nil {
		return nil, err
	}
	count, err := models.Counter(s.Tokenizer)
	if err != nil {
		return nil, err
	}
	return packed(prompt.Config{Counter: count, Budget: prompt.Budget(s.Budget.Value)}, plan.Corpora(s))
}

func (c Config) file(file string) ([]corpus.Config, error) {
	list := []corpus.Config{{
		ID: Name(file), Path: file, Reader: dataset.Reader{Format: c.Format}, Labels: c.labels(file),
		Pack: corpus.Pack{Tokens: c.ChunkTokens},
	}}
	if c.Tokenizer == "" {
		return list, nil
	}
	count, err := models.FlagCounter(c.Tokenizer)
	if err != nil {
		return nil, err
	}
	return packed(prompt.Config{Counter: count}, list)
}

func packed(cfg prompt.Config, list []corpus.Config) ([]corpus.Config, error) {
	prompts, err := prompt.New(cfg)
	if err != nil {
		return nil, err
	}
	for i := range list {
		list[i].Prompts = prompts
	}
	return list, nil
}

// labels is the labels file of a corpus, "" for none.
func (c Config) labels(file string) string {
	if c.Labels != "" {
		return c.Labels
	}
	path := corpus.LabelsPath(file)
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

// Name names a corpus by its file.
func Name(path string) string {
	name, _, _ := strings.Cut(strings.TrimLeft(filepath.Base(path), "."), ".")
	if spec.CheckName(name) != nil {
		return "corpus"
	}
	return name
}

// Pick returns the session of a name; "" names the only one.
func Pick(sessions []*corpus.Session, name string) (*corpus.Session, error) {
	var names []string
	for _, s := range sessions {
		if s.Name() == name || name == "" && len(sessions) == 1 {
			return s, nil
		}
		names = append(names, s.Name())
	}
	return nil, fmt.Errorf("--session: found %q, want one of %s", name, diag.Examples(names))
}

// Count counts the tokens of all sessions in other vocabularies.
func Count(list []*corpus.Session, vocabularies []string) (counts []corpora.Vocabulary, err error) {
	for _, name := range vocabularies {
		count, err := models.FlagCounter(name)
		if err != nil {
			return nil, err
		}
		sum := 0
		for _, s := range list {
			n, err := s.CountTokens(count)
			if err != nil {
				return nil, err
			}
			sum += n
		}
		counts = append(counts, corpora.Vocabulary{Name: name, Tokens: sum})
	}
	return counts, nil
}
