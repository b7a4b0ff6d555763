package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/harness/models"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/render"
	"github.com/poimen-memory/mem/loop/eventlog"
)

func verifyCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "verify RECORD…",
		Short: "Recompute records and say whether they are complete, interrupted or corrupt",
		Long: `verify recomputes all that can be recomputed in the records of runs: each event log from
itself, each call journal by the digests that chain its lines, and the log from the replies
in the journal. It says of each record whether it is complete, interrupted (mem eval goes on
from it), or corrupt, and where. A folder stands for all records below it. A log without a
journal beside it is verified alone. The tokens of a log whose vocabulary is a file are
counted again where --tokenizer names that file, and are not verified otherwise.

The digests find accidents and edits. They are no signatures.

Exit codes: 0 all are complete; 1 one is corrupt; 3 none is, but one is interrupted; 2 there
is no record, or one cannot be read.`,
		Example: `  mem verify reports
  mem verify reports/first/runs/staging/redis-port/L1/oracle/record/events.jsonl`,
		RunE: func(cmd *cobra.Command, args []string) error {
			count, err := models.LogCounters(file)
			if err != nil {
				return err
			}
			return verify(cmd.OutOrStdout(), args, count)
		},
	}
	cmd.Flags().StringVar(&file, "tokenizer", "", "a tokenizer.json `FILE` that logs were counted with")
	return cmd
}

// verify judges every record before it says that one could not be read.
func verify(w io.Writer, args []string, count eventlog.CountTokens) error {
	records, err := record.Find(args)
	found := map[eventlog.State]bool{}
	for _, r := range records {
		v, unread := r.Verify(count)
		if unread == nil {
			found[v.State] = true
			_, unread = fmt.Fprintln(w, render.Verdict(v))
		}
		err = errors.Join(err, unread)
	}
	switch {
	case err != nil:
		return err
	case len(records) == 0:
		return errors.New("no log: want folders of runs, event logs, or folders with runs below them, as in mem verify reports")
	case found[eventlog.Corrupt]:
		return exitWith(exitFailed)
	case found[eventlog.Interrupted]:
		return exitWith(exitIncomplete)
	}
	return nil
}
