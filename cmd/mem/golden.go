package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

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
invisible characters made visible. It says which files were edited by hand, for their
newest entry in the ledger is about other bytes, and which are stale: golden files that no
given spec claims any more. Exit code 1 when there is one of these, or a file is missing.`,
		Example: `  mem golden diff experiments/*.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := prepare(cmd.Context(), harness.Config{}, args)
			if err != nil {
				return err
			}
			goldens, err := goldens(all)
			if err != nil {
				return err
			}
			stale, err := stale(all, goldens)
			if err != nil {
				return &exit{exitIncomplete, err}
			}
			return diffGoldens(cmd.OutOrStdout(), goldens, stale)
		},
	}
}

// goldens are those of all experiments. Having none is a mistake: nothing would be compared.
func goldens(all []experiment) ([]check.Golden, error) {
	var list []check.Golden
	for _, e := range all {
		list = append(list, e.Goldens()...)
	}
	if len(list) == 0 {
		return nil, errors.New("no spec has a golden: want one with golden: [{file: …, query: …, corpus: …, turn: …}]")
	}
	return list, nil
}

func diffGoldens(w io.Writer, goldens []check.Golden, stale []string) error {
	agree, wrong := 0, len(stale)
	for _, g := range goldens {
		r := g.Check()
		if r.Status == check.Pass {
			agree++
		}
		for _, r := range []check.Result{r, g.Recorded()} {
			if r.Status == check.Fail {
				wrong++
				fmt.Fprintf(w, "%s: %s\n%s", g.File, r.Detail, r.Diff)
			}
		}
	}
	for _, file := range stale {
		fmt.Fprintf(w, "%s: stale: no given spec claims it; remove the file, or name the spec that has it as a golden\n", file)
	}
	fmt.Fprintf(w, "%d of %d golden prompts agree with their files\n", agree, len(goldens))
	if wrong > 0 {
		return exitWith(exitFailed)
	}
	return nil
}

// stale lists the golden files that no experiment claims: in a folder with claimed ones,
// files that its ledger tells of or that are of the same kind, by their extension, and
// that the specs name as nothing else.
func stale(all []experiment, goldens []check.Golden) ([]string, error) {
	named := map[string]bool{}
	for _, e := range all {
		for _, file := range e.Spec.Files() {
			named[filepath.Clean(file)] = true
		}
	}
	var list []string
	seen := map[string]bool{}
	for _, g := range goldens {
		if target, err := inFolder(g.File); err == nil {
			named[target] = true // which may be another file, by a link
		}
	}
	for _, g := range goldens {
		folder := filepath.Dir(g.File)
		if seen[folder] {
			continue
		}
		seen[folder] = true
		files, err := goldenFiles(folder, goldens)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			if !named[file] {
				list = append(list, file)
			}
		}
	}
	return list, nil
}

// goldenFiles are the files in a folder that are goldens, claimed or not.
func goldenFiles(folder string, claimed []check.Golden) ([]string, error) {
	ledger, err := check.ReadLedger(filepath.Join(folder, check.LedgerFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	told, kinds := map[string]bool{}, map[string]bool{}
	for _, e := range ledger {
		told[e.File] = true
	}
	for _, g := range claimed {
		if filepath.Dir(g.File) == folder {
			kinds[filepath.Ext(g.File)] = true
		}
	}
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // all of its goldens are missing, which is said of each
	}
	var files []string
	for _, e := range entries {
		name := e.Name()
		kin := kinds[filepath.Ext(name)] && !strings.HasPrefix(name, ".") && name != check.LedgerFile
		if !e.IsDir() && (told[name] || kin) {
			files = append(files, filepath.Join(folder, name))
		}
	}
	return files, err
}
