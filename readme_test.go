package mem_test

import (
	"bufio"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
)

// session is a console block of a document: commands, each with the output below it.
type session struct {
	line     int
	commands []command
}

type command struct {
	line   string
	output string
}

// TestDocumentsTellTheTruth runs every command of every console block in the documents, as
// a reader would type it, in a copy of the checkout, and compares what it prints. A line
// of "…" in a document stands for any lines, "> " continues a command, and a cd holds for
// the rest of the document.
func TestDocumentsTellTheTruth(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	bin := build(t)
	docs, err := filepath.Glob("docs/*.md")
	if err != nil || len(docs) == 0 {
		t.Fatal(docs, err)
	}
	for _, doc := range append(docs, "README.md", "CONTRIBUTING.md") {
		t.Run(doc, func(t *testing.T) {
			dir := checkout(t)
			sessions := consoles(t, doc)
			if len(sessions) == 0 {
				t.Fatal("no console block: nothing is tested")
			}
			book := rewriter{text: text(t, doc), at: 1}
			for _, s := range sessions {
				for _, c := range s.commands {
					book.next(c)
					if to, ok := strings.CutPrefix(c.line, "cd "); ok {
						dir = filepath.Join(dir, to)
						continue
					}
					got := output(t, dir, bin, c.line)
					if *update && !matches(c.output, got) && !strings.Contains(c.output, "…\n") {
						book.replace(c.output, got)
						continue
					}
					if !matches(c.output, got) {
						t.Errorf("%s:%d: $ %s (-document +output)\n%s", doc, s.line, c.line, cmp.Diff(c.output, got))
					}
				}
			}
			if *update {
				if err := os.WriteFile(doc, []byte(book.text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

var update = flag.Bool("update", false, "write into the documents what commands print, but where they have lines of …: go test . -run Documents -update")

// rewriter puts other outputs into a document, in the order of its commands.
type rewriter struct {
	text string
	at   int // after the command in hand, as it is typed
}

func (w *rewriter) next(c command) {
	typed := "\n$ " + strings.ReplaceAll(c.line, "\n", "\n> ") + "\n"
	w.at += strings.Index(w.text[w.at-1:], typed) - 1 + len(typed)
}

func (w *rewriter) replace(output, other string) {
	w.text = w.text[:w.at] + other + w.text[w.at+len(output):]
}

func build(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command("go", "build", "-o", dir, "./cmd/mem")
	cmd.Env = anywhere(os.Environ())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// anywhere has go build what does not depend on its folder, as make dist does, so that a
// copy of the checkout finds its packages built.
func anywhere(env []string) []string { return append(env, "GOFLAGS=-trimpath", "CGO_ENABLED=0") }

// checkout copies what git would give a reader, as far as the commands need it.
func checkout(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	skip := map[string]bool{".git": true, "reports": true, "bin": true, "dist": true}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && skip[path] {
			return filepath.SkipDir
		}
		to := filepath.Join(dir, path)
		if d.IsDir() {
			return os.MkdirAll(to, 0o777)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(to, data, 0o666)
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// output runs a command and is all it prints; an exit code other than 0 is its last line.
func output(t *testing.T, dir, bin, line string) string {
	t.Helper()
	if line == "make test" { // this test is part of it: what it would run must do
		line = "make --no-print-directory -n test"
	}
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = dir
	cmd.Env = append(anywhere(withoutCI(os.Environ())), "PATH="+bin+":"+os.Getenv("PATH"), "GOBIN="+bin, "COLUMNS=100")
	out, err := cmd.CombinedOutput()
	text := string(out)
	if err != nil {
		text += fmt.Sprintf("exit %d\n", cmd.ProcessState.ExitCode())
	}
	return regexp.MustCompile(`go: downloading .*\n`).ReplaceAllString(text, "")
}

// withoutCI takes away what changes a command's manners.
func withoutCI(env []string) (kept []string) {
	for _, v := range env {
		if !strings.HasPrefix(v, "CI=") && !strings.HasPrefix(v, "GITHUB_") && !strings.HasPrefix(v, "MAKE") && !strings.HasPrefix(v, "MFLAGS") {
			kept = append(kept, v)
		}
	}
	return kept
}

func matches(document, output string) bool {
	parts := strings.Split(regexp.QuoteMeta(document), "…\n")
	return regexp.MustCompile("^(?s:" + strings.Join(parts, ".*") + ")$").MatchString(output)
}

func consoles(t *testing.T, doc string) (sessions []session) {
	t.Helper()
	f, err := os.Open(doc)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	inside := false
	in := bufio.NewScanner(f)
	for n := 1; in.Scan(); n++ {
		line := in.Text()
		switch {
		case line == "```console":
			inside = true
			sessions = append(sessions, session{line: n})
		case line == "```":
			inside = false
		case inside:
			sessions[len(sessions)-1].add(line)
		}
	}
	return sessions
}

func (s *session) add(line string) {
	if typed, ok := strings.CutPrefix(line, "$ "); ok {
		s.commands = append(s.commands, command{line: typed})
		return
	}
	if len(s.commands) == 0 {
		return
	}
	last := &s.commands[len(s.commands)-1]
	if more, ok := strings.CutPrefix(line, "> "); ok && last.output == "" {
		last.line += "\n" + more
		return
	}
	last.output += line + "\n"
}

// TestDocumentThatLiesIsCaught proves that a wrong document fails the test.
func TestDocumentThatLiesIsCaught(t *testing.T) {
	for _, test := range []struct {
		document, output string
		want             bool
	}{
		{"a\nb\n", "a\nb\n", true},
		{"a\n…\nc\n", "a\nb\nb\nc\n", true},
		{"a\n…\n", "a\n", true},
		{"a\n", "a\nb\n", false},
		{"a.c\n", "abc\n", false},
		{"a\n…\nc\n", "a\nb\n", false},
	} {
		if got := matches(test.document, test.output); got != test.want {
			t.Errorf("%q against %q is %v", test.document, test.output, got)
		}
	}
}

// TestWorkflowsWork: the workflows in docs/ci.md are YAML, and mem knows every command and
// flag in them.
func TestWorkflowsWork(t *testing.T) {
	bin, dir := build(t), checkout(t)
	workflows := regexp.MustCompile("(?s)\n```yaml\n(.*?)```\n").FindAllStringSubmatch(text(t, "docs/ci.md"), -1)
	mem := regexp.MustCompile(`(?m)^ *- (?:run: )?(mem .*)$`)
	for _, w := range workflows {
		var parsed map[string]any
		if err := yaml.Unmarshal([]byte(w[1]), &parsed); err != nil {
			t.Errorf("%v in\n%s", err, w[1])
		}
		commands := mem.FindAllStringSubmatch(w[1], -1)
		if len(commands) != 2 {
			t.Errorf("found %d commands in\n%s", len(commands), w[1])
		}
		for _, c := range commands {
			if out := output(t, dir, bin, c[1]+" --help"); !strings.Contains(out, "Usage:") {
				t.Errorf("%s: %s", c[1], out)
			}
		}
	}
	if len(workflows) != 2 {
		t.Errorf("found %d workflows, want two", len(workflows))
	}
}

// TestPackagingWorks: the action and the hooks are YAML, and mem knows every command and flag in them;
// the image is built with a target that exists.
func TestPackagingWorks(t *testing.T) {
	bin, dir := build(t), checkout(t)
	for file, least := range map[string]int{"action.yml": 2, ".pre-commit-hooks.yaml": 2} {
		var parsed any
		if err := yaml.Unmarshal([]byte(text(t, file)), &parsed); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		commands := regexp.MustCompile(`(?m)^ *(?:entry: )?(mem (?:eval|golden diff)[^|\n]*)`).FindAllStringSubmatch(text(t, file), -1)
		if len(commands) < least {
			t.Errorf("%s: %d commands, want at least %d", file, len(commands), least)
		}
		for _, c := range commands {
			if out := output(t, dir, bin, "SPECS=experiments ARGS= BASELINE=; "+c[1]+" --help"); !strings.Contains(out, "Usage:") {
				t.Errorf("%s: %s: %s", file, c[1], out)
			}
		}
	}
	if make := text(t, "Makefile"); !strings.Contains(make, "\ndist:") || !strings.Contains(text(t, "Containerfile"), "make dist TARGETS=") {
		t.Error("the Containerfile does not make dist")
	}
}

// TestContributingNamesWhatExists: the recipes are about files and folders that are there.
func TestContributingNamesWhatExists(t *testing.T) {
	text, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	links := regexp.MustCompile(`\]\(([^)]+)\)`).FindAllStringSubmatch(string(text), -1)
	if len(links) < 10 {
		t.Errorf("%d links: the recipes name no files", len(links))
	}
	for _, link := range links {
		if _, err := os.Stat(link[1]); err != nil {
			t.Errorf("CONTRIBUTING.md names %s: %v", link[1], err)
		}
	}
}
