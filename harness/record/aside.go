package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Paid are the run folders whose live records an evaluation that begins anew moves away: those
// of selected, and those of runs that are not in known.
func Paid(f Folder, known, selected []string) (dirs []string, err error) {
	calls, err := findFiles(f.RunDir(""), Calls)
	if err != nil {
		return nil, err
	}
	knownDirs, selectedDirs := f.dirs(known), f.dirs(selected)
	for _, path := range calls {
		dir := filepath.Dir(path)
		if (selectedDirs[dir] || !knownDirs[dir]) && holdsLive(path) {
			dirs = append(dirs, dir)
		}
	}
	return dirs, nil
}

// AsideDir is the folder that Aside moves records to at a time: beside runs, with names that
// sort by time.
func AsideDir(f Folder, now time.Time) string {
	base := f.RunDir("") + now.UTC().Format(".20060102T150405Z")
	dir := base
	for n := 2; exists(dir); n++ {
		dir = fmt.Sprintf("%s-%d", base, n)
	}
	return dir
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// Aside moves the files of run folders to the folder to, under the same names.
func Aside(f Folder, dirs []string, to string) error {
	for _, dir := range dirs {
		name, err := filepath.Rel(f.RunDir(""), dir)
		if err != nil {
			return err
		}
		if err := moveRun(f, dir, filepath.Join(to, name)); err != nil {
			return err
		}
	}
	return nil
}

// moveRun moves a run's own files, also those that a repair cut off.
func moveRun(f Folder, from, to string) error {
	if err := os.MkdirAll(to, 0o777); err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !OwnFile(e.Name()) {
			continue
		}
		if err := os.Rename(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
			return err
		}
	}
	return errors.Join(syncDir(to), f.removeRun(from))
}

// OwnFile reports whether a file of a run's folder is one that mem created.
func OwnFile(name string) bool {
	for _, own := range []string{Events, Calls} {
		if name == own || strings.HasPrefix(name, own+cutMark) {
			return true
		}
	}
	return false
}
