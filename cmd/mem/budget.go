package main

import (
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/harness/forecast"
	"github.com/poimen-memory/mem/harness/preview"
	"github.com/poimen-memory/mem/harness/render"
	"github.com/poimen-memory/mem/harness/spec"
)

func budgetCommand() *cobra.Command {
	var f preview.File // how a CORPUS is read
	cmd := completes(&cobra.Command{
		Use:   "budget SPEC|CORPUS…",
		Short: "Show what prompts will take in tokens, and which packing fills the window",
		Long: `budget shows for each corpus what the parts of its prompts take and may take, how many tokens
are left with a full memory and the longest question, how large the chunks are, and what other
packings come to. Nothing is run. A CORPUS is a JSONL file; without questions it is shown with
one that takes its whole limit.

Exit codes: 0 all fits; 1 something is over its budget; 2 bad usage, spec or corpus.`,
		Example: `  mem budget experiments/agent-session.yaml
  mem budget session.jsonl --tokenizer qwen2.5 --chunk-tokens 2400`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return showBudgets(cmd, f, args)
		},
	})
	cmd.Flags().StringVar(&f.Tokenizer, "tokenizer", "o200k_base", "what counts tokens of a CORPUS: a vocabulary's `NAME`, or a tokenizer.json")
	cmd.Flags().IntVar(&f.ChunkTokens, "chunk-tokens", spec.ChunkTokens, "how full chunks of a CORPUS are packed, in tokens `N`")
	return cmd
}

func showBudgets(cmd *cobra.Command, f preview.File, args []string) error {
	if len(args) == 0 {
		return errors.New("no spec and no corpus: want some, as in mem budget experiments/first.yaml")
	}
	files, err := spec.Expand(args)
	if err != nil {
		return err
	}
	var list []forecast.Forecast
	for _, file := range files {
		forecasts, err := f.Forecast(cmd.Context(), file, func(path string) (*spec.Spec, error) { return loadSpec(cmd.Context(), path) })
		if err != nil {
			return err
		}
		list = append(list, forecasts...)
	}
	if err := render.Budget(cmd.OutOrStdout(), terminal(cmd), list); err != nil {
		return err
	}
	if slices.ContainsFunc(list, func(f forecast.Forecast) bool { return f.Verdict.Failed() }) {
		return exitWith(exitFailed)
	}
	return nil
}
