package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/harness/spec/yamlpos"
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
		Version:       version(),
		SilenceErrors: true, // run says them, once
		SilenceUsage:  true,
	})
	root.AddCommand(completes(evalCommand()), completes(pingCommand()), reportCommand(), compareCommand(), planCommand(), promptCommand(), budgetCommand(), verifyCommand(), goldenCommand(), schemaCommand(), initCommand(), corpusCommand())
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
		return fmt.Errorf("command of %s: %s", cmd.CommandPath(), yamlpos.OneOf(args[0], known))
	}
	return cmd
}

// release is the version that the linker stamps into a binary of make dist; "" in others.
var release string

// version is what the build knows of itself.
func version() string {
	if release != "" {
		return release + ", built with " + runtime.Version()
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown, built with " + runtime.Version()
	}
	v := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			v += ", revision " + s.Value
		}
	}
	return v + ", built with " + info.GoVersion
}
