// Package golden compares golden prompts with their files, updates the files deliberately, and
// shows the ledgers that record each update. A golden is a committed file that holds the exact
// bytes of a prompt; harness/check judges one.
package golden

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/internal/printable"
)

// Diff writes a unified diff of each golden that its file does not hold, which files were
// edited by hand, and the stale ones. It reports whether there was none of these.
func Diff(w io.Writer, goldens []check.Golden, stale []string) (agree bool) {
	same, wrong := 0, len(stale)
	for _, g := range goldens {
		r := g.Check()
		if r.Status == check.Pass {
			same++
		}
		for _, r := range []check.Result{r, g.Recorded()} {
			if r.Status == check.Fail {
				wrong++
				printable.Fprintf(w, "%s: %s\n", g.File, r.Detail)
				io.WriteString(w, printable.Text(r.Diff))
			}
		}
	}
	for _, file := range stale {
		printable.Fprintf(w, "%s: stale: no given spec claims it; remove the file, or name the spec that has it as a golden\n", file)
	}
	fmt.Fprintf(w, "%d of %d golden prompts agree with their files\n", same, len(goldens))
	return wrong == 0
}

// Stale lists the golden files that no spec claims: in a folder with claimed ones, files that
// its ledger lists or that have the extension of a claimed one. Files in used, those that the
// specs name for anything, are not stale.
func Stale(used []string, goldens []check.Golden) ([]string, error) {
	named := map[string]bool{}
	for _, file := range used {
		named[filepath.Clean(file)] = true
	}
	for _, g := range goldens {
		if target, err := inFolder(g.File); err == nil {
			named[target] = true // which may be another file, by a link
		}
	}
	var list []string
	seen := map[string]bool{}
	for _, g := range goldens {
		folder := filepath.Dir(g.File)
		if seen[folder] {
			continue
		}
		seen[folder] = true
		files, err := filesIn(folder, goldens)
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

// filesIn lists the files in a folder that are goldens, claimed or not.
func filesIn(folder string, claimed []check.Golden) ([]string, error) {
	ledger, err := check.ReadLedger(filepath.Join(folder, check.LedgerFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	listed, extensions := map[string]bool{}, map[string]bool{}
	for _, e := range ledger {
		listed[e.File] = true
	}
	for _, g := range claimed {
		if filepath.Dir(g.File) == folder {
			extensions[filepath.Ext(g.File)] = true
		}
	}
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // all of its goldens are missing, which is said of each
	}
	var files []string
	for _, e := range entries {
		name := e.Name()
		similar := extensions[filepath.Ext(name)] && !strings.HasPrefix(name, ".") && name != check.LedgerFile
		if !e.IsDir() && (listed[name] || similar) {
			files = append(files, filepath.Join(folder, name))
		}
	}
	return files, err
}
