// Package starter is what mem init writes: a small experiment that passes, an experiment that
// decides on a live model, or a CI workflow. It replaces no file.
package starter

import (
	"bufio"
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/internal/printable"
)

//go:embed all:base all:live all:github all:gitlab
var files embed.FS

// Kind is what is written.
type Kind string

// The kinds.
const (
	Scripted Kind = "base"   // a session, a gate script, a golden prompt, which is made when it is written
	Live     Kind = "live"   // generated sessions, a live model and a decision on it
	GitHub   Kind = "github" // a workflow of GitHub Actions
	GitLab   Kind = "gitlab" // a job of GitLab CI
)

// Starter is a kind, and the server that a Live one asks.
type Starter struct {
	Kind   Kind
	Server Server
}

// Server is what an experiment on a live model says of it. What is empty is taken from the
// environment when the model is asked.
type Server struct{ BaseURL, Model, KeyEnv string }

// Specs of the kinds that have one, relative to the folder.
const (
	ScriptedSpec = "experiments/first.yaml"
	LiveSpec     = "experiments/live.yaml"
)

const schema = "experiments/schema.json"

// Made are the files that mem golden update adds for ScriptedSpec.
var Made = [...]string{"expected/first-t1.txt", "expected/" + check.LedgerFile}

// shared may be there already: a repository's own, or an earlier starter's.
var shared = []string{schema, ".gitignore", ".env.example", "experiments/.gitattributes"}

// Free is an error if one of the files exists below dir, or of Made, but for those that starters
// share.
func (s Starter) Free(dir string) error {
	contents, err := s.read()
	if err != nil {
		return err
	}
	names := names(contents)
	if s.Kind == Scripted {
		names = append(names, Made[:]...)
	}
	for _, name := range names {
		path := filepath.Join(dir, name)
		if s.keeps(name) {
			continue
		}
		if _, absent := os.Lstat(path); absent == nil {
			err = errors.Join(err, fmt.Errorf("%s is there already, want a folder without it: nothing is written over", path))
		}
	}
	return err
}

// keeps reports whether a file that is there already is left as it is.
func (s Starter) keeps(name string) bool { return s.Kind != Scripted && slices.Contains(shared, name) }

// Write writes the files below dir and returns their names, relative to it. It replaces none.
func (s Starter) Write(dir string) (written []string, err error) {
	contents, err := s.read()
	if err != nil {
		return nil, err
	}
	for _, f := range contents {
		err := create(filepath.Join(dir, f.name), f.data)
		if errors.Is(err, fs.ErrExist) && s.keeps(f.name) {
			continue
		}
		if err != nil {
			return nil, err
		}
		written = append(written, f.name)
	}
	return written, nil
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

func (s Starter) read() (list []file, err error) {
	if s.Kind == Scripted || s.Kind == Live {
		list = append(list, file{schema, spec.Schema()})
	}
	root, err := fs.Sub(files, string(s.Kind))
	if err != nil {
		return nil, err
	}
	err = fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(root, path)
		if s.Kind == Live {
			data = []byte(s.Server.fill(string(data)))
		}
		list = append(list, file{path, data})
		return err
	})
	return list, err
}

// fill puts the server into a file of the live starter.
func (s Server) fill(text string) string {
	var env strings.Builder
	value := func(given, variable, example string) string {
		if given != "" {
			return strconv.Quote(given)
		}
		env.WriteString(variable + "=" + example + "\n")
		return `"${` + variable + `}"`
	}
	keyEnv := s.KeyEnv
	if keyEnv == "" {
		keyEnv = "MEM_API_KEY"
	}
	baseURL, model := value(s.BaseURL, "MEM_BASE_URL", "http://localhost:8000/v1"), value(s.Model, "MEM_MODEL", "my-model")
	env.WriteString(keyEnv + "=EMPTY\n")
	return strings.NewReplacer("{{base_url}}", baseURL, "{{model}}", model, "{{api_key_env}}", keyEnv, "{{env}}", env.String()).Replace(text)
}

// Ask asks a person for what no flag says; an empty line leaves it to the environment.
func (s *Server) Ask(in io.Reader, out io.Writer) {
	lines := bufio.NewScanner(in)
	for _, q := range []struct {
		question string
		answer   *string
	}{
		{"Server, as in http://localhost:8000/v1 (empty: from MEM_BASE_URL): ", &s.BaseURL},
		{"Model, by its name at the server (empty: from MEM_MODEL): ", &s.Model},
	} {
		if *q.answer != "" {
			continue
		}
		fmt.Fprint(out, q.question)
		if lines.Scan() {
			*q.answer = strings.TrimSpace(lines.Text())
		}
	}
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
func (s Starter) Next(w io.Writer, dir string, files []string) error {
	var text bytes.Buffer
	for _, name := range files {
		fmt.Fprintln(&text, "wrote", filepath.Join(dir, name))
	}
	fmt.Fprintln(&text, "\nNext:")
	if dir != "." {
		fmt.Fprintf(&text, "  cd %s\n", dir)
	}
	text.WriteString(s.steps())
	_, err := io.WriteString(w, printable.Text(text.String()))
	return err
}

func (s Starter) steps() string {
	switch s.Kind {
	case Live:
		return strings.ReplaceAll(`  cp .env.example .env        fill it in, then: set -a; . ./.env; set +a
  mem ping SPEC               one call: does the model answer, are its gates readable
  mem plan SPEC               how many questions a decision takes, and what they cost
  mem eval SPEC --live        asks the model; if it stops: mem eval SPEC --live --resume
`, "SPEC", LiveSpec)
	case GitHub, GitLab:
		return `  mem eval experiments/*.yaml --baseline reports/baseline --update-baseline
Then commit reports/baseline with the workflow: CI fails on any count that differs from it.
`
	}
	return strings.ReplaceAll(`  mem eval SPEC       run it: all checks pass
  mem prompt --spec SPEC --project session --query redis-port --chunk 1
Then put your session into experiments/corpora, your question and its label into
SPEC, and write the golden prompt anew, with the reason:
  mem golden update SPEC --reason "my own session"
`, "SPEC", ScriptedSpec)
}
