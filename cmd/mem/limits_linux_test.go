package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	limitSession = `{"role": "user", "text": "Set up staging."}` + "\n" + `{"role": "tool", "text": "port 6391", "id": "r17"}` + "\n"
	limitHead    = "experiment: x\nqueries: [{id: q, text: \"Which port?\", evidence: [r17]}]\n"
	limitCorpus  = "corpora: [{id: c, path: c.jsonl, chunk: {records: 1}}]\n"
	limitModel   = "models: [{id: m, policy: oracle}]\n"
)

func repeated(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// writeLong writes a string of 100 MB in pieces: the system counts what a process holds when it
// starts another one as the other one's peak.
func writeLong(t *testing.T, path, head, tail string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fmt.Fprint(f, head)
	for range 100 {
		fmt.Fprint(f, strings.Repeat("a", 1_000_000))
	}
	if _, err := fmt.Fprint(f, tail); err != nil {
		t.Fatal(err)
	}
}

// limitFiles are inputs without an end, or far larger than any that is meant.
func limitFiles() map[string]string {
	spec := limitHead + limitCorpus
	synth := func(fields string) string {
		return "experiment: x\ncorpora: [{id: n, synth: {task: niah_single_1, seed: 7, " + fields + "}}]\n" + limitModel
	}
	return map[string]string{
		"c.jsonl":             limitSession,
		"good.yaml":           spec + limitModel,
		"runs.yaml":           spec + "trials: 10000\nmodels:\n" + repeated(101, "  - {id: m%d, policy: oracle}\n"),
		"template.yaml":       spec + limitModel + "prompt: {template: /dev/zero}\n",
		"tokenizer.yaml":      spec + limitModel + "tokenizer: {file: /dev/zero}\n",
		"corpus-zero.yaml":    strings.Replace(spec, "c.jsonl", "/dev/zero", 1) + limitModel,
		"corpus-pipe.yaml":    strings.Replace(spec, "c.jsonl", "pipe", 1) + limitModel,
		"corpus-folder.yaml":  strings.Replace(spec, "c.jsonl", ".", 1) + limitModel,
		"corpus-string.yaml":  strings.Replace(spec, "c.jsonl", "string.jsonl", 1) + limitModel,
		"script-zero.yaml":    spec + "models: [{id: m, script: /dev/zero}]\n",
		"script-keys.yaml":    spec + "models: [{id: m, script: keys.yaml}]\n",
		"script-entries.yaml": spec + "models: [{id: m, script: entries.yaml}]\n",
		"labels-pipe.yaml":    "experiment: x\ncorpora: [{id: c, path: c.jsonl, labels: pipe}]\n" + limitModel,
		"keys.yaml":           repeated(1_000_000, "k%d: 1\n"),
		"entries.yaml":        "turns: [" + strings.Repeat("{},", 300_000) + "{}]\n",
		"models.yaml":         "experiment: x\nmodels: [" + strings.Repeat("{},", 340_000) + "{}]\n",
		"tokens.yaml":         synth("tokens: 1000000000, samples: 1000"),
		"samples.yaml":        synth("tokens: 1000000000, samples: 1000000"),
		"length.yaml":         synth("tokens: 2000000000"),
		"x/summary.json":      `{"schema": 3, "runs": [` + strings.Repeat("{},", 300_000) + "{}]}",
	}
}

// TestLimits: what has no end, or is larger than a limit, is refused at once, with what was found
// and what is allowed, and without memory of its size.
func TestLimits(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "x"), 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range limitFiles() {
		write(t, filepath.Join(dir, name), text)
	}
	writeLong(t, filepath.Join(dir, "string.yaml"), `experiment: "`, "\"\n")
	writeLong(t, filepath.Join(dir, "string.jsonl"), `{"role": "user", "text": "`, "\"}\n")
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o666); err != nil {
		t.Fatal(err)
	}
	const (
		device = "/dev/zero: is a device, want a regular file"
		pipe   = "pipe: is a pipe, want a regular file, or - for standard input where a command takes it"
	)
	for _, c := range []struct{ args, want string }{
		{"plan runs.yaml", "found 1010000 runs (questions of sessions: 1, levels: 1, models: 101, exit settings: 1, trials: 10000), want at most 1000000"},
		{"eval runs.yaml --list", "want at most 1000000"},
		{"plan template.yaml", "prompt.template: " + device},
		{"plan tokenizer.yaml", "tokenizer: " + device},
		{"plan corpus-zero.yaml", "corpora[0].path: " + device},
		{"plan corpus-pipe.yaml", "corpora[0].path: " + pipe},
		{"plan corpus-folder.yaml", "corpora[0].path: .: is a directory, want a regular file"},
		{"plan corpus-string.yaml", "string.jsonl:1:1: the line is over 16 MiB, the longest that is read"},
		{"plan script-zero.yaml", device},
		{"plan script-keys.yaml", "found 2000000 line ends, commas and colons, want at most 1000000"},
		{"plan script-entries.yaml", "turns: found a list of 300001, want a list of at most 10000"},
		{"plan labels-pipe.yaml", pipe},
		{"plan keys.yaml", "keys.yaml: found 10888890 bytes, want at most 1048576"},
		{"plan models.yaml", "found more than 1000 errors: the rest of the file was not checked"},
		{"plan string.yaml", "string.yaml: found 100000015 bytes, want at most 1048576"},
		{"plan tokens.yaml", "found 1000000000000 in all, with 1000 samples of a length, want at most 1073741824"},
		{"plan samples.yaml", "found 1000000, want at most 100000"},
		{"plan length.yaml", "each from 1 to 1073741824"},
		{"plan pipe", pipe},
		{"eval /dev/zero", device},
		{"judge pipe", pipe},
		{"ping pipe", pipe},
		{"golden diff pipe", pipe},
		{"budget pipe", pipe},
		{"report x", "x/summary.json: found 300002 objects, want at most 250000"},
		{"verify pipe", pipe},
		{"verify . --tokenizer /dev/zero", device},
		{"prompt --spec good.yaml --project c --query q --chunk 2 --memory /dev/zero", device},
		{"corpus stats pipe", pipe},
		{"corpus check /dev/zero", device},
		{"corpus label pipe --query q --text x --answer 6", pipe},
		{"corpus import --from openai-chat /dev/zero --out y", device},
		{"corpus import --from openai-chat pipe --out y", pipe},
		{"corpus import --from openai-chat string.jsonl --out y", "an element is over 16 MiB, the longest that is read"},
		{"corpus synth --task niah_single_1 --tokens 1000000000 --samples 3 --out y", "want at most 1073741824"},
	} {
		t.Run(c.args, func(t *testing.T) { refused(t, dir, c.args, c.want) })
	}
}

// refused measures the time of the processor: a busy machine takes much longer.
func refused(t *testing.T, dir, args, want string) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "mem", strings.Fields(args)...)
	cmd.Dir = dir
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Run()
	if code := cmd.ProcessState.ExitCode(); code != exitUsage {
		t.Fatalf("exit code %d, want %d: %v\n%.500s", code, exitUsage, err, &said)
	}
	if !strings.Contains(said.String(), want) {
		t.Errorf("it says\n%.500s\nwant %q", &said, want)
	}
	peak := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10
	if peak > 500 {
		t.Errorf("it takes %d MiB, want at most 500", peak)
	}
	took := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if took > 2*time.Second {
		t.Errorf("it takes %v of a processor, want less than a second", took)
	}
	t.Logf("%.2f s, %d MiB", took.Seconds(), peak)
}

// TestAMillionRunsAreListed, the most that a matrix may have, of whatever shape, within the memory
// of any command.
func TestAMillionRunsAreListed(t *testing.T) {
	const (
		query  = "queries: [{id: q, text: \"Which port?\"}]\n"
		chunks = ", path: c.jsonl, chunk: {records: 1}}"
		live   = "  - {id: m%d, live: {base_url: 'http://127.0.0.1:9/v1', model: m}}\n"
	)
	models := "models:\n" + repeated(100, "  - {id: m%d, policy: oracle}\n")
	for _, shape := range []struct {
		name, flag, spec string
		runs             int
	}{
		{"trials", "--list", "corpora: [{id: a" + chunks + "]\ntrials: 10000\n" + query + models, 1_000_000},
		{"memories", "--list", "corpora: [{id: a" + chunks + ", {id: b" + chunks + "]\nlevels: [L1, L2]\ntrials: 3330\n" + query + models, 999_000},
		{"replays", "--dry-run", "corpora: [{id: a" + chunks + "]\nlevels: [L1, L2]\nexit_gate: [record, enforce]\ntrials: 2500\n" + query + "models:\n" + repeated(100, live), 1_000_000},
		{"questions", "--list", "corpora: [{id: a" + chunks + "]\nqueries:\n" + repeated(10_000, "  - {id: q%d, text: \"Which port?\"}\n") + models, 1_000_000},
	} {
		t.Run(shape.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "c.jsonl"), limitSession)
			write(t, filepath.Join(dir, "runs.yaml"), "experiment: x\n"+shape.spec)
			cmd := exec.CommandContext(t.Context(), "mem", "eval", "runs.yaml", shape.flag)
			cmd.Dir = dir
			var lines lineCounter
			cmd.Stdout, cmd.Stderr = &lines, os.Stderr
			if err := cmd.Run(); err != nil {
				t.Fatal(err)
			}
			if int(lines) < shape.runs+3 {
				t.Errorf("%d lines, want one for each run and three above them", lines)
			}
			if peak := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10; peak > 500 {
				t.Errorf("it takes %d MiB, want at most 500", peak)
			}
		})
	}
}

type lineCounter int

func (c *lineCounter) Write(p []byte) (int, error) {
	*c += lineCounter(bytes.Count(p, []byte("\n")))
	return len(p), nil
}
