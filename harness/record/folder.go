package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/poimen-memory/mem/harness/atomicfile"
	"github.com/poimen-memory/mem/loop/journal"
)

// The files of an experiment's folder.
const (
	Summary  = "summary.json"
	Markdown = "report.md"
	Page     = "report.html"
	JUnit    = "junit.xml"
	Timing   = "timing.json"
)

// The files of a run's folder.
const (
	Events = "events.jsonl"
	Calls  = "calls.jsonl"
)

// Folder is an experiment's folder of records and reports.
type Folder struct{ Dir string }

// Path is that of one of the folder's own files.
func (f Folder) Path(name string) string { return filepath.Join(f.Dir, name) }

// RunDir is the folder of a run.
func (f Folder) RunDir(run string) string {
	return filepath.Join(f.Dir, "runs", filepath.FromSlash(run))
}

// CallsPath is that of a run's journal.
func (f Folder) CallsPath(run string) string { return filepath.Join(f.RunDir(run), Calls) }

// EventsPath is that of a run's event log.
func (f Folder) EventsPath(run string) string { return filepath.Join(f.RunDir(run), Events) }

// LiveModels are the ids of the live models that the folder has records of, sorted.
func (f Folder) LiveModels() (models []string, err error) {
	if _, err := os.Stat(f.RunDir("")); err != nil {
		return nil, err
	}
	if err := Confine(f); err != nil {
		return nil, err
	}
	paths, err := findFiles(f.RunDir(""), Calls)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		h, err := journal.ReadHeader(path)
		if id, ok := h.Model["id"].(string); err == nil && ok && h.Live() && !slices.Contains(models, id) {
			models = append(models, id)
		}
	}
	slices.Sort(models)
	return models, nil
}

// Prepare makes the folder ready for an evaluation by the process that has locked it: staged
// files of a killed process and records of runs that are not in known are removed. It is an
// error if that would remove live records; Guard tells beforehand, and Aside moves them away.
func (f Folder) Prepare(known []string) error {
	if err := writable(f.Dir, 0); err != nil {
		return err
	}
	if err := atomicfile.Sweep(f.Dir); err != nil {
		return err
	}
	return f.prune(known)
}

// PrepareShared makes the folder ready for a shard. It removes nothing: others may write there.
func (f Folder) PrepareShared() error { return writable(f.Dir, 0) }

// Guard refuses to overwrite or to drop live records: those of selected, unless resume says to
// go on from them, and those of runs that the spec does not have.
func (f Folder) Guard(known, selected []string, resume bool) error {
	logs, err := findFiles(f.RunDir(""), Calls)
	if err != nil {
		return err
	}
	knownDirs, selectedDirs := f.dirs(known), f.dirs(selected)
	for _, path := range logs {
		switch dir := filepath.Dir(path); {
		case !knownDirs[dir] && holdsLive(path):
			return fmt.Errorf("%s holds live results of a run that the spec does not have: move it away, or begin anew with --live --fresh, which keeps them beside", dir)
		case selectedDirs[dir] && !resume && holdsLive(path):
			return fmt.Errorf("%s holds live results, which are never overwritten: go on with --live --resume, begin anew with --live --fresh, or write elsewhere with --out", f.Dir)
		}
	}
	return nil
}

// Recorded are the names of the runs that the folder has anything of, sorted.
func (f Folder) Recorded() (runs []string, err error) {
	paths, err := findFiles(f.RunDir(""), Calls, Events)
	for _, path := range paths {
		run, wrong := filepath.Rel(f.RunDir(""), filepath.Dir(path))
		if wrong != nil {
			return nil, wrong
		}
		runs = append(runs, filepath.ToSlash(run))
	}
	slices.Sort(runs)
	return slices.Compact(runs), err
}

// HoldsLive reports whether a run's record may hold what was paid for.
func (f Folder) HoldsLive(run string) bool { return holdsLive(f.CallsPath(run)) }

// holdsLive takes a whole header that cannot be read for a live model's.
func holdsLive(calls string) bool {
	h, err := journal.ReadHeader(calls)
	_, corrupt := errors.AsType[*journal.Corrupt](err)
	return h.Live() || corrupt && h.Schema == 0
}

// Make makes the folder.
func (f Folder) Make() error { return os.MkdirAll(f.Dir, 0o777) }

// spare is how much must be free, in bytes, before a call is paid for: a long line of a journal.
const spare = 64 << 10

// writable finds out whether a folder can be written to and has space, in bytes.
func writable(dir string, space int) error {
	f, err := os.CreateTemp(dir, ".writable-*"+atomicfile.Unfinished)
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, space))
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}

// prune removes records of runs that the spec does not have: a reader would take them for
// its own.
func (f Folder) prune(known []string) error {
	dirs := f.dirs(known)
	logs, err := findFiles(f.RunDir(""), Calls, Events)
	if err != nil {
		return err
	}
	for _, log := range logs {
		dir := filepath.Dir(log)
		if dirs[dir] {
			continue
		}
		if holdsLive(filepath.Join(dir, Calls)) {
			return fmt.Errorf("%s holds live results of a run that the spec does not have", dir)
		}
		if err := f.removeRun(dir); err != nil {
			return err
		}
	}
	return nil
}

// removeRun removes a run's own files, and its folders as far as they are empty then, up to the
// one of all records.
func (f Folder) removeRun(dir string) error {
	for _, name := range []string{Events, Calls} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for ; dir != f.RunDir("") && os.Remove(dir) == nil; dir = filepath.Dir(dir) {
	}
	return nil
}

func (f Folder) dirs(runs []string) map[string]bool {
	dirs := map[string]bool{}
	for _, run := range runs {
		dirs[f.RunDir(run)] = true
	}
	return dirs
}

// findFiles are the files of the names below dir.
func findFiles(dir string, names ...string) (paths []string, err error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, nil // a folder that cannot be read cannot be written either, which is reported then
	}
	err = walkBelow(dir, func(path string, d os.DirEntry, err error) error {
		for _, name := range names {
			if err == nil && d.Name() == name {
				paths = append(paths, path)
			}
		}
		return err
	})
	return paths, err
}
