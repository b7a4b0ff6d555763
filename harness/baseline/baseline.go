// Package baseline compares the counts of experiments with committed ones.
package baseline

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/poimen-memory/mem/harness/atomicfile"
	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/internal/inputfile"
)

// Folder holds committed counts, a file for each experiment. The zero value has none.
type Folder struct {
	Dir    string
	Update bool // write the counts in place of comparing them
}

// Judge adds to a result the check of its counts, or makes them the baseline and says so. partly:
// not all runs were to be done, so that there is nothing to compare.
func (b Folder) Judge(w io.Writer, r *result.Result, partly bool) error {
	if b.Dir == "" {
		return nil
	}
	if partly || r.Count(record.Interrupted) > 0 {
		r.Checks = append(r.Checks, check.Skipped("baseline", r.Experiment, "not all runs were done"))
		return nil
	}
	counts, err := r.Lines()
	if err != nil {
		return err
	}
	file := filepath.Join(b.Dir, r.Experiment+".jsonl")
	if b.Update {
		return b.write(w, file, counts)
	}
	update := fmt.Sprintf("mem eval %s --baseline %s --update-baseline", r.Spec, filepath.ToSlash(b.Dir))
	r.Checks = append(r.Checks, check.Baseline(r.Experiment, file, counts, update))
	return nil
}

// write touches no file that holds the counts already.
func (b Folder) write(w io.Writer, file, counts string) error {
	if old, err := inputfile.Read(file, inputfile.MaxSummary); err == nil && string(old) == counts {
		return nil
	}
	if err := os.MkdirAll(b.Dir, 0o777); err != nil {
		return err
	}
	if err := atomicfile.Write(file, func(w io.Writer) error { _, err := io.WriteString(w, counts); return err }); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%s: written\n", file)
	return err
}
