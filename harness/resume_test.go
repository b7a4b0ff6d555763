package harness_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/run"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/journal"
	"github.com/poimen-memory/mem/scripted/fakeserver"
)

// edit changes the first old of a file to now.
func edit(t *testing.T, path, old, now string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), old) {
		t.Fatalf("%s holds no %s: %v", path, old, err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), old, now, 1)), 0o666); err != nil {
		t.Fatal(err)
	}
}

const oneLive = `
experiment: one
corpora: [{id: s, path: s.jsonl, chunk: {records: 1}}]
queries: [{id: q, text: "Which port?"}]
models: [{id: m, live: {base_url: "http://localhost/v1", model: m, seed: 7}}]
checks: {tokenizer: {max_undercount: 1}}
`

// TestChangedJournalIsNeitherLostNorAskedAgain: what was paid for stays as it is, though it
// cannot be read, and the place of the change is named.
func TestChangedJournalIsNeitherLostNorAskedAgain(t *testing.T) {
	for name, test := range map[string]struct{ old, now, says string }{
		"a call":     {`"reply"`, `"rezly"`, "calls.jsonl:2: "},
		"the header": {"{\"schema\"", "[\"schema\"", "calls.jsonl:1: "},
		"a prompt":   {"[tool] a", "[tool] x", "calls.jsonl:2: its digest is of another request"},
	} {
		path := filepath.Join(write(t, map[string]string{"one.yaml": oneLive, "s.jsonl": jsonl("a", "b", "c")}), "one.yaml")
		server, out := serve(t, nil), t.TempDir()
		eval(t, liveConfig(t, server, out), path)
		calls := filepath.Join(out, "one/runs/s/q/L1/m/record/calls.jsonl")
		edit(t, calls, test.old, test.now)
		before, asked := tree(t, out)["one/runs/s/q/L1/m/record/calls.jsonl"], server.Requests()

		e, err := prepare(t, liveConfig(t, server, out), path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "holds live results") {
			t.Errorf("%s: without --resume: %v", name, err)
		}
		cfg := liveConfig(t, server, out)
		cfg.Run.Resume = true
		r := eval(t, cfg, path)
		if run := r.Runs[0]; run.State != record.Misconfigured || !strings.Contains(run.Reason, test.says) {
			t.Errorf("%s: the run is %s: %s; want %s", name, run.State, run.Reason, test.says)
		}
		if after := tree(t, out)["one/runs/s/q/L1/m/record/calls.jsonl"]; after != before || server.Requests() != asked {
			t.Errorf("%s: %d requests more; the journal is\n%s", name, server.Requests()-asked, after)
		}
	}
}

// TestResumeStoppedInItsReplayLeavesItsLogAhead: that is no failure of the log.
func TestResumeStoppedInItsReplayLeavesItsLogAhead(t *testing.T) {
	path := filepath.Join(write(t, map[string]string{"one.yaml": oneLive, "s.jsonl": jsonl("a", "b", "c", "d")}), "one.yaml")
	out := t.TempDir()
	undisturbed := eval(t, liveConfig(t, serve(t, nil), out), path)
	journal := filepath.Join(out, "one/runs/s/q/L1/m/record/calls.jsonl")
	whole := read(t, journal)
	last := bytes.LastIndexByte(whole[:len(whole)-1], '\n') + 1
	if err := os.WriteFile(journal, whole[:last], 0o666); err != nil { // as if it were killed at its end
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cfg := liveConfig(t, serve(t, nil), out)
	cfg.Run.Resume = true
	cfg.Run.Progress = func(p run.Progress) {
		if p.Turns == 2 {
			cancel()
		}
	}
	e, err := prepare(t, cfg, path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Run(ctx)
	if err != nil || r.Runs[0].State != record.Interrupted || r.Runs[0].ChunksSeen != 4 {
		t.Fatalf("%v, want an interrupt, and the four turns of the log: %+v", err, r.Runs[0])
	}
	if said := failures(r); said != "" {
		t.Errorf("an interrupt fails:\n%s", said)
	}
	cfg.Run.Progress = nil
	if again := eval(t, cfg, path); marshal(t, again) != marshal(t, undisturbed) {
		t.Errorf("resumed once more: %s", failures(again))
	}
}

// TestUsageCountsReplies: a call that brought none took no tokens that anybody could count.
func TestUsageCountsReplies(t *testing.T) {
	path := filepath.Join(write(t, map[string]string{"one.yaml": oneLive, "s.jsonl": jsonl("a", "b", "c")}), "one.yaml")
	server := serve(t, func(r fakeserver.Request) fakeserver.Fault {
		if r.N > 2 {
			return fakeserver.Status(400, fakeserver.VLLM)
		}
		return fakeserver.Fault{}
	})
	r := eval(t, liveConfig(t, server, t.TempDir()), path)
	if u := r.Usage[0]; u.Calls != 2 || u.Unmetered != 0 {
		t.Errorf("after two replies and a refusal usage is %+v", u)
	}
}

// TestScriptsOfOneNameAreToldApart, by what they say, and those of one text are not.
func TestScriptsOfOneNameAreToldApart(t *testing.T) {
	sha := func(script string) any {
		t.Helper()
		spec := strings.Replace(oneLive, `live: {base_url: "http://localhost/v1", model: m, seed: 7}`, "script: x.yaml", 1)
		spec = strings.Replace(spec, "checks: {tokenizer: {max_undercount: 1}}\n", "", 1)
		path := filepath.Join(write(t, map[string]string{"one.yaml": spec, "x.yaml": script, "s.jsonl": jsonl("a")}), "one.yaml")
		cfg := config(t)
		eval(t, cfg, path)
		h, err := journal.ReadHeader(filepath.Join(cfg.Out, "one/runs/s/q/L1/m/record/calls.jsonl"))
		if err != nil || h.Model["script"] != "x.yaml" {
			t.Fatalf("header is %+v, %v", h, err)
		}
		return h.Model["sha"]
	}
	const says = "default: {check: no, next: continue}\n"
	if sha(says) != sha(strings.ReplaceAll(says, "\n", "\r\n")) {
		t.Error("the ends of lines tell a script from itself")
	}
	if sha(says) == sha("default: {check: no, next: end}\n") {
		t.Error("two scripts have one name and one digest")
	}
}

// TestRepliesBytesAreReplayed: a recorded reply that is not UTF-8 fails in its own way
// when replayed too, by the run that enforces the exit gate.
func TestRepliesBytesAreReplayed(t *testing.T) {
	spec := strings.Replace(oneLive, "models:", "exit_gate: [record, enforce]\nmodels:", 1)
	path := filepath.Join(write(t, map[string]string{"one.yaml": spec, "s.jsonl": jsonl("a")}), "one.yaml")
	cfg := config(t)
	cfg.Run.Live = true
	cfg.Models = func(run.ModelFor) (loop.Model, error) {
		return sampled{modelFunc(func(context.Context, loop.Request) (loop.Completion, error) {
			return loop.Completion{Text: "<check>no</check>\xff<next>end</next>"}, nil
		})}, nil
	}
	eval(t, cfg, path)
	for _, exit := range []string{"record", "enforce"} {
		log := tree(t, cfg.Out)["one/runs/s/q/L1/m/"+exit+"/events.jsonl"]
		if want := `"kinds":["invalid_utf8","invalid_utf8","invalid_utf8"]`; !strings.Contains(log, want) {
			t.Errorf("%s: the log holds no %s:\n%s", exit, want, log)
		}
	}
}

// sampled is a live model without a server.
type sampled struct{ loop.Model }

func (sampled) Sampling() map[string]any { return map[string]any{"model": "m"} }
