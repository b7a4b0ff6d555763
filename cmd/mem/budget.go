package main

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/render"
	"github.com/poimen-memory/mem/harness/spec"
)

// budgetAsked is what `mem budget` was asked for. The flags are about sessions in files.
type budgetAsked struct {
	tokenizer   string
	chunkTokens int
}

func budgetCommand() *cobra.Command {
	var b budgetAsked
	cmd := completes(&cobra.Command{
		Use:   "budget SPEC|CORPUS…",
		Short: "Show what prompts will take in tokens, and which packing fills the window",
		Long: `budget shows for each corpus what the parts of its prompts take and may take, the room that
is left with a full memory and the longest question, how large the chunks are, and what other
packings come to. Nothing is run. A CORPUS is a JSONL file; without questions it is shown with
one that takes its whole limit.

Exit codes: 0 all fits; 1 something is over its budget; 2 bad usage, spec or corpus.`,
		Example: `  mem budget experiments/agent-session.yaml
  mem budget session.jsonl --tokenizer qwen2.5 --chunk-tokens 2400`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return b.show(cmd.Context(), cmd.OutOrStdout(), terminal(cmd.OutOrStdout(), false), args)
		},
	})
	cmd.Flags().StringVar(&b.tokenizer, "tokenizer", "o200k_base", "what counts tokens of a CORPUS: a vocabulary's `NAME`, or a tokenizer.json")
	cmd.Flags().IntVar(&b.chunkTokens, "chunk-tokens", 4800, "how full chunks of a CORPUS are packed, in tokens `N`")
	return cmd
}

func (b budgetAsked) show(ctx context.Context, w io.Writer, show render.Terminal, args []string) error {
	if len(args) == 0 {
		return errors.New("no spec and no corpus: want some, as in mem budget experiments/first.yaml")
	}
	var list []harness.Forecast
	for _, arg := range args {
		files, err := expand(arg)
		if err != nil {
			return err
		}
		for _, file := range files {
			f, err := b.forecast(ctx, file)
			if err != nil {
				return err
			}
			list = append(list, f...)
		}
	}
	if err := show.Budget(w, list); err != nil {
		return err
	}
	if slices.ContainsFunc(list, func(f harness.Forecast) bool { return f.Verdict.Failed() }) {
		return exitWith(exitFailed)
	}
	return nil
}

func (b budgetAsked) forecast(ctx context.Context, file string) ([]harness.Forecast, error) {
	s, err := b.specified(file)
	if err != nil {
		return nil, err
	}
	e, err := harness.Prepare(ctx, harness.Config{Counter: counter}, s)
	if err != nil {
		return nil, err
	}
	return e.Forecast(ctx)
}

// specified is a spec of what budgets need and nothing more, as for `mem prompt`.
func (b budgetAsked) specified(file string) (*spec.Spec, error) {
	if ext := filepath.Ext(file); ext == ".yaml" || ext == ".yml" {
		s, err := spec.Load(file)
		if err == nil {
			withoutRuns(s)
		}
		return s, err
	}
	s, err := promptAsked{project: file, tokenizer: b.tokenizer, chunkTokens: b.chunkTokens}.adHoc()
	if err != nil {
		return nil, err
	}
	s.Queries = nil
	s.Checks.Budget.Value.Percentile = 95
	return s, nil
}
