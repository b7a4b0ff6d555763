package render

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/poimen-memory/mem/harness/atomicfile"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/render/page"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/internal/printable"
)

// WriteFile writes a file that people read.
type WriteFile func(path string, fill func(io.Writer) error) error

// Save writes a result and its reports into its folder.
func Save(write WriteFile, folder record.Folder, r *result.Result) error {
	switch err := atomicfile.Sweep(folder.Dir); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: no such folder: run mem eval %s, or name the folder of its records by --out", folder.Dir, r.Spec)
	case err != nil:
		return err
	}
	return errors.Join(
		write(folder.Path(record.Summary), func(w io.Writer) error { return JSON(w, r) }),
		SaveReports(write, folder, r),
	)
}

// SaveReports writes what can be written again from a result that was saved.
func SaveReports(write WriteFile, folder record.Folder, r *result.Result) error {
	return errors.Join(
		write(folder.Path(record.Markdown), func(w io.Writer) error { return Markdown(w, r) }),
		write(folder.Path(record.Page), func(w io.Writer) error { return page.Write(w, r, result.TurnsIn(folder)) }),
		write(folder.Path(record.JUnit), func(w io.Writer) error { return JUnit(w, []*result.Result{r}) }),
	)
}

// SaveUnlocked is SaveReports unless an evaluation uses the folder, or nothing can be written
// there: then notes says that the reports stay as they are.
func SaveUnlocked(notes io.Writer, write WriteFile, folder record.Folder, r *result.Result) error {
	unlock, err := record.Lock(folder, "mem report")
	_, held := errors.AsType[*record.Held](err)
	_, unlockable := errors.AsType[*record.Unlockable](err)
	switch {
	case err == nil:
		defer unlock()
	case held, errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		_, err := printable.Fprintf(notes, "mem: the reports are left as they are: %v\n", err)
		return err
	case !unlockable:
		return err
	}
	return SaveReports(write, folder, r)
}

// Files are files over all experiments of an evaluation. An empty name is none.
type Files struct{ JUnit, JSON, Markdown string }

// ToStdout reports whether a file is standard output.
func (f Files) ToStdout() bool { return slices.Contains([]string{f.JUnit, f.JSON, f.Markdown}, "-") }

// Check refuses that two of them are standard output.
func (f Files) Check() error {
	var names []string
	for _, file := range []struct{ flag, path string }{{"--junit", f.JUnit}, {"--json", f.JSON}, {"--markdown", f.Markdown}} {
		if file.path == "-" {
			names = append(names, file.flag)
		}
	}
	if len(names) > 1 {
		return fmt.Errorf("%s: found - for each, want standard output for one of them and files for the others", strings.Join(names, ", "))
	}
	return nil
}

// MakeFolders makes the files' folders, so that what cannot be written is known before anything
// runs.
func (f Files) MakeFolders() error {
	for _, path := range []string{f.JUnit, f.JSON, f.Markdown} {
		if path == "" || path == "-" {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
	}
	return nil
}

// Save writes the files; - is standard output.
func (f Files) Save(stdout io.Writer, write WriteFile, rs []*result.Result) error {
	var errs []error
	for _, file := range []struct {
		path string
		fill func(io.Writer) error
	}{
		{f.JUnit, func(w io.Writer) error { return JUnit(w, rs) }},
		{f.JSON, func(w io.Writer) error { return AllJSON(w, rs) }},
		{f.Markdown, func(w io.Writer) error { return Markdown(w, rs...) }},
	} {
		switch file.path {
		case "":
		case "-":
			errs = append(errs, file.fill(stdout))
		default:
			errs = append(errs, write(file.path, file.fill))
		}
	}
	return errors.Join(errs...)
}
