// Package repair is the command mem repair.
package repair

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/models"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/render"
	"github.com/poimen-memory/mem/internal/printable"
	"github.com/poimen-memory/mem/loop/eventlog"
)

// Command makes the command.
func Command() *cobra.Command {
	var file string
	var noLock bool
	cmd := &cobra.Command{
		Use:   "repair RUN…",
		Short: "Cut corrupt records back to their last good line",
		Long: `repair verifies the records of runs, as mem verify does, and cuts the corrupt ones back to
their last good line. What it cuts stays beside the record, as calls.jsonl.cut-N and
events.jsonl.cut-N. The record is interrupted then: mem eval executes the run again, and
mem eval --live --resume asks for what is missing. Other records are left as they are.

Exit codes: 0 no record is corrupt any more; 2 there is no record, or one cannot be read;
3 a record cannot be written, or its folder is in use.`,
		Example: `  mem repair reports/m1.8/runs/agent/port/L1/gate-3b/record
  mem repair reports`,
		RunE: func(cmd *cobra.Command, args []string) error {
			count, err := models.LogCounters(file)
			if err != nil {
				return err
			}
			return repair(cmd.OutOrStdout(), args, count, noLock)
		},
	}
	cmd.Flags().StringVar(&file, "tokenizer", "", "a tokenizer.json `FILE` that logs were counted with")
	cmd.Flags().BoolVar(&noLock, "no-lock", false, "write where folders cannot be locked: nothing else may write there")
	return cmd
}

func repair(w io.Writer, args []string, count eventlog.CountTokens, noLock bool) error {
	records, err := record.Find(args)
	if err == nil && len(records) == 0 {
		err = errors.New("no record: want folders of runs, or folders with runs below them")
	}
	if err != nil {
		return err
	}
	for _, r := range records {
		if r.Log != "" {
			return fmt.Errorf("%s is no file of a record: want the folder of a run", r.Log)
		}
		if err := repairOne(w, r.Dir, count, noLock); err != nil {
			return &diag.Incomplete{Err: err}
		}
	}
	return nil
}

func repairOne(w io.Writer, dir string, count eventlog.CountTokens, noLock bool) (err error) {
	if !noLock {
		unlock, err := record.Lock(record.FolderOf(dir), "mem repair")
		if err != nil {
			return err
		}
		defer unlock()
	}
	cuts, err := record.Repair(dir, count)
	if err != nil {
		return err
	}
	for _, c := range cuts {
		printable.Fprintf(w, "cut          after byte %d of %s: the rest is in %s\n", c.Kept, c.Path, c.Rest)
	}
	v, err := record.Verify(dir, count)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, render.Verdict(v))
	return err
}
