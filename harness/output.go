package harness

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/poimen-memory/mem/loop/journal"
)

// clear makes the output folder ready. Runs that this spec does not have are taken away,
// and with Fresh those that are to be run.
func (e *Experiment) clear() error {
	if err := e.Guard(); err != nil {
		return err
	}
	for _, j := range e.jobs {
		if !e.cfg.Fresh || !j.wanted {
			continue
		}
		if err := e.takeAway(e.runDir(j.Name)); err != nil {
			return err
		}
	}
	if err := writable(e.dir()); err != nil {
		return err
	}
	return e.prune()
}

// Guard refuses to touch an output folder that holds live results, unless Resume or Fresh
// says what is to become of them: what was paid for is not lost by running again, nor by
// a spec that has lost a run.
func (e *Experiment) Guard() error {
	if e.cfg.Fresh {
		return nil
	}
	logs, err := leftFiles(e.runDir(""), callsFile)
	if err != nil {
		return err
	}
	known := e.runDirs()
	for _, path := range logs {
		switch dir := filepath.Dir(path); {
		case e.cfg.Resume && known[dir] || !holdsLive(path):
		case e.cfg.Resume:
			return fmt.Errorf("%s holds live results of a run that the spec does not have: move it away, or begin anew with --live --fresh", dir)
		default:
			return fmt.Errorf("%s holds live results, which are never overwritten: go on with --live --resume, begin anew with --live --fresh, or write elsewhere with --out", e.dir())
		}
	}
	return nil
}

// forget takes away what an earlier run of the name left, unless it was paid for: it would
// be taken for this one's.
func (e *Experiment) forget(j *job) {
	if dir := e.runDir(j.Name); !holdsLive(filepath.Join(dir, callsFile)) {
		e.takeAway(dir) // what cannot be removed is not written either, and the run says why
	}
}

// holdsLive reports whether a journal may hold what was paid for: a whole header that
// cannot be read is taken for a live model's.
func holdsLive(calls string) bool {
	h, err := journal.ReadHeader(calls)
	_, corrupt := errors.AsType[*journal.Corrupt](err)
	return h.Live() || corrupt && h.Schema == 0
}

// writable makes a folder, and finds out before anything is paid for whether it can be
// written to.
func writable(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".writable-*.unfinished")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// prune takes away the runs that an earlier spec of this name left and this one does not
// have: beside new ones they would be taken for its.
func (e *Experiment) prune() error {
	known := e.runDirs()
	logs, err := leftFiles(e.runDir(""), eventsFile)
	if err != nil {
		return err
	}
	for _, log := range logs {
		if dir := filepath.Dir(log); !known[dir] {
			if err := e.takeAway(dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// takeAway removes a run's own two files, and its folders as far as they are empty then:
// what else stands there is somebody's.
func (e *Experiment) takeAway(dir string) error {
	for _, name := range []string{eventsFile, callsFile} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for ; dir != e.dir() && os.Remove(dir) == nil; dir = filepath.Dir(dir) {
	}
	return nil
}

func (e *Experiment) runDirs() map[string]bool {
	dirs := map[string]bool{}
	for _, j := range e.jobs {
		dirs[e.runDir(j.Name)] = true
	}
	return dirs
}

// leftFiles are the files of a name that earlier runs left below dir.
func leftFiles(dir, name string) (paths []string, err error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, nil // what cannot be read cannot be written either, and is said then
	}
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Name() == name {
			paths = append(paths, path)
		}
		return err
	})
	return paths, err
}
