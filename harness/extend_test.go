package harness_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/harness/run"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/scripted/fakeserver"
)

// grow appends records to a session of liveSpec.
func grow(t *testing.T, path string, texts ...string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(filepath.Dir(path), "a.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, text := range texts {
		if _, err := fmt.Fprintf(f, "{\"role\": \"tool\", \"text\": %q}\n", text); err != nil {
			t.Fatal(err)
		}
	}
}

// TestGrownSessionIsRefusedBeforeACall, by resuming and by judging, and stays as it was.
func TestGrownSessionIsRefusedBeforeACall(t *testing.T) {
	path, out := liveSpec(t, ""), t.TempDir()
	server := serve(t, nil)
	eval(t, liveConfig(t, server, out), path)
	grow(t, path, "a six")
	before, asked := tree(t, out), server.Requests()
	cfg := liveConfig(t, server, out)
	cfg.Run.Resume = true
	e, err := prepare(t, cfg, path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.Run(t.Context())
	grown, ok := errors.AsType[*run.GrownError](err)
	if !ok || len(grown.Grown) != 4 || !strings.Contains(err.Error(), "--live --resume --extend") {
		t.Errorf("resuming: error is %v, want one of 4 grown runs that names --live --resume --extend", err)
	}
	for _, g := range grown.Grown {
		if !strings.HasPrefix(g.Run, "a/") || g.Kept+g.Again < 1 {
			t.Errorf("%+v: want runs of session a", g)
		}
	}
	_, err = e.Experiment.Judge()
	if other, ok := errors.AsType[result.OtherRecords](err); !ok || len(other) < 4 {
		t.Errorf("judging: error is %v, want the records of session a refused", err)
	}
	if diff := cmp.Diff(before, tree(t, out)); diff != "" || server.Requests() != asked {
		t.Errorf("%d requests, want %d; the folder changed:\n%s", server.Requests(), asked, diff)
	}
}

// TestExtendedRunsEqualThoseOfTheGrownSession: logs, journals' replies and results are those
// of an evaluation that saw the grown session from the start, and nothing that was answered
// is asked again, with faults too, before and while it is extended.
func TestExtendedRunsEqualThoseOfTheGrownSession(t *testing.T) {
	whole, calm := liveSpec(t, ""), t.TempDir()
	grow(t, whole, "a six", "a port 6380 again")
	once, undisturbed := counted(nil)
	want := eval(t, liveConfig(t, serve(t, once), calm), whole)
	for name, faults := range map[string]fakeserver.Plan{
		"calm": nil, "faults": fakeserver.Random(3, 0.25, 3, fakeserver.Passing()...),
	} {
		t.Run(name, func(t *testing.T) {
			path, out := liveSpec(t, ""), t.TempDir()
			plan, answered := counted(faults)
			server := serve(t, plan)
			cfg := liveConfig(t, server, out)
			cfg.Run.Resume = true
			first := eval(t, cfg, path)
			if faults == nil && first.Count(record.Complete) != len(first.Runs) {
				t.Fatal("the evaluation is not complete")
			}
			before := maps.Clone(answered)
			grow(t, path, "a six", "a port 6380 again")
			cfg.Run.Extend = true
			got := eval(t, cfg, path)
			for n := 0; got.Count(record.Complete) < len(got.Runs); n++ {
				if got = eval(t, cfg, path); n > 100 {
					t.Fatalf("still not complete:\n%s", failures(got))
				}
			}
			if diff := cmp.Diff(eventLogs(t, calm), eventLogs(t, out)); diff != "" {
				t.Errorf("event logs (-grown from the start +extended):\n%s", diff)
			}
			of := func(r *result.Result, path string) string {
				return strings.ReplaceAll(marshal(t, r), filepath.Dir(path), "DIR")
			}
			if diff := cmp.Diff(of(want, whole), of(got, path)); diff != "" {
				t.Errorf("result (-grown from the start +extended):\n%s", diff)
			}
			wantOnlyNew(t, before, undisturbed, answered)
		})
	}
}

// wantOnlyNew wants no request to have been answered but those before the session grew, and of
// those of the grown session the ones that are not among them. Each counts how often a request
// is answered.
func wantOnlyNew(t *testing.T, before, grown, answered map[string]int) {
	t.Helper()
	want := maps.Clone(before)
	for body, n := range grown {
		want[body] = max(want[body], n)
	}
	for body, n := range want {
		if answered[body] != n {
			t.Errorf("a request was answered %d times, want %d: %.200s", answered[body], n, body)
		}
	}
	if len(answered) != len(want) {
		t.Errorf("%d different requests were answered, want %d", len(answered), len(want))
	}
}

// TestExtendKilledAnywhere: whichever of its files extending has written when it is killed, and
// in the middle of the calls after it, the records are extended again. Only what is new is
// asked.
func TestExtendKilledAnywhere(t *testing.T) {
	whole := liveSpec(t, "")
	grow(t, whole, "a six", "a port 6380 again")
	once, undisturbed := counted(nil)
	calm := t.TempDir()
	eval(t, liveConfig(t, serve(t, once), calm), whole)

	path, original := liveSpec(t, ""), t.TempDir()
	plan, first := counted(nil)
	eval(t, liveConfig(t, serve(t, plan), original), path)
	grow(t, path, "a six", "a port 6380 again")
	complete, extended := tree(t, original), extendedOnly(t, path, original)
	for _, file := range []string{record.Calls, record.Events} {
		if _, ok := extended["live/runs/a/port/L1/m/record/t1/"+file+".cut-1"]; !ok {
			t.Fatalf("no %s.cut-1 in %v", file, slices.Sorted(maps.Keys(extended)))
		}
	}

	files := []string{record.Calls + ".cut-1", record.Events + ".cut-1", record.Events, record.Calls}
	for n := range 1 << len(files) {
		var written []string
		for i, file := range files {
			if n>>i&1 == 1 {
				written = append(written, file)
			}
		}
		for _, stop := range []int{0, 2} { // after so many calls of a run; 0: never
			out := t.TempDir()
			layOut(t, out, complete, extended, written)
			plan, after := counted(nil)
			server := serve(t, plan)
			cfg := liveConfig(t, server, out)
			cfg.Run.Resume, cfg.Run.Extend = true, true
			if stop > 0 {
				stopped := cfg
				stopped.Models = stoppingAfter(cfg.Models, stop)
				eval(t, stopped, path)
			}
			if got := eval(t, cfg, path); got.Count(record.Complete) != len(got.Runs) {
				t.Fatalf("%v written, stopped after %d calls:\n%s", written, stop, failures(got))
			}
			if diff := cmp.Diff(eventLogs(t, calm), eventLogs(t, out)); diff != "" {
				t.Errorf("%v written, stopped after %d calls: event logs (-grown from the start +extended):\n%s", written, stop, diff)
			}
			answered := maps.Clone(first)
			for body, n := range after {
				answered[body] += n
			}
			wantOnlyNew(t, first, undisturbed, answered)
		}
	}
}

// stoppingAfter makes models that are not asked after so many calls.
func stoppingAfter(models func(run.ModelFor) (loop.Model, error), calls int) func(run.ModelFor) (loop.Model, error) {
	return func(m run.ModelFor) (loop.Model, error) {
		model, err := models(m)
		return &stopping{model, calls + 1}, err
	}
}

// extendedOnly are the files below original after extending it, before a call.
func extendedOnly(t *testing.T, path, original string) map[string]string {
	t.Helper()
	out := t.TempDir()
	layOut(t, out, tree(t, original), nil, nil)
	cfg := liveConfig(t, serve(t, nil), out)
	cfg.Run.Resume, cfg.Run.Extend = true, true
	cfg.Models = stoppingAfter(cfg.Models, 0)
	eval(t, cfg, path)
	files := tree(t, out)
	for name, text := range files {
		if filepath.Base(name) == record.Calls {
			files[name], _, _ = strings.Cut(text, `{"end":`)
		}
	}
	return files
}

// layOut writes files to dir, in the versions of changed for the runs of session a that have
// the exit gate recorded, where their names are among written.
func layOut(t *testing.T, dir string, files, changed map[string]string, written []string) {
	t.Helper()
	files = maps.Clone(files)
	for name, text := range changed {
		if strings.Contains(name, "/runs/a/port/L1/m/record/") && slices.Contains(written, filepath.Base(name)) {
			files[name] = text
		}
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		writeFile(t, path, text)
	}
}

// TestExtendKeepsWhatItReplaces: the calls and the end of a log that no longer hold stand
// beside the record.
func TestExtendKeepsWhatItReplaces(t *testing.T) {
	path, out := liveSpec(t, ""), t.TempDir()
	cfg := liveConfig(t, serve(t, nil), out)
	eval(t, cfg, path)
	a := filepath.Join(out, "live/runs/a/port/L1/m/record/t1")
	calls, err := os.ReadFile(filepath.Join(a, record.Calls))
	if err != nil {
		t.Fatal(err)
	}
	grow(t, path, "a six")
	cfg.Run.Resume, cfg.Run.Extend = true, true
	eval(t, cfg, path)
	cut, err := os.ReadFile(filepath.Join(a, record.Calls+".cut-1"))
	if err != nil || !strings.HasSuffix(string(calls), string(cut)) || !strings.Contains(string(cut), `"state":"complete"`) {
		t.Errorf("calls.jsonl.cut-1: %v\n%s", err, cut)
	}
	log, err := os.ReadFile(filepath.Join(a, record.Events+".cut-1"))
	if err != nil || !strings.Contains(string(log), `"run_end"`) {
		t.Errorf("events.jsonl.cut-1: %v\n%s", err, log)
	}
}
