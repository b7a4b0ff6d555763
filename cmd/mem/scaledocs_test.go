package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// commandsIn are the commands of mem in a document about engines: of YAML, its strings and lists of
// words; of others, the lines.
func commandsIn(t *testing.T, path string) (commands []string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Ext(path) != ".yaml" {
		for _, found := range memCommand.FindAllStringSubmatch(string(data), -1) {
			commands = append(commands, found[1])
		}
		return commands
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	documents := 0
	for {
		var n yaml.Node
		if d.Decode(&n) != nil {
			break
		}
		documents++
		commands = append(commands, commandsBelow(&n)...)
	}
	if documents != 1+strings.Count(string(data), "\n---\n") {
		t.Errorf("%s: only %d documents can be read", path, documents)
	}
	return commands
}

var memCommand = regexp.MustCompile(`(?m)(?:^|[|'] ?|\d; do )(mem (?:eval|merge|judge) [^'|;\n]*)`)

func commandsBelow(n *yaml.Node) (commands []string) {
	if n.Kind == yaml.ScalarNode && strings.HasPrefix(n.Value, "mem ") {
		return []string{n.Value}
	}
	var words []string
	for _, c := range n.Content {
		commands = append(commands, commandsBelow(c)...)
		words = append(words, c.Value)
	}
	if n.Kind == yaml.SequenceNode && len(words) > 0 && words[0] == "mem" {
		return []string{strings.Join(words, " ")}
	}
	return commands
}

// engineVariables stand in documents for what an engine puts in their place.
var engineVariables = strings.NewReplacer("${{ matrix.shard }}/${{ strategy.job-total }}", "3/8", "{}/$shards", "3/8", "$i/3", "3/8", `"`, "")

var shellDefault = regexp.MustCompile(`\$\{\w+:?-([^}]*)\}`)

// TestScaleDocumentsNameCommandsThatExist: every command in the files for engines has flags
// that parse, and each file divides or judges something.
func TestScaleDocumentsNameCommandsThatExist(t *testing.T) {
	t.Setenv("CI_NODE_INDEX", "3")
	t.Setenv("CI_NODE_TOTAL", "8")
	files, err := filepath.Glob("../../docs/scale/*")
	if err != nil || len(files) < 6 {
		t.Fatal(files, err)
	}
	for _, path := range append(files, "../../docs/scale.md") {
		commands := commandsIn(t, path)
		if len(commands) == 0 {
			t.Errorf("%s has no command", path)
		}
		for _, text := range commands {
			if err := parses(text); err != nil {
				t.Errorf("%s: %s: %v", path, text, err)
			}
		}
	}
	for _, broken := range []string{"mem eval x.yaml --shart 1/2", "mem mergee a b", "mem eval x.yaml --shard 9/8", "mem merge a"} {
		if parses(broken) == nil {
			t.Errorf("%s: no error", broken)
		}
	}
}

// parses is the error of a command's words, without executing it.
func parses(text string) error {
	cmd, rest, err := rootCommand().Find(strings.Fields(engineVariables.Replace(shellDefault.ReplaceAllString(text, "$1")))[1:])
	if err != nil {
		return err
	}
	if !cmd.HasParent() || cmd.HasSubCommands() {
		return os.ErrNotExist
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return err
	}
	return cmd.ValidateArgs(cmd.Flags().Args())
}

// TestParallelScript executes the script for GNU parallel with a parallel that is a loop, which
// has the first shard fail once: it is started again.
func TestParallelScript(t *testing.T) {
	dir := t.TempDir()
	loop := `#!/bin/sh
# parallel --quote --retries N COMMAND…: one after the other
shift 3
while read i; do
  for word; do shift; set -- "$@" "$(printf %s "$word" | sed "s/{}/$i/")"; done
  [ $i = 1 ] && timeout 0.001 "$@"
  "$@" || exit 1
  for word; do shift; set -- "$@" "$(printf %s "$word" | sed "s,^$i/,{}/,")"; done
done
`
	if err := os.WriteFile(filepath.Join(dir, "parallel"), []byte(loop), 0o777); err != nil {
		t.Fatal(err)
	}
	program, err := exec.LookPath("mem")
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"docs/scale/parallel.sh", "3", filepath.Join(dir, "shards"), "experiments/first.yaml", "experiments/answers.yaml"},
		{program, "eval", "--out", filepath.Join(dir, "one"), "experiments/first.yaml", "experiments/answers.yaml"},
	} {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = "../.."
		cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	for _, name := range []string{"first", "answers"} {
		for _, report := range []string{"summary.json", "report.md", "report.html", "junit.xml"} {
			one, err := os.ReadFile(filepath.Join(dir, "one", name, report))
			if err != nil {
				t.Fatal(err)
			}
			if shards, err := os.ReadFile(filepath.Join(dir, "shards", name, report)); err != nil || !bytes.Equal(one, shards) {
				t.Errorf("%s of %s has other bytes: %v", report, name, err)
			}
		}
	}
}
