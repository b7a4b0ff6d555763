// Package mem_test holds tests of the module as a whole: which packages import which, and
// whether documents and binaries agree with the code.
package mem_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/poimen-memory/mem"

// allowedImports lists, for each package, the packages of this module that it imports outside
// tests. The list is exact: an import that is not listed is an error, and so is a listed one
// that no longer exists.
var allowedImports = map[string][]string{
	"gate":                               {},
	"prompt":                             {"internal/digest"},
	"prompt/token":                       {},
	"harness/stat":                       {"harness/diag", "harness/stat/answer", "harness/stat/cluster"},
	"harness/diag":                       {},
	"harness/spec/yamlpos":               {"harness/diag"},
	"loop":                               {"gate", "prompt"},
	"loop/internal/lines":                {},
	"loop/eventlog":                      {"internal/digest", "internal/inputfile", "loop", "loop/internal/lines"},
	"loop/journal":                       {"internal/inputfile", "loop", "loop/internal/lines"},
	"loop/keyfilter":                     {},
	"loop/command":                       {},
	"loop/openai":                        {"loop", "loop/gateprob", "loop/keyfilter", "loop/openai/chatreply"},
	"loop/openai/chatreply":              {"loop/gateprob"},
	"scripted":                           {"gate", "harness/diag", "harness/spec/yamlpos", "internal/digest", "internal/inputfile", "loop", "prompt"},
	"scripted/fakeserver":                {},
	"harness/spec":                       {"harness/diag", "harness/spec/yamlpos", "harness/stat", "internal/inputfile", "prompt"},
	"harness/textfile":                   {"internal/inputfile"},
	"harness/dist":                       {},
	"harness/secret":                     {},
	"harness/jsonpos":                    {"harness/diag", "harness/textfile"},
	"harness/corpus":                     {"harness/diag", "harness/dist", "harness/jsonpos", "harness/secret", "harness/spec/yamlpos", "harness/textfile", "internal/inputfile", "prompt"},
	"harness/corpus/corpustest":          {"harness/corpus", "harness/diag", "prompt"},
	"harness/dataset":                    {"harness/atomicfile", "harness/corpus", "harness/dataset/chatlog", "harness/diag", "harness/jsonpos", "harness/textfile", "prompt"},
	"harness/dataset/chatlog":            {"harness/corpus", "harness/diag", "harness/jsonpos", "harness/textfile", "prompt"},
	"harness/synth":                      {"harness/atomicfile", "harness/corpus", "harness/dataset", "harness/diag", "internal/inputfile", "prompt"},
	"harness/lint":                       {"harness/atomicfile", "harness/corpus", "harness/diag", "harness/secret", "prompt"},
	"harness/label":                      {"harness/atomicfile", "harness/corpus"},
	"harness/check":                      {"harness/diag", "harness/dist", "harness/spec", "harness/spec/yamlpos", "internal/digest", "internal/inputfile", "loop", "loop/eventlog", "prompt"},
	"harness":                            {"harness/diag", "harness/merge", "harness/models", "harness/plan", "harness/record", "harness/render", "harness/result", "harness/result/paired", "harness/run", "harness/shard", "harness/spec", "harness/stat", "harness/stat/compare", "harness/timing", "internal/printable", "loop"},
	"harness/render":                     {"harness/atomicfile", "harness/check", "harness/diag", "harness/dist", "harness/explain", "harness/forecast", "harness/inspect", "harness/record", "harness/render/internal/layout", "harness/render/internal/view", "harness/render/page", "harness/result", "harness/result/paired", "harness/stat", "harness/stat/decide", "harness/stat/glossary", "harness/stat/power", "internal/printable", "loop", "loop/eventlog", "loop/journal", "loop/keyfilter"},
	"harness/render/internal/layout":     {"internal/printable"},
	"harness/render/internal/rendertest": {"gate", "harness/check", "harness/diag", "harness/plan", "harness/record", "harness/result", "harness/spec", "harness/stat", "harness/stat/confidence"},
	"harness/render/internal/view":       {"harness/check", "harness/diag", "harness/plan", "harness/record", "harness/render/internal/layout", "harness/result", "harness/result/paired", "harness/stat", "harness/stat/confidence", "harness/stat/decide", "harness/stat/glossary"},
	"harness/render/page":                {"harness/check", "harness/diag", "harness/internal/parallel", "harness/record", "harness/render/internal/layout", "harness/render/internal/view", "harness/result", "harness/spec", "harness/stat", "harness/stat/decide", "harness/stat/glossary", "loop", "loop/journal"},
	"cmd/mem":                            {"cmd/mem/internal/arguments", "cmd/mem/internal/topic", "cmd/mem/merge", "cmd/mem/repair", "harness", "harness/atomicfile", "harness/baseline", "harness/check", "harness/corpus", "harness/dataset", "harness/diag", "harness/explain", "harness/forecast", "harness/golden", "harness/inspect", "harness/label", "harness/lint", "harness/models", "harness/ping", "harness/plan", "harness/preview", "harness/progress", "harness/record", "harness/redact", "harness/render", "harness/render/corpora", "harness/result", "harness/run", "harness/sessions", "harness/shard", "harness/spec", "harness/starter", "harness/stat", "harness/synth", "harness/timing", "harness/tty", "internal/printable", "internal/version", "loop/eventlog", "loop/keyfilter", "prompt", "prompt/token"},
	"harness/internal/parallel":          {},
	"harness/models":                     {"harness/diag", "harness/plan", "harness/record", "harness/run", "harness/spec", "harness/spec/yamlpos", "internal/inputfile", "internal/printable", "loop", "loop/command", "loop/eventlog", "loop/journal", "loop/openai", "prompt", "prompt/token", "scripted"},
	"harness/plan":                       {"harness/check", "harness/corpus", "harness/dataset", "harness/diag", "harness/record", "harness/spec", "harness/spec/yamlpos", "harness/stat", "harness/stat/answer", "harness/stat/cluster", "harness/stat/decide", "harness/synth", "internal/digest", "internal/inputfile", "loop", "loop/journal", "prompt", "scripted"},
	"harness/record":                     {"gate", "harness/atomicfile", "harness/diag", "internal/digest", "internal/inputfile", "loop", "loop/eventlog", "loop/journal", "prompt"},
	"harness/result":                     {"gate", "harness/check", "harness/corpus", "harness/diag", "harness/internal/parallel", "harness/plan", "harness/record", "harness/result/paired", "harness/spec", "harness/spec/yamlpos", "harness/stat", "harness/stat/answer", "harness/stat/compare", "harness/stat/confidence", "harness/stat/decide", "harness/synth", "internal/digest", "internal/inputfile", "loop", "loop/journal", "prompt"},
	"harness/result/paired":              {"harness/diag", "harness/spec", "harness/stat", "harness/stat/compare"},
	"harness/run":                        {"harness/internal/parallel", "harness/plan", "harness/record", "harness/spec", "loop", "loop/journal", "prompt", "scripted"},
	"harness/forecast":                   {"harness/check", "harness/corpus", "harness/diag", "harness/dist", "harness/internal/parallel", "harness/plan", "harness/spec", "harness/stat", "harness/stat/answer", "harness/stat/decide", "harness/stat/power", "loop", "prompt"},
	"harness/atomicfile":                 {},
	"harness/inspect":                    {"harness/diag", "harness/plan", "harness/record", "harness/result", "prompt"},
	"harness/stat/answer":                {},
	"harness/stat/cluster":               {},
	"harness/stat/compare":               {"harness/stat", "harness/stat/cluster"},
	"harness/stat/confidence":            {},
	"harness/stat/decide":                {"harness/diag", "harness/stat", "harness/stat/cluster"},
	"harness/stat/power":                 {"harness/stat", "harness/stat/decide"},
	"harness/golden":                     {"harness/atomicfile", "harness/check", "harness/diag", "internal/digest", "internal/inputfile", "internal/printable"},
	"harness/baseline":                   {"harness/atomicfile", "harness/check", "harness/diag", "harness/record", "harness/result", "internal/inputfile", "internal/printable"},
	"harness/progress":                   {"harness/run", "internal/printable"},
	"harness/starter":                    {"harness/check", "harness/spec", "internal/printable"},
	"harness/timing":                     {"harness/atomicfile", "harness/models", "harness/record", "harness/render", "harness/result", "internal/inputfile"},
	"harness/render/corpora":             {"harness/corpus", "harness/dataset", "harness/diag", "harness/label", "harness/lint", "harness/render"},
	"harness/sessions":                   {"harness/corpus", "harness/dataset", "harness/diag", "harness/models", "harness/plan", "harness/render/corpora", "harness/spec", "prompt"},
	"harness/ping":                       {"gate", "harness", "harness/models", "harness/plan", "harness/render", "harness/spec", "internal/printable", "loop", "loop/keyfilter", "loop/openai", "prompt"},
	"harness/tty":                        {"harness/diag", "harness/render", "loop/keyfilter"},
	"internal/digest":                    {},
	"internal/inputfile":                 {},
	"harness/preview":                    {"harness/diag", "harness/forecast", "harness/models", "harness/plan", "harness/record", "harness/render", "harness/spec", "harness/spec/yamlpos", "internal/inputfile", "prompt"},
	"harness/explain":                    {"harness/diag", "harness/record", "harness/result", "harness/stat"},
	"internal/printable":                 {},
	"cmd/mem/internal/topic":             {"harness/diag", "harness/stat/glossary"},
	"harness/stat/glossary":              {"harness/stat", "harness/stat/answer"},
	"internal/version":                   {},
	"harness/redact":                     {"harness/check", "harness/record", "harness/result"},
	"loop/gateprob":                      {"loop"},
	"cmd/mem/internal/arguments":         {"harness/diag"},
	"cmd/mem/merge":                      {"harness", "harness/render", "internal/printable"},
	"cmd/mem/repair":                     {"harness/diag", "harness/models", "harness/record", "harness/render", "internal/printable", "loop/eventlog"},
	"harness/merge":                      {"harness/atomicfile", "harness/record", "internal/inputfile", "loop/eventlog", "loop/journal"},
	"harness/shard":                      {"harness/forecast", "harness/plan"},
}

// libraries lists, for each module that others wrote, the packages that import it outside
// tests. It is exact too.
var libraries = map[string][]string{
	"gopkg.in/yaml.v3":                  {"harness/spec/yamlpos"},
	"golang.org/x/text":                 {"prompt/token", "harness/stat/answer"},
	"github.com/sashabaranov/go-openai": {"loop/openai"},
	"github.com/cenkalti/backoff/v5":    {"loop/openai"},
	"github.com/klauspost/compress":     {"harness/textfile", "prompt/token"},
	"github.com/rogpeppe/go-internal":   {"harness/check", "harness/render"},
	"github.com/olekukonko/tablewriter": {"harness/render/internal/layout"},
	"github.com/spf13/cobra":            {"cmd/mem", "cmd/mem/internal/arguments", "cmd/mem/internal/topic", "cmd/mem/merge", "cmd/mem/repair"},
	"github.com/schollz/progressbar/v3": {"harness/progress"},
	"golang.org/x/term":                 {"harness/tty"},
	"github.com/gofrs/flock":            {"harness/record"},
	"gonum.org/v1/gonum":                {"harness/stat/cluster"},
}

// Package is what `go list -json` says of one.
type Package struct {
	ImportPath string
	Imports    []string
	Dir        string
}

func packages(t *testing.T) (list []Package) {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,Dir", "./...")
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

func TestImports(t *testing.T) {
	for _, problem := range violations(packages(t), allowedImports, libraries) {
		t.Error(problem)
	}
}

// arrow is an import: of a package of this module, or of a library.
type arrow struct{ from, to string }

// violations compares the imports of packages with the lists, in both directions.
func violations(packages []Package, allowed, libraries map[string][]string) (list []string) {
	listed, missing := map[arrow]bool{}, map[string]bool{}
	for from, imports := range allowed {
		missing[from] = true
		for _, to := range imports {
			listed[arrow{from, to}] = false
		}
	}
	for library, importers := range libraries {
		for _, from := range importers {
			listed[arrow{from, library}] = false
		}
	}
	for _, p := range packages {
		name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		if name == "" || generator(name) {
			continue
		}
		if _, known := allowed[name]; !known {
			list = append(list, "unknown package "+name+": add it to allowedImports")
			continue
		}
		delete(missing, name)
		for _, imported := range p.Imports {
			a := arrow{name, target(imported, libraries)}
			if _, known := listed[a]; !known && a.to != "" {
				list = append(list, a.from+" imports "+a.to+", which is not listed")
				continue
			}
			listed[a] = true
		}
	}
	for name := range missing {
		list = append(list, "package "+name+" does not exist: remove it from allowedImports")
	}
	for a, found := range listed {
		if !found && !missing[a.from] {
			list = append(list, a.from+" does not import "+a.to+": remove it from the list")
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// target is the package of this module or the library that an import belongs to, "" for the
// standard library.
func target(imported string, libraries map[string][]string) string {
	if ours, ok := strings.CutPrefix(imported, module+"/"); ok {
		return ours
	}
	for library := range libraries {
		if imported == library || strings.HasPrefix(imported, library+"/") {
			return library
		}
	}
	if first, _, _ := strings.Cut(imported, "/"); !strings.Contains(first, ".") {
		return ""
	}
	return imported
}

// generator reports whether a package is a program that go generate runs.
func generator(name string) bool { return path.Base(name) == "gen" }

// TestViolationsAreFound proves that violations reports each kind of difference, in both
// directions, and nothing else.
func TestViolationsAreFound(t *testing.T) {
	allowed := map[string][]string{"gate": {}, "loop": {"gate"}}
	libraries := map[string][]string{"gopkg.in/yaml.v3": {"loop"}}
	gate := Package{ImportPath: module + "/gate", Imports: []string{"fmt", "go/ast"}}
	loop := Package{ImportPath: module + "/loop", Imports: []string{module + "/gate", "gopkg.in/yaml.v3/sub", "net/http"}}
	for _, c := range []struct {
		packages []Package
		want     []string
	}{
		{[]Package{gate, loop, {ImportPath: module}, {ImportPath: module + "/gate/gen", Imports: []string{"example.com/any"}}}, nil},
		{[]Package{{ImportPath: gate.ImportPath, Imports: []string{module + "/loop"}}, loop}, []string{"gate imports loop, which is not listed"}},
		{[]Package{{ImportPath: gate.ImportPath, Imports: []string{"gopkg.in/yaml.v3"}}, loop}, []string{"gate imports gopkg.in/yaml.v3, which is not listed"}},
		{[]Package{{ImportPath: gate.ImportPath, Imports: []string{"example.com/unknown/library"}}, loop}, []string{"gate imports example.com/unknown/library, which is not listed"}},
		{[]Package{gate, {ImportPath: loop.ImportPath, Imports: loop.Imports[1:]}}, []string{"loop does not import gate: remove it from the list"}},
		{[]Package{gate, {ImportPath: loop.ImportPath, Imports: loop.Imports[:1]}}, []string{"loop does not import gopkg.in/yaml.v3: remove it from the list"}},
		{[]Package{gate, loop, {ImportPath: module + "/util"}}, []string{"unknown package util: add it to allowedImports"}},
		{[]Package{loop}, []string{"package gate does not exist: remove it from allowedImports"}},
	} {
		if got := violations(c.packages, allowed, libraries); !slices.Equal(got, c.want) {
			t.Errorf("%v: found %q, want %q", c.packages, got, c.want)
		}
	}
}

// mostMethodFiles is in how many files the methods of one type may be: whoever reads the
// type has to find them.
const mostMethodFiles = 3

func TestMethodsOfATypeAreTogether(t *testing.T) {
	for _, p := range packages(t) {
		for name, files := range methodFiles(t, sources(t, p)) {
			if len(files) > mostMethodFiles {
				t.Errorf("%s: type %s has methods in %d files, %v; want at most %d: move methods together or make functions of them",
					p.ImportPath, name, len(files), files, mostMethodFiles)
			}
		}
	}
}

// mostLines is how many lines a package may have, without its tests: what is larger is more
// than one idea.
const mostLines = 2500

func TestPackagesAreSmall(t *testing.T) {
	for _, p := range packages(t) {
		if n := countLines(sources(t, p)); n > mostLines {
			t.Errorf("%s has %d lines, want at most %d: split it", p.ImportPath, n, mostLines)
		}
	}
}

// countLines adds up the lines of files.
func countLines(sources map[string]string) (n int) {
	for _, text := range sources {
		n += strings.Count(text, "\n")
	}
	return n
}

func TestCountLines(t *testing.T) {
	if n := countLines(map[string]string{"a.go": "package p\n", "b.go": "package p\n\nvar X int\n"}); n != 4 {
		t.Errorf("found %d lines, want 4", n)
	}
}

// sources reads a package's Go files, without those of tests, by their names.
func sources(t *testing.T, p Package) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(p.Dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.Base(file)] = string(text)
	}
	return texts
}

// methodFiles returns, for each type, the files that its methods are in.
func methodFiles(t *testing.T, sources map[string]string) map[string][]string {
	t.Helper()
	files := map[string][]string{}
	for _, file := range slices.Sorted(maps.Keys(sources)) {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, sources[file], parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil {
				continue
			}
			if name := receiverType(f.Recv.List[0].Type); !slices.Contains(files[name], file) {
				files[name] = append(files[name], file)
			}
		}
	}
	return files
}

// receiverType is the name of a receiver's type, without pointer and type parameters.
func receiverType(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.StarExpr:
		return receiverType(x.X)
	case *ast.IndexExpr:
		return receiverType(x.X)
	case *ast.IndexListExpr:
		return receiverType(x.X)
	case *ast.Ident:
		return x.Name
	}
	return ""
}

func TestMethodFiles(t *testing.T) {
	got := methodFiles(t, map[string]string{
		"a.go": "package p; type A struct{}; func (A) One() {}; func (a *A) Two() {}; func B() {}",
		"b.go": "package p; type P[K, V any] struct{}; func (*A) Three() {}; func (p *P[K, V]) One() {}",
		"c.go": "package p; type Q[V any] struct{}; func (P[K, V]) Two() {}; func (Q[V]) One() {}",
	})
	want := map[string][]string{"A": {"a.go", "b.go"}, "P": {"b.go", "c.go"}, "Q": {"c.go"}}
	if !maps.EqualFunc(got, want, slices.Equal[[]string]) {
		t.Errorf("found %v, want %v", got, want)
	}
}

// TestBinaryHoldsNoGoSources: what is made from sources is made by go generate, not at run time.
func TestBinaryHoldsNoGoSources(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{.ImportPath}} {{.EmbedFiles}}", "./cmd/mem").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "go/parser ") || strings.Contains(line, ".go ") || strings.Contains(line, ".go]") {
			t.Errorf("the binary parses or embeds Go sources: %s", line)
		}
	}
}

// TestReadmeNamesEveryPackage: the layout links each package, or the one right above it, and
// what it links exists. Internal packages of a package, generators and helpers of tests are
// left out.
func TestReadmeNamesEveryPackage(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, layout, _ := strings.Cut(string(readme), "\n## Layout\n")
	layout, _, ok := strings.Cut(layout, "| dependency |")
	if !ok {
		t.Fatal("README.md has no layout before its dependencies")
	}
	linked := map[string]bool{}
	for _, link := range regexp.MustCompile(`\]\(([^)]+)\)`).FindAllStringSubmatch(layout, -1) {
		linked[link[1]] = true
		if _, err := os.Stat(link[1]); err != nil {
			t.Errorf("the layout links %s: %v", link[1], err)
		}
	}
	for _, p := range packages(t) {
		name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		above := path.Dir(name)
		switch {
		case name == "", linked[name], linked[above] && above != "harness":
		case strings.Contains(name, "/internal/"), path.Base(name) == "gen":
		default:
			t.Errorf("the layout does not link %s", name)
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
