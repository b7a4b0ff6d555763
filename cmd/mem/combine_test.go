package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// outcomes are specs by what evaluating one alone comes to. Each has its own script, and
// none shares a part with another.
var outcomes = []struct {
	name, models, rest, script string
	code                       int
}{
	{"passed", "[{id: m, script: passed-script.yaml}]", "expect: [{chunks_used: 0}]", "default: {check: no, next: continue}\n", 0},
	{"failed", "[{id: m, script: failed-script.yaml}]", "expect: [{chunks_used: 9}]", "default: {check: no, next: continue}\n", 1},
	{"misconfigured", "[{id: m, script: misconfigured-script.yaml}]", "", "turns: [{turn: 1, check: no, next: continue}]\n", 2},
	{"incomplete", "[{id: m, script: incomplete-script.yaml}]", "", "default: {error: refused}\n", 3},
	{"undecided", "[{id: m, policy: oracle}]", "decision: {id: D, for: {models: [m]}}", "", 4},
	{"invalid", "[{id: m, policy: oracle}]", "expect: [{chunks_used: none}]", "", 2},
}

// TestExitCodes evaluates every set of specs, from the first to the last and from the last
// to the first: the code is the same, the first of 2, 3, 1 and 4 that is due.
func TestExitCodes(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "s.jsonl"), `{"role": "tool", "id": "r1", "text": "Redis"}`+"\n"+`{"role": "tool", "id": "r2", "text": "Kafka"}`+"\n")
	for _, o := range outcomes {
		write(t, filepath.Join(dir, o.name+"-script.yaml"), o.script)
		write(t, filepath.Join(dir, o.name+".yaml"), fmt.Sprintf(`experiment: %s
corpora: [{id: s, path: s.jsonl, chunk: {records: 1}}]
queries: [{id: q, text: "Which port?", evidence: [r1]}, {id: p, text: "Which host?", evidence: [r2]}]
models: %s
%s
`, o.name, o.models, o.rest))
	}
	for set := 1; set < 1<<len(outcomes); set++ {
		var names []string
		due := map[int]bool{}
		for i, o := range outcomes {
			if set&(1<<i) != 0 {
				names = append(names, o.name)
				due[o.code] = true
			}
		}
		want := 0
		for _, code := range []int{4, 1, 3, 2} {
			if due[code] {
				want = code
			}
		}
		for range 2 {
			if got, said := evaluate(t, dir, names); got != want {
				t.Errorf("%s: exit code %d, want %d\n%s", names, got, want, said)
			}
			slices.Reverse(names)
		}
	}
}

// evaluate gives the exit code, and what was printed. A spec that is wrong means that
// nothing ran.
func evaluate(t *testing.T, dir string, names []string) (int, string) {
	out := t.TempDir()
	args := []string{"eval", "--out", filepath.Join(out, "reports")}
	for _, name := range names {
		args = append(args, filepath.Join(dir, name+".yaml"))
	}
	var said bytes.Buffer
	code := execute(t.Context(), args, strings.NewReader(""), &said, &said)
	left, err := filepath.Glob(filepath.Join(out, "reports", "*"))
	if err != nil {
		t.Fatal(err)
	}
	if want := len(names); !slices.Contains(names, "invalid") && len(left) != want || slices.Contains(names, "invalid") && len(left) > 0 {
		t.Errorf("%s: %d experiments left reports", names, len(left))
	}
	return code, said.String()
}
