package timing_test

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/harness/atomicfile"
	"github.com/poimen-memory/mem/harness/models"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/render"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/harness/timing"
	"github.com/poimen-memory/mem/loop/openai"
)

// TestService: turns are replies to first attempts, whatever was given up or failed
// beside them, and a model that was asked nothing has no row.
func TestService(t *testing.T) {
	asked := models.Served{Model: "m", Stats: openai.Stats{
		Calls: 20, Failures: 3, ParseRetries: 2, Attempts: 25, Retries: 8, CompletionTokens: 600, Limit: 2,
		Latency:      openai.Latency{Count: 14, P50: time.Second, P95: 2 * time.Second},
		LimitHistory: []openai.LimitChange{{Limit: 8}, {Limit: 2}},
	}}
	got := timing.Session{Took: 2 * time.Minute, Models: []models.Served{asked, {Model: "idle"}}}.Service()
	want := []render.ServiceRow{{
		Model: "m", Calls: 14, P50: time.Second, P95: 2 * time.Second, TokensPerSecond: 5, TurnsPerMinute: 6, Retries: 8, Limit: 2, Most: 8,
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestSaveKeepsEarlierSessions when an evaluation resumes, and only then; a file of another
// schema holds none.
func TestSaveKeepsEarlierSessions(t *testing.T) {
	folder := record.Folder{Dir: t.TempDir()}
	save := func(program string, resumed bool, want ...string) {
		t.Helper()
		if err := timing.Save(atomicfile.Write, folder, timing.Session{Program: program}, resumed); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(folder.Path(record.Timing))
		if err != nil {
			t.Fatal(err)
		}
		var file struct{ Sessions []timing.Session }
		if err := json.Unmarshal(data, &file); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range file.Sessions {
			got = append(got, s.Program)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("sessions (-want +got):\n%s", diff)
		}
	}
	save("first", true, "first")
	save("second", true, "first", "second")
	save("third", false, "third")
	if err := os.WriteFile(folder.Path(record.Timing), []byte(`{"schema": 9, "sessions": [{"program": "later"}]}`), 0o666); err != nil {
		t.Fatal(err)
	}
	save("fourth", true, "fourth")
}

// TestSessionListsRunsThatTookPlace, in the order of the result.
func TestSessionListsRunsThatTookPlace(t *testing.T) {
	var w timing.Stopwatch
	w.Timed("x/b", time.Second)
	w.Timed("x/a", time.Minute)
	w.Timed("y/c", time.Hour)
	r := &result.Result{Experiment: "x", Runs: []result.Run{{}, {}, {}}}
	for i, name := range []string{"a", "b", "c"} {
		r.Runs[i].Name = name
	}
	s := w.Session("v1", r, time.Now(), nil)
	want := []timing.Run{{Name: "a", Took: time.Minute}, {Name: "b", Took: time.Second}}
	if diff := cmp.Diff(want, s.Runs); diff != "" || s.Program != "v1" {
		t.Errorf("program %s, runs (-want +got):\n%s", s.Program, diff)
	}
}
