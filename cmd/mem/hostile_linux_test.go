package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/poimen-memory/mem/internal/printable"
)

// hostile is a path whose names move the cursor, turn the reading direction, and begin commands
// of a log.
const hostile = "::error::no/a\x1b[2K\x1b[31mb/x\u202egnp.\u2066y/line\n::error::no/##[error]no/\x9b31mz"

const hostileSpec = `experiment: x
corpora: [{id: c, path: c.jsonl, chunk: {records: 1}}]
queries: [{id: q, text: "Which port?", evidence: [r17]}]
models: [{id: m, policy: oracle}]
golden: [{file: golden.txt, query: q, corpus: c, turn: 1}]
`

// TestHostileNamesAreVisible: whatever the folders of specs, sessions and records are called, no command writes what a terminal or a log reader obeys.
func TestHostileNamesAreVisible(t *testing.T) {
	t.Setenv("CI", "")
	dir := filepath.Join(t.TempDir(), "w")
	name := hostile
	at := filepath.Join(dir, name)
	if err := os.MkdirAll(at, 0o777); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{
		"x.yaml": hostileSpec, "c.jsonl": limitSession, "golden.txt": name, "bad.yaml": "experiment: [" + name,
		"live.yaml": "experiment: y\nmodels: [{id: m, live: {base_url: \"http://127.0.0.1:9/v1\", model: m}}]\n", "chat.json": "[]",
	} {
		write(t, filepath.Join(at, file), text)
	}
	spec, out := name+"/x.yaml", name+"/out"
	for _, args := range [][]string{
		{"eval", spec, "--out", out}, {"eval", spec, "--out", out, "--list"}, {"eval", spec, "--out", out, "--dry-run"},
		{"eval", spec, "--out", spec}, {"eval", name + "/bad.yaml"}, {"eval", name}, {"eval", spec + name}, {"eval", spec, "--run", name},
		{"eval", spec, "--model", name}, {"eval", spec, "--by", name}, {"eval", spec, "--out", out, "--baseline", name + "/base", "--update-baseline"},
		{"eval", spec, "--out", out, "--junit", name + "/none/j.xml"}, {"judge", spec, "--out", out}, {"judge", spec, "--out", name + "/none"},
		{"verify", out}, {"verify", name}, {"verify", spec}, {"verify", name + "/none"}, {"repair", out}, {"repair", spec},
		{"report", out + "/x"}, {"report", name}, {"report", out + "/x", "--explain", name}, {"show", out + "/x"}, {"show", out + "/x", "q"},
		{"show", out + "/x", "q", "--turn", "1"}, {"show", out + "/x", name}, {"show", name}, {"compare", out + "/x", out + "/x"}, {"compare", name, name},
		{"compare", out + "/x", "model=" + name, "model=m"}, {"plan", name}, {"budget", spec}, {"budget", name},
		{"prompt", "--spec", spec, "--project", name, "--query", "q", "--chunk", "1"}, {"prompt", "--spec", spec, "--project", "c", "--query", "q", "--chunk", "2", "--run", name},
		{"prompt", "--spec", spec, "--project", "c", "--query", "q", "--chunk", "2", "--memory", name + "/none"}, {"prompt", "--project", name, "--query", name, "--chunk", "1"},
		{"golden", "diff", spec}, {"golden", "log", name}, {"golden", "update", spec, "--reason", name}, {"golden", "log", name}, {"golden", name},
		{"corpus", "check", name + "/c.jsonl"}, {"corpus", "check", name}, {"corpus", "stats", name + "/c.jsonl"}, {"corpus", "show", name + "/c.jsonl", "--chunk", "1"},
		{"corpus", "show", name}, {"corpus", "import", "--from", name, name + "/c.jsonl", "--out", name + "/i.jsonl"}, {"corpus", "import", "--from", "openai-chat", name + "/chat.json", "--out", name + "/i.jsonl"},
		{"corpus", "synth", "--task", "niah_single_1", "--tokens", "2000", "--out", name + "/s.jsonl"}, {"corpus", "label", name + "/c.jsonl", "--query", name, "--text", name, "--answer", "6391"},
		{"init", name + "/new"}, {"init", name}, {"ping", name + "/live.yaml"}, {"ping", spec}, {name}, {"help", name}, {"eval", "--" + name}, {"eval", "--parallel", name}, {"schema", name}, {"completion", name},
	} {
		_, stdout, stderr := mem(t, dir, args...)
		wantPrintable(t, strings.Join(args, " "), stdout)
		wantPrintable(t, strings.Join(args, " "), stderr)
	}
}

func wantPrintable(t *testing.T, command, text string) {
	t.Helper()
	for line := range strings.SplitSeq(text, "\n") {
		if shown := printable.Line(line); shown != line {
			t.Errorf("mem %q writes %q", command, line)
		}
		if strings.ContainsFunc(line, unicode.IsControl) {
			t.Errorf("mem %q writes a control character: %q", command, line)
		}
	}
}
