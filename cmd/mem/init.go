package main

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/spec"
)

// starter is what `mem init` writes; the schema and the golden prompt are made.
//
//go:embed all:starter
var starter embed.FS

const (
	starterSpec   = "experiments/first.yaml"
	starterSchema = "experiments/schema.json"
	starterGolden = "expected/first-t1.txt"
)

func initCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "init [DIR]",
		Short: "Write a small experiment to begin with",
		Long: `init writes a small experiment that passes, with all that it names: a session, a gate
script, a golden prompt with its ledger, and the schema that editors read. It goes into DIR,
here if none is named. A file that is there already is never written over.`,
		Example: `  mem init
  mem init gates && cd gates && mem eval experiments/first.yaml`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "."
			if len(args) == 1 {
				dir = filepath.Clean(args[0])
			}
			return initialize(cmd.Context(), cmd.OutOrStdout(), dir)
		},
	}
}

// initialize writes nothing unless nothing is in the way.
func initialize(ctx context.Context, w io.Writer, dir string) error {
	files, err := starterFiles()
	if err != nil {
		return err
	}
	for _, name := range append([]string{starterGolden, "expected/" + check.LedgerFile}, names(files)...) {
		path := filepath.Join(dir, name)
		if _, absent := os.Lstat(path); absent == nil {
			err = errors.Join(err, fmt.Errorf("%s is there already, want a folder without it: nothing is written over", path))
		}
	}
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := create(filepath.Join(dir, f.name), f.data); err != nil {
			return &exit{exitIncomplete, err}
		}
	}
	if err := updateGoldens(ctx, io.Discard, []string{filepath.Join(dir, starterSpec)}, "The first version."); err != nil {
		return err
	}
	return next(w, dir, append(names(files), starterGolden, "expected/"+check.LedgerFile))
}

// starterFile is a file to write, its name relative to the folder.
type starterFile struct {
	name string
	data []byte
}

func starterFiles() ([]starterFile, error) {
	schema, err := spec.Schema()
	if err != nil {
		return nil, err
	}
	files := []starterFile{{starterSchema, schema}}
	root, err := fs.Sub(starter, "starter")
	if err != nil {
		return nil, err
	}
	err = fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(root, path)
		files = append(files, starterFile{path, data})
		return err
	})
	return files, err
}

func names(files []starterFile) []string {
	return of(files, func(f starterFile) string { return f.name })
}

// create writes a file that is not there yet, with its folders.
func create(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// next says what was written and what to do with it.
func next(w io.Writer, dir string, files []string) error {
	var text bytes.Buffer
	for _, name := range files {
		fmt.Fprintln(&text, "wrote", filepath.Join(dir, name))
	}
	fmt.Fprintln(&text, "\nNext:")
	if dir != "." {
		fmt.Fprintf(&text, "  cd %s\n", dir)
	}
	fmt.Fprintf(&text, `  mem eval %[1]s       run it: all checks pass
  mem prompt --spec %[1]s --project session --query redis-port --chunk 1
Then put your session into experiments/corpora, your question and its label into
%[1]s, and write the golden prompt anew, with the reason:
  mem golden update %[1]s --reason "my own session"
`, starterSpec)
	_, err := text.WriteTo(w)
	return err
}
