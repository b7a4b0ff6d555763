package golden

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/poimen-memory/mem/harness/atomicfile"
	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/internal/digest"
	"github.com/poimen-memory/mem/internal/inputfile"
	"github.com/poimen-memory/mem/internal/printable"
)

// Update writes the files that do not hold their goldens, shows the diffs, and records each
// change with its date and reason in the ledger beside the file. It counts the files written.
func Update(w io.Writer, changes []Change, date, reason string) (written int, err error) {
	for _, c := range changes {
		if err := c.make(date, reason); err != nil {
			return written, err
		}
		if c.agrees() {
			printable.Fprintf(w, "%s: recorded, its bytes were right\n", c.File)
			continue
		}
		written++
		io.WriteString(w, printable.Text(c.Diff(c.old)))
		printable.Fprintf(w, "%s: written\n", c.File)
	}
	return written, nil
}

// Change is a golden whose file does not hold its prompt, or holds it and its ledger does
// not say so.
type Change struct {
	check.Golden
	target   string // the file, where File is a symbolic link to it
	old      string
	fresh    bool // there is no file yet
	recorded bool // the prompt is the ledger's newest
}

// agrees holds when the file needs no writing.
func (c Change) agrees() bool { return !c.fresh && c.old == c.Prompt }

// Changes lists what is to be written. Its error is a diag.Errors with all that
// stands in the way. All goldens have prompts: see Refused.
func Changes(goldens []check.Golden) ([]Change, error) {
	var changes []Change
	var errs diag.Errors
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

func complaint(g check.Golden, format string, args ...any) *diag.Error {
	return &diag.Error{Pos: g.Pos, Msg: fmt.Sprintf(format, args...)}
}

// Refused says which goldens have no prompt, because it is over the budget.
func Refused(goldens []check.Golden) error {
	var errs diag.Errors
	for _, g := range goldens {
		if g.Err != nil {
			errs = append(errs, complaint(g, "golden: %s has no prompt: %v", g.File, g.Err))
		}
	}
	return errs.Err()
}

func changeOf(g check.Golden) (Change, error) {
	target, err := inFolder(g.File)
	if err != nil {
		return Change{}, err
	}
	newest, err := g.Newest()
	if err != nil {
		return Change{}, err
	}
	c := Change{Golden: g, target: target, recorded: newest != nil && newest.New == digest.Of(g.Prompt)}
	old, err := inputfile.Read(target, inputfile.MaxGolden)
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
		return "", fmt.Errorf("%s is a symbolic link that leads nowhere: %v", path, diag.Reason(err))
	}
	inside, err := filepath.Rel(folder, to)
	if err != nil || !filepath.IsLocal(inside) {
		return "", fmt.Errorf("%s is a symbolic link out of its folder, to %s", path, to)
	}
	return filepath.Join(filepath.Dir(path), inside), nil
}

// make puts the change into the ledger between writing the file's bytes and giving them
// their name: if that last step fails, the ledger shows that the file is not what it
// should be, and another update corrects it.
func (c Change) make(date, why string) error {
	if c.agrees() {
		return c.record(date, why)
	}
	if err := os.MkdirAll(filepath.Dir(c.target), 0o777); err != nil {
		return err
	}
	staged, err := atomicfile.Stage(c.target, func(w io.Writer) error {
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
	return atomicfile.Commit(staged, c.target)
}

func (c Change) record(date, why string) error {
	entry := check.LedgerEntry{Date: date, File: filepath.Base(c.File), New: digest.Of(c.Prompt), Reason: why}
	if !c.fresh {
		sha := digest.Of(c.old)
		entry.Old = &sha
	}
	return appendLedger(c.LedgerPath(), entry)
}
