package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/spec/yamlpos"
	"github.com/poimen-memory/mem/prompt"
)

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
	all, err := prepare(ctx, harness.Config{}, args)
	if err != nil {
		return err
	}
	goldens, err := goldens(all)
	if err != nil {
		return err
	}
	changes, err := changesOf(goldens)
	if err != nil {
		return err
	}
	today := time.Now().UTC().Format(time.DateOnly)
	written := 0
	for _, c := range changes {
		if err := c.make(today, why); err != nil {
			return &exit{exitIncomplete, err}
		}
		if c.agrees() {
			fmt.Fprintf(w, "%s: recorded, its bytes were right\n", c.File)
			continue
		}
		written++
		fmt.Fprintf(w, "%s%s: written\n", c.Diff(c.old), c.File)
	}
	fmt.Fprintf(w, "%d of %d golden prompts written\n", written, len(goldens))
	return nil
}

// change is a golden whose file does not hold its prompt, or holds it and its ledger does
// not say so.
type change struct {
	check.Golden
	target   string // the file, where File is a symbolic link to it
	old      string
	fresh    bool // there is no file yet
	recorded bool // the prompt is the ledger's newest
}

// agrees holds when the file needs no writing.
func (c change) agrees() bool { return !c.fresh && c.old == c.Prompt }

// changesOf lists what is to be written. Its error is a yamlpos.Errors with all that
// stands in the way.
func changesOf(goldens []check.Golden) ([]change, error) {
	if err := refused(goldens); err != nil {
		return nil, &exit{exitFailed, err}
	}
	var changes []change
	var errs yamlpos.Errors
	claims := map[string]check.Golden{}
	for _, g := range goldens {
		c, err := changeOf(g)
		if err != nil {
			errs = append(errs, complaint(g, "golden: %v", err))
			continue
		}
		other, claimed := claims[c.target]
		if claims[c.target] = g; claimed && other.Prompt != g.Prompt {
			errs = append(errs, complaint(g, "golden: %s is also the golden at %s, with another prompt: want a file each", g.File, other.Pos))
		}
		if !claimed && !(c.agrees() && c.recorded) {
			changes = append(changes, c)
		}
	}
	return changes, errs.Err()
}

func complaint(g check.Golden, format string, args ...any) *yamlpos.Error {
	return &yamlpos.Error{Pos: g.Pos, Msg: fmt.Sprintf(format, args...)}
}

// refused says which goldens have no prompt, for the budget refused it.
func refused(goldens []check.Golden) error {
	var errs yamlpos.Errors
	for _, g := range goldens {
		if g.Err != nil {
			errs = append(errs, complaint(g, "golden: %s has no prompt: %v", g.File, g.Err))
		}
	}
	return errs.Err()
}

func changeOf(g check.Golden) (change, error) {
	target, err := inFolder(g.File)
	if err != nil {
		return change{}, err
	}
	newest, err := g.Newest()
	if err != nil {
		return change{}, err
	}
	c := change{Golden: g, target: target, recorded: newest != nil && newest.New == prompt.SHA(g.Prompt)}
	old, err := os.ReadFile(target)
	c.old, c.fresh = string(old), errors.Is(err, fs.ErrNotExist)
	if c.fresh {
		return c, nil
	}
	return c, err
}

// inFolder is the regular file that a path names, or would name. A link is followed
// within its folder alone: a spec shall not write anywhere else by one.
func inFolder(path string) (string, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return filepath.Clean(path), nil
	}
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if path, err = follow(path); err == nil {
			info, err = os.Lstat(path)
		}
	}
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is no regular file (%s), want a file or nothing there", path, info.Mode())
	}
	return filepath.Clean(path), nil
}

func follow(path string) (string, error) {
	folder, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return "", err
	}
	to, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", fmt.Errorf("%s is a symbolic link that leads nowhere: %v", path, reason(err))
	}
	inside, err := filepath.Rel(folder, to)
	if err != nil || !filepath.IsLocal(inside) {
		return "", fmt.Errorf("%s is a symbolic link out of its folder, to %s", path, to)
	}
	return filepath.Join(filepath.Dir(path), inside), nil
}

// make puts the change into the ledger between writing the file's bytes and giving them
// their name: if that last step fails, the ledger shows that the file is not what it
// should be, and another update mends it.
func (c change) make(date, why string) error {
	if c.agrees() {
		return c.record(date, why)
	}
	if err := os.MkdirAll(filepath.Dir(c.target), 0o777); err != nil {
		return err
	}
	staged, err := stage(c.target, func(w io.Writer) error {
		_, err := io.WriteString(w, c.Prompt)
		return err
	})
	if err != nil {
		return err
	}
	if err := c.record(date, why); err != nil {
		os.Remove(staged)
		return err
	}
	return commit(staged, c.target)
}

func (c change) record(date, why string) error {
	entry := check.LedgerEntry{Date: date, File: filepath.Base(c.File), New: prompt.SHA(c.Prompt), Reason: why}
	if !c.fresh {
		sha := prompt.SHA(c.old)
		entry.Old = &sha
	}
	return appendLedger(c.LedgerPath(), entry)
}
