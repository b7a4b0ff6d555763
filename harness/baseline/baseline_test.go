package baseline_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/poimen-memory/mem/harness/baseline"
	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/result"
)

func judged(t *testing.T, b baseline.Folder, partly bool) (check.Status, string) {
	t.Helper()
	var out bytes.Buffer
	r := &result.Result{Experiment: "x", Spec: "x.yaml"}
	if err := b.Judge(&out, r, partly); err != nil {
		t.Fatal(err)
	}
	if len(r.Checks) == 0 {
		return "", out.String()
	}
	return r.Checks[0].Status, out.String()
}

// TestUpdateMakesTheCountsTheBaseline, writes no file that holds them already, and a changed
// file fails.
func TestUpdateMakesTheCountsTheBaseline(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	file := filepath.Join(dir, "x.jsonl")
	b := baseline.Folder{Dir: dir}
	if status, _ := judged(t, b, false); status != check.Fail {
		t.Errorf("without a file: %q, want %q", status, check.Fail)
	}
	b.Update = true
	if status, out := judged(t, b, false); status != "" || out != file+": written\n" {
		t.Errorf("update: %q, %q", status, out)
	}
	if _, out := judged(t, b, false); out != "" {
		t.Errorf("a second update says %q", out)
	}
	b.Update = false
	if status, _ := judged(t, b, false); status != check.Pass {
		t.Errorf("after the update: %q, want %q", status, check.Pass)
	}
	if err := os.WriteFile(file, []byte("{}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if status, _ := judged(t, b, false); status != check.Fail {
		t.Errorf("a changed file: %q, want %q", status, check.Fail)
	}
}

// TestPartialResultsAreNotCompared: a selection, or what was interrupted.
func TestPartialResultsAreNotCompared(t *testing.T) {
	b := baseline.Folder{Dir: t.TempDir()}
	if status, _ := judged(t, b, true); status != check.Skip {
		t.Errorf("a selection: %q, want %q", status, check.Skip)
	}
	r := &result.Result{Experiment: "x", Runs: []result.Run{{}}}
	r.Runs[0].State = record.Interrupted
	if err := b.Judge(nil, r, false); err != nil || r.Checks[0].Status != check.Skip {
		t.Errorf("an interrupted run: %v, %v, want %q", r.Checks, err, check.Skip)
	}
	if status, _ := judged(t, baseline.Folder{}, false); status != "" {
		t.Errorf("without a folder: %q, want no check", status)
	}
}
