package dataset

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/poimen-memory/mem/harness/atomicfile"
	"github.com/poimen-memory/mem/harness/corpus"
)

// ImportFile is Import into a file, with the queries of the data set in the labels file beside
// it.
func ImportFile(ctx context.Context, cfg ImportConfig, path string) (*Imported, error) {
	var imported *Imported
	err := atomicfile.Write(path, func(w io.Writer) (err error) {
		b := bufio.NewWriterSize(w, 1<<20)
		if imported, err = Import(ctx, cfg, b); err != nil {
			return err
		}
		return b.Flush()
	})
	if err != nil || imported.Queries == nil {
		return imported, err
	}
	var list []corpus.Labelled
	for _, q := range imported.Queries {
		list = append(list, corpus.Labelled{Query: q})
	}
	heading := fmt.Sprintf("Queries of %s, imported from %s.", filepath.Base(path), imported.Format)
	return imported, atomicfile.Write(corpus.LabelsPath(path), func(w io.Writer) error { return corpus.WriteLabels(w, heading, list) })
}
