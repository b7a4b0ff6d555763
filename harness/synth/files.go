package synth

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/poimen-memory/mem/harness/atomicfile"
	"github.com/poimen-memory/mem/harness/corpus"
)

// Path is where one of so many samples is written: out, or out with the sample's name.
func (s Sample) Path(out string, of int) string {
	if of == 1 {
		return out
	}
	return strings.TrimSuffix(out, ".jsonl") + "-" + s.Name + ".jsonl"
}

// WriteFile writes the session to a file, and its query to the labels file beside it.
func (s Sample) WriteFile(ctx context.Context, path string) (*corpus.Written, error) {
	var written *corpus.Written
	err := atomicfile.Write(path, func(w io.Writer) (err error) {
		written, err = s.Write(ctx, w)
		return err
	})
	if err != nil {
		return nil, err
	}
	heading := fmt.Sprintf("The question of %s and its evidence, as mem corpus synth made them.", filepath.Base(path))
	return written, atomicfile.Write(corpus.LabelsPath(path), func(w io.Writer) error {
		return corpus.WriteLabels(w, heading, []corpus.Labelled{{Query: written.Queries[0]}})
	})
}
