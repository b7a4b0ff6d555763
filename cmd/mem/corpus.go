package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/harness/dataset"
	"github.com/poimen-memory/mem/harness/render/corpora"
	"github.com/poimen-memory/mem/harness/sessions"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/prompt/token"
)

func corpusCommand() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "corpus",
		Short: "Import sessions, look at them, label and check them",
		Long: `corpus makes sessions and their labels fit for use. Files may be compressed with gzip or
zstd. Labels of FILE.jsonl stand beside it in FILE.labels.yaml, and a spec names both:

  corpora:
    - {id: staging, path: staging.jsonl, labels: staging.labels.yaml}`,
		Example: `  mem corpus import --from claude-code session.jsonl --out corpora/session.jsonl
  mem corpus stats corpora/session.jsonl
  mem corpus label corpora/session.jsonl --query port --text "Which port?" --answer 6380
  mem corpus check experiments/*.yaml`,
	})
	cmd.AddCommand(corpusImport(), corpusSynth(), corpusStats(), corpusShow(), corpusLabel(), corpusCheck())
	return cmd
}

// sessionFlags are those by which corpus files are read.
func sessionFlags(cmd *cobra.Command, c *sessions.Config) {
	cmd.Flags().StringVar(&c.Format, "from", "jsonl", "`FORMAT` of files, one of "+strings.Join(dataset.Formats(), ", "))
	cmd.Flags().StringVar(&c.Labels, "labels", "", "labels `FILE`; without it, the one beside the corpus if there is one")
	completeWords(cmd, "from", dataset.Formats()...)
}

// packingFlags are those by which corpus files are packed into chunks.
func packingFlags(cmd *cobra.Command, c *sessions.Config) {
	cmd.Flags().StringVar(&c.Tokenizer, "tokenizer", "o200k_base", "what counts tokens: a vocabulary's `NAME`, or a tokenizer.json")
	cmd.Flags().IntVar(&c.ChunkTokens, "chunk-tokens", spec.ChunkTokens, "how full chunks are packed, in tokens `N`")
	completeWords(cmd, "tokenizer", token.Names()...)
}

// loads has specs loaded as for all that is shown.
func loads(ctx context.Context, c sessions.Config) sessions.Config {
	c.LoadSpec = func(path string) (*spec.Spec, error) { return loadSpec(ctx, path) }
	return c
}

// showCorpora shows on what a command writes to.
func showCorpora(cmd *cobra.Command) corpora.Out {
	return corpora.Out{Writer: cmd.OutOrStdout(), Terminal: terminal(cmd)}
}

// free refuses to write over files that a flag names, unless forced: labels may hold a person's
// work.
func free(flag string, force bool, paths ...string) (err error) {
	for _, path := range paths {
		if _, absent := os.Lstat(path); absent == nil && !force {
			err = errors.Join(err, fmt.Errorf("%s is there already: want another %s, or --force to write over it", path, flag))
		}
	}
	return err
}
