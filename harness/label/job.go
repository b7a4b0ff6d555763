package label

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"

	"github.com/poimen-memory/mem/harness/atomicfile"
	"github.com/poimen-memory/mem/harness/corpus"
)

// Job proposes labels for queries over one corpus file, and writes them to a labels file.
type Job struct {
	Corpus  corpus.Config
	Labels  string         // file; its queries are searched for too
	Queries []corpus.Query // more of them
	ID      string         // of the query that is searched for although it has labels; "": none
	Pattern *regexp.Regexp // searched for in place of the answers of query ID; nil: none
	Most    int            // labels proposed for a query
	Accept  bool           // write what was found as evidence
}

// Run returns the queries that were searched for, and what was found of each.
func (j Job) Run(ctx context.Context) ([]Sought, []Proposed, error) {
	list, err := corpus.ReadLabels(j.Labels)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	for _, q := range j.Queries {
		list = Merge(list, q)
	}
	sought, err := Select(list, j.ID, j.Pattern)
	if err != nil {
		return nil, nil, err
	}
	found, err := Propose(ctx, j.Corpus, sought, j.Most)
	if err != nil {
		return nil, nil, err
	}
	Apply(list, sought, found, j.Accept)
	heading := fmt.Sprintf("Labels of %s.", filepath.Base(j.Corpus.Path))
	if !j.Accept {
		heading += " Move what is right from proposed to evidence, and delete the rest."
	}
	return sought, found, atomicfile.Write(j.Labels, func(w io.Writer) error { return corpus.WriteLabels(w, heading, list) })
}
