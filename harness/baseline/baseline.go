// Package baseline compares the counts of experiments with committed ones.
package baseline

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/poimen-memory/mem/harness/atomicfile"
	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/internal/inputfile"
	"github.com/poimen-memory/mem/internal/printable"
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
	r.Checks = append(r.Checks, compare(r.Experiment, file, counts, update))
	return nil
}

// Changes that the sentence of a failed check says; its diff has all.
const mostSaid = 3

// compare holds an experiment's counts against those of a committed file: any other count is a
// change that a person must accept. update is the command that makes the file agree.
func compare(experiment, file, counts, update string) check.Result {
	failed := func(format string, args ...any) check.Result {
		return check.Result{Check: "baseline", Subject: experiment, Status: check.Fail, Detail: fmt.Sprintf(format, args...)}
	}
	want, err := inputfile.Read(file, inputfile.MaxSummary)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return failed("%s is missing; to make it: %s", file, update)
	case err != nil:
		return check.Unreadable("baseline", experiment, err)
	case string(want) == counts:
		return check.Result{Check: "baseline", Subject: experiment, Status: check.Pass, Detail: "every count is that of " + file}
	}
	list, err := changes(string(want), counts)
	switch {
	case err != nil:
		return failed("%s: %v; to make it anew: %s", file, err, update)
	case list == nil:
		return failed("no count differs from %s, but its fields do: another version of mem wrote it, or it was edited; to make it anew: %s", file, update)
	}
	said := strings.Join(list[:min(len(list), mostSaid)], "; ")
	if more := len(list) - mostSaid; more > 0 {
		said += fmt.Sprintf("; and %d more", more)
	}
	differ := map[bool]string{true: " differs", false: " differ"}[len(list) == 1]
	r := failed("%s%s from %s: %s; if that is meant: %s", diag.Count(len(list), "count"), differ, file, said, update)
	if len(list) > mostSaid {
		r.Diff = strings.Join(list, "\n") + "\n"
	}
	return r
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
	_, err := printable.Fprintf(w, "%s: written\n", file)
	return err
}
