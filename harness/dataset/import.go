package dataset

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/prompt"
)

// ImportConfig says what to import.
type ImportConfig struct {
	Format  string // one of Formats; "": it is recognised
	Paths   []string
	Samples []string       // names; none: all
	Strict  bool           // what is not imported is an error
	Counter prompt.Counter // counts Written.Tokens
}

// Imported describes what was imported.
type Imported struct {
	*corpus.Written
	Format  string
	Samples []string // that the files hold, those left out too; none in a format without
}

// Import reads files of a format one after another and writes all records as one JSONL
// corpus, as they come: only ids and labels stay in memory. Ids are SAMPLE/ID when there
// are several samples, FILE/ID when there are several files. The error is a
// diag.Errors, of up to 20 errors a file, if content is refused.
func Import(ctx context.Context, cfg ImportConfig, out io.Writer) (*Imported, error) {
	var err error
	if cfg.Format == "" {
		cfg.Format, err = recogniseAll(cfg.Paths)
	} else if formats()[cfg.Format] == nil {
		err = fmt.Errorf("format: %s", diag.OneOf(cfg.Format, Formats()))
	}
	if err != nil {
		return nil, err
	}
	im := importing{ImportConfig: cfg}
	sources, err := im.sources(ctx)
	if err != nil {
		return nil, err
	}
	written, err := corpus.Write(ctx, corpus.Join(sources), strings.Join(cfg.Paths, ", "), cfg.Counter, out)
	if err != nil {
		return nil, err
	}
	if cfg.Strict {
		err = notImported(written)
	}
	return &Imported{Written: written, Format: cfg.Format, Samples: im.samples}, err
}

// notImported is an error for each kind of entry that is not imported, and for each label that
// points to what does not exist.
func notImported(w *corpus.Written) error {
	var list diag.List
	for _, s := range w.Skipped {
		list.Add(diag.Errors{{Pos: s.First, Msg: "not imported: " + s.String()}})
	}
	list.Add(w.Warnings)
	return list.Err()
}

// importing is an import while it runs.
type importing struct {
	ImportConfig
	samples []string // that the files hold
}

// sources are the sessions that are wanted, under the names that their ids get.
func (im *importing) sources(ctx context.Context) ([]corpus.Source, error) {
	var sources []corpus.Source
	queries := map[string]string{}
	for _, path := range im.Paths {
		of, err := formats()[im.Format](ctx, corpus.Config{ID: filepath.Base(path), Path: path})
		if err != nil {
			return nil, err
		}
		for _, s := range of {
			if s.Name != "" {
				im.samples = append(im.samples, s.Name)
			}
			if len(im.Samples) > 0 && !slices.Contains(im.Samples, s.Name) {
				continue
			}
			if err := claimQueries(queries, path, s.Queries); err != nil {
				return nil, err
			}
			if len(im.Paths) > 1 {
				s.Name = strings.TrimSuffix(fileName(path)+"/"+s.Name, "/")
			}
			sources = append(sources, s)
		}
	}
	if err := im.checkSamples(); err != nil {
		return nil, err
	}
	if len(sources) == 1 && len(im.Paths) == 1 {
		sources[0].Name = ""
	}
	return sources, nil
}

func claimQueries(seen map[string]string, path string, own []corpus.SourceQuery) error {
	for _, q := range own {
		if other, ok := seen[q.ID]; ok && other != path {
			return fmt.Errorf("query %q is in both %s and %s: import them one at a time", q.ID, other, path)
		}
		seen[q.ID] = path
	}
	return nil
}

// fileName is a file's name without its extensions.
func fileName(path string) string {
	name, _, _ := strings.Cut(strings.TrimLeft(filepath.Base(path), "."), ".")
	return name
}

// checkSamples refuses a name that no sample has.
func (im *importing) checkSamples() error {
	for _, want := range im.Samples {
		if !slices.Contains(im.samples, want) {
			return fmt.Errorf("sample: %s", diag.OneOf(want, im.samples))
		}
	}
	return nil
}
