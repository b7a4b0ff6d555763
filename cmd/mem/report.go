package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/explain"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/render"
	"github.com/poimen-memory/mem/harness/result"
)

func reportCommand() *cobra.Command {
	var explain string
	var shown showing
	cmd := &cobra.Command{
		Use:   "report DIR",
		Short: "Show an evaluation again, or what is behind one of its numbers",
		Long: `report reads what mem eval left in a folder, shows it, and writes its reports again. It
judges nothing: the exit code is 0 whatever the verdict was. In a folder that is read-only, or
in use by an evaluation, it writes nothing.

With --explain it shows a metric's formula, its counts by query as the logs have them, and the
turns that count against it, with the command that shows each; with -v all that count.`,
		Example: `  mem report reports/m1.8
  mem report reports/m1.8 --explain exit_useful`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			folder := record.Folder{Dir: args[0]}
			r, err := result.Load(folder)
			if err != nil {
				return err
			}
			loadSpec(cmd.Context(), filepath.FromSlash(r.Spec)) // for its keys; a report may be far from its spec
			if err := harness.CheckTags(shown.by, r.Tags()); err != nil {
				return err
			}
			show := shown.terminal(cmd)
			show.Folder = args[0]
			if explain == "" {
				if err := render.SaveUnlocked(cmd.ErrOrStderr(), shownFiles(cmd.Context()), folder, r); err != nil {
					return &exit{exitIncomplete, err}
				}
				return show.Result(cmd.OutOrStdout(), r)
			}
			e, err := explained(folder, r, explain)
			if err != nil {
				return err
			}
			return render.Explanation(cmd.OutOrStdout(), show, e)
		},
	}
	shown.flagsWithoutQuiet(cmd)
	cmd.Flags().StringVar(&explain, "explain", "", "show what is behind `METRIC`")
	return cmd
}

// explained traces a metric. An error names the flag if the metric is at fault.
func explained(folder record.Folder, r *result.Result, metric string) (explain.Explanation, error) {
	runs, err := result.ReadRuns(folder, r)
	if err != nil {
		return explain.Explanation{}, err
	}
	e, err := explain.Metric(r, runs, metric)
	if err != nil {
		err = fmt.Errorf("--explain: %w", err)
	}
	return e, err
}
