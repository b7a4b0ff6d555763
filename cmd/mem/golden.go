package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/check"
)

func goldenCommand() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "golden",
		Short: "Compare the golden prompts with the specs, or change them deliberately",
		Long: `A golden is a committed file that holds a prompt's exact bytes. The prompt is a contract
with the model: any other byte is a change to it, and changes are made deliberately.`,
		Example: `  mem golden diff experiments/*.yaml
  mem golden update experiments/gated-loop.yaml --reason "chunks show a fifth role"
  mem golden log`,
	})
	cmd.AddCommand(completes(goldenDiffCommand()), completes(goldenUpdateCommand()), goldenLogCommand())
	return cmd
}

func goldenDiffCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "diff SPEC…",
		Short: "Show where golden prompts differ from their files",
		Long: `diff prints a unified diff of every golden prompt that is not what its file holds, with
invisible characters made visible. Exit code 1 when there is one, or a file is missing.`,
		Example: `  mem golden diff experiments/*.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			goldens, err := goldens(cmd.Context(), args)
			if err != nil {
				return err
			}
			return diffGoldens(cmd.OutOrStdout(), goldens)
		},
	}
}

// goldens are those of all specs. Having none is a mistake: nothing would be compared.
func goldens(ctx context.Context, args []string) ([]check.Golden, error) {
	all, err := prepare(ctx, harness.Config{}, args)
	if err != nil {
		return nil, err
	}
	var list []check.Golden
	for _, e := range all {
		list = append(list, e.Goldens()...)
	}
	if len(list) == 0 {
		return nil, errors.New("no spec has a golden: want one with golden: [{file: …, query: …, corpus: …, turn: …}]")
	}
	return list, nil
}

func diffGoldens(w io.Writer, goldens []check.Golden) error {
	agree := 0
	for _, g := range goldens {
		r := g.Check()
		if r.Status == check.Pass {
			agree++
			continue
		}
		fmt.Fprintf(w, "%s: %s\n%s", g.File, r.Detail, r.Diff)
	}
	fmt.Fprintf(w, "%d of %d golden prompts agree with their files\n", agree, len(goldens))
	if agree < len(goldens) {
		return exitWith(exitFailed)
	}
	return nil
}
