// Package starter is the small experiment that mem init writes: a session, a gate script and
// the schema that editors read. Its golden prompt is made when it is written.
package starter

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/internal/printable"
)

//go:embed all:files
var files embed.FS

// Spec is the starter's spec, relative to its folder.
const Spec = "experiments/first.yaml"

const schema = "experiments/schema.json"

// Made are the files that mem golden update adds for Spec.
var Made = [...]string{"expected/first-t1.txt", "expected/" + check.LedgerFile}

// Free is an error if one of the files, or of Made, exists below dir.
func Free(dir string) error {
	contents, err := read()
	if err != nil {
		return err
	}
	for _, name := range append(Made[:], names(contents)...) {
		path := filepath.Join(dir, name)
		if _, absent := os.Lstat(path); absent == nil {
			err = errors.Join(err, fmt.Errorf("%s is there already, want a folder without it: nothing is written over", path))
		}
	}
	return err
}

// Write writes the files below dir and returns their names, relative to it. It replaces none.
func Write(dir string) ([]string, error) {
	contents, err := read()
	if err != nil {
		return nil, err
	}
	for _, f := range contents {
		if err := create(filepath.Join(dir, f.name), f.data); err != nil {
			return nil, err
		}
	}
	return names(contents), nil
}

func names(files []file) (list []string) {
	for _, f := range files {
		list = append(list, f.name)
	}
	return list
}

// file is a file to write, its name relative to the folder.
type file struct {
	name string
	data []byte
}

func read() ([]file, error) {
	list := []file{{schema, spec.Schema()}}
	root, err := fs.Sub(files, "files")
	if err != nil {
		return nil, err
	}
	err = fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(root, path)
		list = append(list, file{path, data})
		return err
	})
	return list, err
}

// create writes a file that is not there yet, with its folders.
func create(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// Next says what was written and what to do with it.
func Next(w io.Writer, dir string, files []string) error {
	var text bytes.Buffer
	for _, name := range files {
		fmt.Fprintln(&text, "wrote", filepath.Join(dir, name))
	}
	fmt.Fprintln(&text, "\nNext:")
	if dir != "." {
		fmt.Fprintf(&text, "  cd %s\n", dir)
	}
	fmt.Fprintf(&text, `  mem eval %[1]s       run it: all checks pass
  mem prompt --spec %[1]s --project session --query redis-port --chunk 1
Then put your session into experiments/corpora, your question and its label into
%[1]s, and write the golden prompt anew, with the reason:
  mem golden update %[1]s --reason "my own session"
`, Spec)
	_, err := io.WriteString(w, printable.Text(text.String()))
	return err
}
