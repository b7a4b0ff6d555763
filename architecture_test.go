// Package mem_test holds the rule of the house: who may import whom.
package mem_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/poimen-memory/mem"

// rooms lists what each package may import of ours; a package that is not in it may not
// exist. "…" stands for everything.
var rooms = map[string][]string{
	"gate":                 {},
	"prompt":               {},
	"prompt/token":         {},
	"harness/stat":         {},
	"harness/spec/yamlpos": {},
	"loop":                 {"gate", "prompt"},
	"loop/eventlog":        {"loop"},
	"loop/journal":         {"loop"},
	"loop/openai":          {"loop"},
	"scripted":             {"loop", "loop/journal", "prompt", "gate", "harness/spec/yamlpos"},
	"scripted/fakeserver":  {"loop", "loop/journal", "prompt", "gate"},
	"harness/spec":         {"harness/spec/yamlpos"},
	"harness/corpus":       {"prompt", "harness/spec/yamlpos"},
	"harness/check":        {"harness/spec", "harness/spec/yamlpos", "loop", "loop/eventlog", "loop/journal", "prompt"},
	"harness": {
		"gate", "prompt", "harness/stat", "harness/spec", "harness/spec/yamlpos", "harness/corpus", "harness/check",
		"loop", "loop/eventlog", "loop/journal",
	},
	"harness/render": {"harness", "harness/spec", "harness/check", "harness/stat", "loop", "loop/journal"},
	"cmd/mem":        {"…"},
}

// libraries are modules that may be imported in one room alone, and tests.
var libraries = map[string]string{
	"gopkg.in/yaml.v3":                     "harness/spec/yamlpos",
	"github.com/pkoukk/tiktoken-go":        "prompt/token",
	"github.com/pkoukk/tiktoken-go-loader": "prompt/token",
	"golang.org/x/text":                    "prompt/token",
	"github.com/sashabaranov/go-openai":    "loop/openai",
	"github.com/cenkalti/backoff/v5":       "loop/openai",
	"github.com/klauspost/compress":        "harness/corpus",
	"github.com/rogpeppe/go-internal":      "harness/check",
	"github.com/olekukonko/tablewriter":    "harness/render",
	"github.com/spf13/cobra":               "cmd/mem",
	"github.com/schollz/progressbar/v3":    "cmd/mem",
	"golang.org/x/term":                    "cmd/mem",
	"gonum.org/v1/gonum":                   "harness/stat",
}

// Package is what `go list -json` says of one.
type Package struct {
	ImportPath string
	Imports    []string
}

func packages(t *testing.T) (list []Package) {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "./...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p Package
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
}

// TestWhoImportsWhom fails on any import that the design does not have, and on a room
// that it does not know.
func TestWhoImportsWhom(t *testing.T) {
	for _, p := range packages(t) {
		for _, complaint := range violations(p) {
			t.Error(complaint)
		}
	}
}

func violations(p Package) (list []string) {
	room := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
	if room == "" || generator(room) {
		return nil
	}
	allowed, known := rooms[room]
	if !known {
		return []string{room + " is no room of the house: give it a line in rooms, or another place"}
	}
	for _, imported := range p.Imports {
		if !strings.Contains(imported, ".") { // the standard library's
			continue
		}
		if owner := owner(imported); owner != room && !strings.HasPrefix(imported, module) {
			list = append(list, room+" imports "+imported+", which "+owner+" may")
		}
		ours, isOurs := strings.CutPrefix(imported, module+"/")
		if isOurs && !slices.Contains(allowed, ours) && !slices.Contains(allowed, "…") {
			list = append(list, room+" imports "+ours+", which it may not")
		}
	}
	return list
}

// owner is the room that may import a library's package.
func owner(imported string) string {
	for library, room := range libraries {
		if imported == library || strings.HasPrefix(imported, library+"/") {
			return room
		}
	}
	return "no room"
}

// generator reports whether a room is a program of another room, run by go generate.
func generator(room string) bool { return path.Base(room) == "gen" }

// TestForeignImportsAreCaught is the rule's broken twin.
func TestForeignImportsAreCaught(t *testing.T) {
	for _, p := range []Package{
		{module + "/gate", []string{module + "/prompt"}},
		{module + "/harness/corpus", []string{module + "/loop"}},
		{module + "/loop", []string{module + "/harness/corpus"}},
		{module + "/harness", []string{module + "/scripted"}},
		{module + "/harness/render", []string{module + "/prompt"}},
		{module + "/harness/spec", []string{"gopkg.in/yaml.v3"}},
		{module + "/loop", []string{"github.com/pkoukk/tiktoken-go"}},
		{module + "/harness", []string{"gonum.org/v1/gonum/floats"}},
		{module + "/harness", []string{"example.com/nobody/knows"}},
		{module + "/util", nil},
	} {
		if len(violations(p)) != 1 {
			t.Errorf("%s importing %v: violations are %q, want one", p.ImportPath, p.Imports, violations(p))
		}
	}
}

// TestReadmeNamesEveryDependency: its table says what each module that we require is for,
// and names no other.
func TestReadmeNamesEveryDependency(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{if not (or .Main .Indirect)}}{{.Path}}{{end}}", "all").Output()
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(readme), "| dependency | what it is for |\n| --- | --- |\n")
	if !ok {
		t.Fatal("README.md has no table of dependencies")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	named := map[string]bool{}
	for row := range strings.Lines(table) {
		for _, name := range strings.Split(strings.Split(row, "|")[1], ",") {
			named[path.Base(strings.TrimSpace(name))] = true
		}
	}
	for _, module := range strings.Fields(string(out)) {
		name := path.Base(versionless(module))
		if !named[name] {
			t.Errorf("the table does not name %s", module)
		}
		delete(named, name)
	}
	for name := range named {
		t.Errorf("the table names %s, which go.mod does not require", name)
	}
}

// versionless is a module's path without its major version, as in …/backoff/v5 and yaml.v3.
func versionless(module string) string {
	if dir, last := path.Split(module); len(last) == 2 && last[0] == 'v' {
		return path.Clean(dir)
	}
	return module
}
