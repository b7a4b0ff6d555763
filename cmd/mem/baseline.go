package main

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/harness/baseline"
)

func baselineFlags(cmd *cobra.Command, b *baseline.Folder) {
	flags := cmd.Flags()
	flags.StringVar(&b.Dir, "baseline", "", "fail when a count is another than in the folder `DIR`")
	flags.BoolVar(&b.Update, "update-baseline", false, "write the counts to the baseline's folder in place of comparing them")
}

// checkBaseline refuses what cannot be meant; partly: not all runs are asked for.
func checkBaseline(b baseline.Folder, partly bool) error {
	switch {
	case b.Update && partly:
		return errors.New("--update-baseline: want all runs, a baseline counts them all")
	case b.Update && b.Dir == "":
		return errors.New("--update-baseline: want --baseline DIR too, the folder to write")
	case b.Update && os.Getenv("CI") != "":
		return errors.New("a baseline is not updated in CI (CI is set): update it where a person reads the diff, and commit it")
	}
	return nil
}
