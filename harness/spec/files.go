package spec

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// IsSpec reports whether a file's name is that of a spec.
func IsSpec(path string) bool {
	return slices.Contains([]string{".yaml", ".yml"}, strings.ToLower(filepath.Ext(path)))
}

// Paths lists the spec files that arguments name; a folder stands for the specs in it.
func Paths(args []string) ([]string, error) {
	if len(args) == 0 {
		return nil, errors.New("no spec: want spec files, or a folder of them, as in experiments/*.yaml")
	}
	files, err := Expand(args)
	if err != nil {
		return nil, err
	}
	var specs []string
	for _, file := range files {
		if info, err := os.Stat(file); err != nil || !info.IsDir() {
			specs = append(specs, file)
			continue
		}
		in, err := inFolder(file)
		if err != nil {
			return nil, err
		}
		specs = append(specs, in...)
	}
	return specs, nil
}

// inFolder lists the specs in a folder, not those in its folders.
func inFolder(dir string) (specs []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if IsSpec(e.Name()) && !e.IsDir() {
			specs = append(specs, filepath.Join(dir, e.Name()))
		}
	}
	if specs == nil {
		return nil, fmt.Errorf("%s: no spec in this folder: want .yaml files in it, or the spec's file", dir)
	}
	return specs, nil
}

// Expand lists the files that arguments name. A pattern that the shell did not expand, as on
// Windows, is expanded here.
func Expand(args []string) (files []string, err error) {
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
