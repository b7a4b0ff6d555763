package record

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/poimen-memory/mem/loop"
)

// kept asks a model only where its reply can be kept: the folder and the files of the record
// are still there, and the disk has space.
type kept struct {
	loop.Model
	present func() error // nil: not asked
	dir     string
	files   []*os.File
}

func (k *kept) Complete(ctx context.Context, r loop.Request) (loop.Completion, error) {
	if err := k.check(); err != nil {
		return loop.Completion{}, unkept{err}
	}
	return k.Model.Complete(ctx, r)
}

func (k *kept) check() error {
	if k.present != nil {
		if err := k.present(); err != nil {
			return err
		}
	}
	for _, f := range k.files {
		if err := unmoved(f); err != nil {
			return err
		}
	}
	return writable(k.dir, spare)
}

// Pin makes the folder of records. present is an error once that folder, or the experiment's,
// has been removed or replaced: the lock is gone with it, and runs that begin would make it
// anew without the records of those that ended.
func Pin(f Folder) (present func() error, err error) {
	runs := f.RunDir("")
	if err := os.MkdirAll(runs, 0o777); err != nil {
		return nil, err
	}
	var pinned []os.FileInfo
	paths := []string{f.Dir, runs}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		pinned = append(pinned, info)
	}
	return func() error {
		for i, path := range paths {
			if err := same(path, pinned[i]); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// same is an error if a path no longer names what it did.
func same(path string, was os.FileInfo) error {
	now, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s was removed during the evaluation: move it back and go on with --live --resume", path)
	case err == nil && !os.SameFile(was, now):
		return fmt.Errorf("%s was replaced during the evaluation: move it back and go on with --live --resume", path)
	}
	return err
}

// unmoved is an error if a file's name is no longer that file's.
func unmoved(f *os.File) error {
	open, err := f.Stat()
	if err != nil {
		return err
	}
	return same(f.Name(), open)
}

// unkept is the error of a call that was not made, for its reply could not be kept.
type unkept struct{ error }

func (e unkept) Error() string {
	return fmt.Sprintf("not asked, for the reply could not be recorded: %v", e.error)
}

func (e unkept) Unwrap() error { return e.error }

// NotSent is true: no call was made.
func (unkept) NotSent() bool { return true }
