package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/golden"
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
invisible characters made visible. It says which files were edited by hand, for their
newest entry in the ledger is about other bytes, and which are stale: golden files that no
given spec claims any more. Exit code 1 when there is one of these, or a file is missing.`,
		Example: `  mem golden diff experiments/*.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			goldens, used, err := goldensOf(cmd.Context(), args)
			if err != nil {
				return err
			}
			stale, err := golden.Stale(used, goldens)
			if err != nil {
				return &exit{exitIncomplete, err}
			}
			if !golden.Diff(cmd.OutOrStdout(), goldens, stale) {
				return exitWith(exitFailed)
			}
			return nil
		},
	}
}

// goldensOf are the goldens of specs, and the files that the specs name for anything. Having no
// golden is a mistake: nothing would be compared.
func goldensOf(ctx context.Context, args []string) (goldens []check.Golden, used []string, err error) {
	all, err := prepare(ctx, harness.Config{}, args)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range all {
		goldens, used = append(goldens, e.Goldens()...), append(used, e.Spec.Files()...)
	}
	if len(goldens) == 0 {
		return nil, nil, errors.New("no spec has a golden: want one with golden: [{file: …, query: …, corpus: …, turn: …}]")
	}
	return goldens, used, nil
}

func goldenUpdateCommand() *cobra.Command {
	var why string
	cmd := &cobra.Command{
		Use:   "update SPEC… --reason TEXT",
		Short: "Write the golden prompts that differ, with the reason",
		Long: `update writes the golden prompts that differ to their files, shows the diffs, and records
each with its reason in the LEDGER.jsonl beside the file. A file that was edited by hand to
what it should be is recorded only. It refuses to run in CI: a contract is changed by a
person.`,
		Example: `  mem golden update experiments/gated-loop.yaml --reason "chunks show a fifth role"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if os.Getenv("CI") != "" {
				return errors.New("golden prompts are not updated in CI (CI is set): update them where a person reads the diff, and commit them")
			}
			if strings.TrimSpace(why) == "" {
				return errors.New("--reason: found none, want why the prompts change, for the ledger")
			}
			return updateGoldens(cmd.Context(), cmd.OutOrStdout(), args, strings.TrimSpace(why))
		},
	}
	cmd.Flags().StringVar(&why, "reason", "", "why the prompts change, a `TEXT` for the ledger")
	return cmd
}

// updateGoldens writes nothing unless everything can be written.
func updateGoldens(ctx context.Context, w io.Writer, args []string, why string) error {
	goldens, _, err := goldensOf(ctx, args)
	if err != nil {
		return err
	}
	if err := golden.Refused(goldens); err != nil {
		return &exit{exitFailed, err}
	}
	changes, err := golden.Changes(goldens)
	if err != nil {
		return err
	}
	written, err := golden.Update(w, changes, time.Now().UTC().Format(time.DateOnly), why)
	if err != nil {
		return &exit{exitIncomplete, err}
	}
	_, err = fmt.Fprintf(w, "%d of %d golden prompts written\n", written, len(goldens))
	return err
}

func goldenLogCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "log [FOLDER…]",
		Short:   "Show the ledger of golden prompts",
		Long:    `log prints the ledgers of folders of golden files, expected if none is named, as tables.`,
		Example: `  mem golden log`,
		RunE: func(cmd *cobra.Command, folders []string) error {
			if len(folders) == 0 {
				folders = []string{"expected"}
			}
			for _, folder := range folders {
				entries, err := check.ReadLedger(filepath.Join(folder, check.LedgerFile))
				if err != nil {
					return err
				}
				if err := golden.ShowLedger(cmd.OutOrStdout(), entries); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
