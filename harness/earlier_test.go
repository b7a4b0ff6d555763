package harness_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/harness/run"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/eventlog"
	"github.com/poimen-memory/mem/loop/openai"
)

// earlier is a copy of the records that schema 1 of journals, without chain and end, was
// written in: scripted runs at both levels and exit settings, a live run that is complete and
// one that was stopped after its first call.
func earlier(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/records-1")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestRecordsOfSchema1AreJudged as the version that wrote them judged them: 18 runs, 40 turns,
// 37 checks passed, 2 skipped.
func TestRecordsOfSchema1AreJudged(t *testing.T) {
	dir := earlier(t)
	r, err := judge(t, harness.Config{Out: dir}, filepath.Join(dir, "scripted.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	turns, passed, skipped := 0, 0, 0
	for _, run := range r.Runs {
		turns += run.ChunksSeen
	}
	for _, c := range r.Checks {
		passed += map[bool]int{true: 1}[c.Status == "pass"]
		skipped += map[bool]int{true: 1}[c.Status == "skip"]
	}
	if n := r.Count(record.Complete); n != 18 || turns != 40 || passed != 37 || skipped != 2 || result.Exit(r) != 0 {
		t.Errorf("%d runs complete, %d turns, %d checks passed, %d skipped, exit %d", n, turns, passed, skipped, result.Exit(r))
	}
}

// TestLiveRecordsOfSchema1AreResumed: only what is missing is asked for.
func TestLiveRecordsOfSchema1AreResumed(t *testing.T) {
	dir := earlier(t)
	path := filepath.Join(dir, "live.yaml")
	before, err := judge(t, harness.Config{Out: dir}, path)
	if err != nil {
		t.Fatal(err)
	}
	if result.Exit(before) != 3 || before.Runs[0].State != record.Complete || before.Runs[1].State != record.Incomplete || before.Runs[1].ChunksSeen != 1 {
		t.Errorf("judged: exit %d, %+v", result.Exit(before), before.Runs)
	}
	server := serve(t, nil)
	client, err := openai.New(openai.Config{BaseURL: server.BaseURL(), Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	cfg := harness.Config{Out: dir, Run: run.Config{Live: true, Resume: true}, Models: func(m run.ModelFor) (loop.Model, error) { return client.Trial(m.Cell.Trial), nil }}
	r := eval(t, cfg, path)
	if n := r.Count(record.Complete); n != 2 || server.Requests() != 2 || r.Runs[1].ChunksSeen != 3 {
		t.Errorf("%d runs complete after %d requests, want 2 after 2: %+v", n, server.Requests(), r.Runs)
	}
}

// TestRecordsOfSchema1AreVerified: they are said to be without a chain, and what their replies
// give is still compared with their logs.
func TestRecordsOfSchema1AreVerified(t *testing.T) {
	dir := earlier(t)
	e, err := prepare(t, harness.Config{Out: dir}, filepath.Join(dir, "live.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for run, want := range map[string]eventlog.State{
		"live/runs/a/first/L1/m/record": eventlog.Complete, "live/runs/a/second/L1/m/record": eventlog.Interrupted,
		"scripted/runs/a/port/L1/gates/enforce": eventlog.Complete, "scripted/runs/memories/port/L2/lexical/record": eventlog.Complete,
	} {
		v, err := record.Verify(filepath.Join(dir, filepath.FromSlash(run)), e.Plan.CountRendered)
		if err != nil || v.State != want || !strings.Contains(v.Note, "no chain") {
			t.Errorf("%s: %+v, %v, want %s without a chain", run, v, err, want)
		}
	}
	run := filepath.Join(dir, "live/runs/a/first/L1/m/record")
	calls := filepath.Join(run, record.Calls)
	writeFile(t, calls, strings.Replace(string(read(t, calls)), "<check>yes", "<check>no", 1))
	if v, err := record.Verify(run, e.Plan.CountRendered); err != nil || v.State != eventlog.Corrupt {
		t.Errorf("a changed reply: %+v, %v", v, err)
	}
}

// TestRecordsOfSchema1AreReplayed with the prompts that they were asked by.
func TestRecordsOfSchema1AreReplayed(t *testing.T) {
	dir := earlier(t)
	spec := string(read(t, filepath.Join(dir, "live.yaml")))
	at := strings.Index(spec, "models:")
	writeFile(t, filepath.Join(dir, "replayed.yaml"), strings.Replace(spec[:at], "live", "replayed", 1)+"models: [{id: m, replay: live}]\n")
	r := eval(t, config(t), filepath.Join(dir, "replayed.yaml"))
	if r.Runs[0].State != record.Complete || r.Runs[0].ChunksSeen != 3 || r.Runs[1].State != record.Incomplete || r.Runs[1].ChunksSeen != 1 {
		t.Errorf("%+v", r.Runs)
	}
}
