package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/lint"
	"github.com/poimen-memory/mem/harness/render/corpora"
	"github.com/poimen-memory/mem/harness/sessions"
	"github.com/poimen-memory/mem/harness/spec"
)

func corpusCheck() *cobra.Command {
	var c sessions.Config
	var redacted string
	var force bool
	cmd := &cobra.Command{
		Use:   "check FILE|SPEC…",
		Short: "Find what is wrong with sessions and labels",
		Long: `check reads the sessions of files, or all of a spec, and reports: labels that hit nothing or
too much, what looks like a key (exit code 1); and queries without evidence, records that
come twice, the prompt's own tags, text in a wrong character set, and what an import passed
over (exit code 0). A key is never shown. With --redact the file is written anew with
[redacted] in place of keys.`,
		Example: `  mem corpus check experiments/*.yaml
  mem corpus check session.jsonl --redact clean.jsonl`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := loads(cmd.Context(), c).Corpora(args)
			if err != nil {
				return err
			}
			if redacted != "" && (len(list) != 1 || spec.IsSpec(args[0])) {
				return errors.New("--redact: want one file of a session")
			}
			if err := free("--redact", force, redacted); err != nil {
				return err
			}
			return checkCorpora(cmd.Context(), showCorpora(cmd), list, redacted)
		},
	}
	sessionFlags(cmd, &c)
	cmd.Flags().StringVar(&redacted, "redact", "", "write the corpus without keys to `FILE`")
	cmd.Flags().BoolVar(&force, "force", false, "write over a file that is there")
	return cmd
}

func checkCorpora(ctx context.Context, out corpora.Out, list []corpus.Config, redacted string) error {
	var findings lint.Summary
	if err := lint.Check(ctx, list, findings.Add); err != nil {
		return err
	}
	if redacted != "" {
		n, err := lint.RedactFile(ctx, list[0], redacted)
		if err != nil {
			return err
		}
		if err := out.Redacted(redacted, n); err != nil {
			return err
		}
	}
	if err := out.Findings(findings); err != nil {
		return err
	}
	if findings.Unfit(redacted != "") {
		return exitWith(exitFailed)
	}
	return nil
}
