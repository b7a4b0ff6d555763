package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/cmd/mem/internal/arguments"
	"github.com/poimen-memory/mem/cmd/mem/internal/topic"
	"github.com/poimen-memory/mem/cmd/mem/merge"
	"github.com/poimen-memory/mem/cmd/mem/repair"
	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/tty"
)

func rootCommand() *cobra.Command {
	root := group(&cobra.Command{
		Use:   "mem",
		Short: "Evaluate a gated memory loop: are its gates good enough to build on?",
		Long: `mem runs experiments over a gated recurrent memory loop (GRU-Mem, arXiv 2602.10560)
and judges them: prompts byte for byte, budgets, logs, and what the gates decided.

Exit codes: 0 all passed; 1 judged and failed, or NO-GO; 2 bad usage or a bad spec, or
nothing to judge; 3 not judged, for a run is incomplete; 4 undecided; 130 interrupted.`,
		Example: `  mem eval experiments/*.yaml
  mem prompt --spec experiments/first.yaml --project staging --query redis-port --chunk 1
  mem verify reports
  mem golden diff experiments/*.yaml`,
		Version:       ownVersion(),
		SilenceErrors: true, // run says them, once
		SilenceUsage:  true,
	})
	colour := tty.Auto
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return diag.FlagError(err, cmd.Flags().FlagUsages()) })
	root.PersistentFlags().Var(&colour, "color", "colours: auto (on a terminal), always or never")
	root.AddCommand(completes(evalCommand()), judgeCommand(), completes(pingCommand()), reportCommand(), compareCommand(), planCommand(), showCommand(), promptCommand(), budgetCommand(), verifyCommand(), repair.Command(), merge.Command(), goldenCommand(), schemaCommand(), initCommand(), corpusCommand())
	topic.Add(root)
	arguments.Explain(root)
	return root
}

// group makes a command that is nothing without one of its subcommands. Cobra alone would
// show the help and succeed, whatever was mistyped.
func group(cmd *cobra.Command) *cobra.Command {
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var known []string
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() {
				known = append(known, sub.Name())
			}
		}
		if len(args) == 0 {
			return fmt.Errorf("no command: want one of %s, see %s --help", strings.Join(known, ", "), cmd.CommandPath())
		}
		return fmt.Errorf("command of %s: %s", cmd.CommandPath(), diag.OneOf(args[0], known))
	}
	return cmd
}
