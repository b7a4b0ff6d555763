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

// Paths lists the spec files that arguments name.
func Paths(args []string) ([]string, error) {
	if len(args) == 0 {
		return nil, errors.New("no spec: want spec files, as in experiments/*.yaml")
	}
	return Expand(args)
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
