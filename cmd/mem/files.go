package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// specFiles are the spec files that arguments name. A pattern that the shell did not
// expand, as on Windows, is expanded here.
func specFiles(args []string) ([]string, error) {
	if len(args) == 0 {
		return nil, errors.New("no spec: want spec files, as in experiments/*.yaml")
	}
	var files []string
	for _, arg := range args {
		expanded, err := expand(arg)
		if err != nil {
			return nil, err
		}
		files = append(files, expanded...)
	}
	return files, nil
}

func expand(arg string) ([]string, error) {
	if _, err := os.Lstat(arg); err == nil || !strings.ContainsAny(arg, "*?[") {
		return []string{arg}, nil // reading it says what is wrong with it
	}
	files, err := filepath.Glob(arg)
	if err != nil {
		return nil, fmt.Errorf("%s: %v", arg, err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: no file matches", arg)
	}
	return files, nil
}

// writeFile puts what fill writes into a file, whole or not at all. What is there and is no
// file, as /dev/stdout, is written to.
func writeFile(path string, fill func(io.Writer) error) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return writeTo(path, fill)
	}
	staged, err := stage(path, fill)
	if err != nil {
		return err
	}
	return commit(staged, path)
}

func writeTo(path string, fill func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(fill(f), f.Close())
}

// unfinished is the end of a staged file's name.
const unfinished = ".unfinished"

// sweep takes away the staged files that a killed process left in a folder.
func sweep(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if name := e.Name(); strings.HasPrefix(name, ".") && strings.HasSuffix(name, unfinished) {
			err = errors.Join(err, os.Remove(filepath.Join(dir, name)))
		}
	}
	return err
}

// stage writes a file beside path, to be renamed to it.
func stage(path string, fill func(io.Writer) error) (staged string, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*"+unfinished)
	if err != nil {
		return "", err
	}
	err = errors.Join(fill(f), f.Chmod(mode(path)), f.Sync(), f.Close())
	if err != nil {
		os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}

func commit(staged, path string) error {
	err := os.Rename(staged, path)
	if err != nil {
		os.Remove(staged)
	}
	return err
}

// mode is a file's own, or that of a new file: a temporary file has a stricter one.
func mode(path string) fs.FileMode {
	if info, err := os.Stat(path); err == nil {
		return info.Mode().Perm()
	}
	return 0o644
}

// reason is an error about a file without its name, which the message has already.
func reason(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
