package main

import (
	"context"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/harness/starter"
)

func initCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "init [DIR]",
		Short: "Write a small experiment to begin with",
		Long: `init writes a small experiment that passes, with all that it names: a session, a gate
script, a golden prompt with its ledger, and the schema that editors read. It goes into DIR,
here if none is named. A file that is there already is never written over.`,
		Example: `  mem init
  mem init gates && cd gates && mem eval experiments/first.yaml`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "."
			if len(args) == 1 {
				dir = filepath.Clean(args[0])
			}
			return initialize(cmd.Context(), cmd.OutOrStdout(), dir)
		},
	}
}

// initialize writes nothing unless nothing is in the way.
func initialize(ctx context.Context, w io.Writer, dir string) error {
	if err := starter.Free(dir); err != nil {
		return err
	}
	names, err := starter.Write(dir)
	if err != nil {
		return &exit{exitIncomplete, err}
	}
	if err := updateGoldens(ctx, io.Discard, []string{filepath.Join(dir, starter.Spec)}, "The first version."); err != nil {
		return err
	}
	return starter.Next(w, dir, append(names, starter.Made[:]...))
}
