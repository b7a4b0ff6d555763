package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/sessions"
	"github.com/poimen-memory/mem/prompt/token"
)

func corpusStats() *cobra.Command {
	var c sessions.Config
	var also []string
	cmd := &cobra.Command{
		Use:   "stats FILE|SPEC…",
		Short: "Show what sessions consist of, and where their evidence stands",
		Long: `stats shows the sessions of files, or all of a spec: records by role, how full chunks are, and
how deep in the sessions the evidence of their queries stands.`,
		Example: `  mem corpus stats corpora/session.jsonl --tokens cl100k_base
  mem corpus stats experiments/hotpotqa.yaml
  mem corpus stats --from locomo locomo10.json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := loads(cmd.Context(), c).Load(cmd.Context(), args)
			if err != nil {
				return err
			}
			vocabularies, err := sessions.Count(list, also)
			if err != nil {
				return err
			}
			return showCorpora(cmd).Statistics(corpus.Describe(list), vocabularies)
		},
	}
	sessionFlags(cmd, &c)
	packingFlags(cmd, &c)
	cmd.Flags().StringSliceVar(&also, "tokens", nil, "count all chunks with these vocabularies too, `NAME,…`")
	completeWords(cmd, "tokens", token.Names()...)
	return cmd
}

func corpusShow() *cobra.Command {
	var c sessions.Config
	var n int
	var session string
	cmd := &cobra.Command{
		Use:   "show FILE|SPEC --chunk N",
		Short: "Show a chunk as it is rendered, and the evidence in it",
		Long: `show prints one chunk as a model sees it, with the evidence that labels find in it. What a
terminal would interpret is written out; for the exact bytes see mem prompt.`,
		Example: `  mem corpus show corpora/session.jsonl --chunk 3
  mem corpus show experiments/hotpotqa.yaml --session hotpotqa/07 --chunk 1`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := loads(cmd.Context(), c).Load(cmd.Context(), args)
			if err != nil {
				return err
			}
			s, err := sessions.Pick(list, session)
			if err != nil {
				return err
			}
			if n < 1 || n > s.Len() {
				return fmt.Errorf("--chunk: found %d, want 1 to %d", n, s.Len())
			}
			return showCorpora(cmd).Chunk(s, n)
		},
	}
	sessionFlags(cmd, &c)
	packingFlags(cmd, &c)
	cmd.Flags().IntVar(&n, "chunk", 0, "which: `N` from 1")
	cmd.Flags().StringVar(&session, "session", "", "of which session, by `NAME`, where there are several")
	cmd.MarkFlagRequired("chunk")
	return cmd
}
