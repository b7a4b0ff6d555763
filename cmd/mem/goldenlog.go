package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/harness/check"
)

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
				if err := showLedger(cmd.OutOrStdout(), entries); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func showLedger(w io.Writer, entries []check.LedgerEntry) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "DATE\tFILE\tOLD\tNEW\tREASON")
	for _, e := range entries {
		old := "-"
		if e.Old != nil {
			old = short(*e.Old)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", oneLine(e.Date), oneLine(e.File), oneLine(old), oneLine(short(e.New)), oneLine(e.Reason))
	}
	return t.Flush()
}

// short is as much of a digest as a person compares.
func short(sha string) string { return sha[:min(len(sha), 12)] }

// oneLine keeps a table a table, and a terminal from obeying what was written into a file.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, strings.Join(strings.Fields(s), " "))
}
