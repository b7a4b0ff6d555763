package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/check"
)

// baseline is a folder of committed counts, a file for each experiment. An empty dir is
// none.
type baseline struct {
	dir    string
	update bool // write the counts in place of comparing them
}

func (b *baseline) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&b.dir, "baseline", "", "fail when a count is another than in the folder `DIR`")
	flags.BoolVar(&b.update, "update-baseline", false, "write the counts to the baseline's folder in place of comparing them")
}

// check refuses what cannot be meant; partly: not all runs are asked for.
func (b baseline) check(partly bool) error {
	switch {
	case b.update && partly:
		return errors.New("--update-baseline: want all runs, a baseline counts them all")
	case b.update && b.dir == "":
		return errors.New("--update-baseline: want --baseline DIR too, the folder to write")
	case b.update && os.Getenv("CI") != "":
		return errors.New("a baseline is not updated in CI (CI is set): update it where a person reads the diff, and commit it")
	}
	return nil
}

// judge holds a result against its baseline, or makes it the baseline and says so. partly:
// not all runs were to be done, so that there is nothing to compare.
func (b baseline) judge(w io.Writer, r *harness.Result, partly bool) error {
	if b.dir == "" {
		return nil
	}
	if partly || r.Count(harness.Interrupted) > 0 {
		r.Checks = append(r.Checks, check.Skipped("baseline", r.Experiment, "not all runs were done"))
		return nil
	}
	counts, err := r.Lines()
	if err != nil {
		return err
	}
	file := filepath.Join(b.dir, r.Experiment+".jsonl")
	if b.update {
		return b.write(w, file, counts)
	}
	update := fmt.Sprintf("mem eval %s --baseline %s --update-baseline", r.Spec, filepath.ToSlash(b.dir))
	r.Checks = append(r.Checks, check.Baseline(r.Experiment, file, counts, update))
	return nil
}

// write touches no file that holds the counts already.
func (b baseline) write(w io.Writer, file, counts string) error {
	if old, err := os.ReadFile(file); err == nil && string(old) == counts {
		return nil
	}
	if err := os.MkdirAll(b.dir, 0o777); err != nil {
		return err
	}
	if err := writeFile(file, func(w io.Writer) error { _, err := io.WriteString(w, counts); return err }); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%s: written\n", file)
	return err
}
