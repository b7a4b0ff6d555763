// Package atomicfile writes files whole or not at all: readers see the old bytes or the new
// ones, also when the writer is killed.
package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Unfinished ends the names of temporary files; Sweep removes those that also start with a dot.
const Unfinished = ".unfinished"

// Write replaces a file by what fill writes. A path that exists and is not a regular file, such
// as /dev/stdout, is written to directly. An error of fill is returned as it is.
func Write(path string, fill func(io.Writer) error) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return writeTo(path, fill)
	}
	staged, err := Stage(path, fill)
	if err != nil {
		return err
	}
	return Commit(staged, path)
}

// WriteUnsynced is Write of a file that can be made again: a power failure may lose it.
func WriteUnsynced(path string, fill func(io.Writer) error) error {
	staged, err := stage(path, fill, func(*os.File) error { return nil })
	if err != nil {
		return err
	}
	return Commit(staged, path)
}

func writeTo(path string, fill func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if err := fill(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// Stage writes a file beside path; Commit renames it to path.
func Stage(path string, fill func(io.Writer) error) (staged string, err error) {
	return stage(path, fill, (*os.File).Sync)
}

func stage(path string, fill func(io.Writer) error, sync func(*os.File) error) (staged string, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*"+Unfinished)
	if err != nil {
		return "", err
	}
	if err = fill(f); err != nil {
		f.Close()
	} else {
		err = errors.Join(f.Chmod(mode(path)), sync(f), f.Close())
	}
	if err != nil {
		os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}

// Commit gives a staged file its name, or removes it.
func Commit(staged, path string) error {
	err := os.Rename(staged, path)
	if err != nil {
		os.Remove(staged)
	}
	return err
}

// mode is that of the file to replace, or of a new file: a temporary file has a stricter one.
func mode(path string) fs.FileMode {
	if info, err := os.Stat(path); err == nil {
		return info.Mode().Perm()
	}
	return 0o644
}

// Sweep removes the staged files that a killed process left in a folder.
func Sweep(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if name := e.Name(); strings.HasPrefix(name, ".") && strings.HasSuffix(name, Unfinished) {
			err = errors.Join(err, os.Remove(filepath.Join(dir, name)))
		}
	}
	return err
}
