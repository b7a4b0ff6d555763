package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/loop/eventlog"
)

// Found is the folder of a run, or a log that is in none.
type Found struct{ Dir, Log string }

// Verify verifies it.
func (r Found) Verify(count eventlog.CountTokens) (Verdict, error) {
	if r.Log != "" {
		return VerifyLog(r.Log, count)
	}
	return Verify(r.Dir, count)
}

// Find lists what arguments stand for, folders in lexical order, each record once.
func Find(args []string) (records []Found, err error) {
	add := func(r Found) {
		if !slices.Contains(records, r) {
			records = append(records, r)
		}
	}
	for _, arg := range args {
		info, missing := os.Stat(arg)
		switch {
		case missing != nil:
			err = errors.Join(err, fmt.Errorf("%s: %v", arg, diag.Reason(missing)))
		case info.IsDir():
			err = errors.Join(err, recordsBelow(arg, add))
		case ofRecord(arg):
			add(Found{Dir: filepath.Dir(arg)})
		default:
			add(Found{Log: arg})
		}
	}
	return records, err
}

// ofRecord reports whether a file is one of a run's folder, in which there is a journal.
func ofRecord(path string) bool {
	base := filepath.Base(path)
	if base != Events && base != Calls {
		return false
	}
	_, err := os.Stat(filepath.Join(filepath.Dir(path), Calls))
	return err == nil
}

// recordsBelow follows no link. One that leads to something within dir leads to what is found
// anyway.
func recordsBelow(dir string, add func(Found)) error {
	var escapes error
	err := walkBelow(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !d.IsDir() && (d.Name() == Events || d.Name() == Calls):
			add(Found{Dir: filepath.Dir(path)})
		case d.Type()&fs.ModeSymlink != 0:
			escapes = errors.Join(escapes, confined(dir, path))
		}
		return nil
	})
	return errors.Join(err, escapes)
}

// walkBelow is filepath.WalkDir for what is in a folder, which may itself be named by a link.
func walkBelow(dir string, visit fs.WalkDirFunc) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return visit(dir, nil, err)
	}
	for _, e := range entries {
		if err := filepath.WalkDir(filepath.Join(dir, e.Name()), visit); err != nil {
			return err
		}
	}
	return nil
}
