package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/harness"
)

func reportCommand() *cobra.Command {
	var explain string
	cmd := &cobra.Command{
		Use:   "report DIR",
		Short: "Show an evaluation again, or what is behind one of its numbers",
		Long: `report reads what mem eval left in a folder, shows it, and writes its reports again. It
judges nothing: the exit code is 0 whatever the verdict was.

With --explain it shows a metric's formula, and its counts by query as the logs have them.`,
		Example: `  mem report reports/m1.8
  mem report reports/m1.8 --explain exit_safe`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := harness.Load(args[0])
			if err != nil {
				return err
			}
			show := terminal(cmd.OutOrStdout(), false)
			if explain == "" {
				if err := saveReports(args[0], r); err != nil {
					return &exit{exitIncomplete, err}
				}
				return show.Result(cmd.OutOrStdout(), r)
			}
			e, err := explained(args[0], r, explain)
			if err != nil {
				return err
			}
			return show.Explanation(cmd.OutOrStdout(), e)
		},
	}
	cmd.Flags().StringVar(&explain, "explain", "", "show what is behind `METRIC`")
	return cmd
}

// explained traces a metric. An error names the flag if the metric is at fault.
func explained(dir string, r *harness.Result, metric string) (harness.Explanation, error) {
	runs, err := harness.ReadRuns(dir, r, metric == repliesOnly)
	if err != nil {
		return harness.Explanation{}, err
	}
	e, err := harness.Explain(r, runs, metric)
	if err != nil {
		err = fmt.Errorf("--explain: %w", err)
	}
	return e, err
}

// repliesOnly is the one metric for which the logs do not do: it is about candidates that
// were ignored.
const repliesOnly = "retain_drift"
