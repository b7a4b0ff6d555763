package harness_test

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/forecast"
	"github.com/poimen-memory/mem/harness/merge"
	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/harness/shard"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/scripted/fakeserver"
)

var allShards = flag.Bool("shards", false, "TestShardsLeaveTheRecordsOfOneMachine divides all experiments, not the small ones")

func everyRun(*plan.Run) bool { return true }

// separated are the runs that are in another shard than a run that they rest on.
func separated(p *plan.Plan, of func(*plan.Run) int) (names []string) {
	byName := map[string]*plan.Run{}
	for _, r := range p.Runs {
		byName[r.Name] = r
	}
	for _, r := range p.Runs {
		for _, source := range append(slices.Clone(r.Sources), r.ReplayOf) {
			if source != "" && of(byName[source]) != of(r) {
				names = append(names, r.Name)
				break
			}
		}
	}
	return names
}

func loadSpecs(t *testing.T, paths ...string) (specs []*spec.Spec) {
	t.Helper()
	for _, path := range paths {
		s, err := spec.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		specs = append(specs, s)
	}
	return specs
}

// TestRunsThatRestOnEachOtherStayTogether, in divisions of any number. A division that separates
// an enforced run from the recorded one, or an L2 run from its L1 runs, is found.
func TestRunsThatRestOnEachOtherStayTogether(t *testing.T) {
	e, err := prepare(t, liveConfig(t, serve(t, nil), t.TempDir()), liveSpec(t, ""))
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 20; n++ {
		d := shard.Divide([]*plan.Plan{e.Plan}, everyRun, n)
		if names := separated(e.Plan, d.Of); names != nil {
			t.Errorf("%d shards: %v are apart from what they rest on", n, names)
		}
	}
	enforced := func(r *plan.Run) int { return map[bool]int{true: 2}[r.ReplayOf != ""] }
	level2 := func(r *plan.Run) int { return int(r.Level) }
	for name, broken := range map[string]func(*plan.Run) int{"enforced runs apart": enforced, "L2 runs apart": level2} {
		if names := separated(e.Plan, broken); len(names) == 0 {
			t.Errorf("%s: not found", name)
		}
	}
}

// TestEnforcedRunApartFromItsRecordedRunIsIncomplete: a shard that has the one without the other
// could only ask for everything again.
func TestEnforcedRunApartFromItsRecordedRunIsIncomplete(t *testing.T) {
	cfg := liveConfig(t, serve(t, nil), t.TempDir())
	e, err := prepare(t, cfg, liveSpec(t, ""))
	if err != nil {
		t.Fatal(err)
	}
	e.Narrow(func(r *plan.Run) bool { return r.ReplayOf != "" && r.Level == 1 })
	runs, err := e.ExecuteShare(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if code := harness.ShareExit(runs); code != 3 || len(runs) == 0 {
		t.Errorf("exit code %d of %d runs, want 3", code, len(runs))
	}
}

// smallestPossible bounds from below what the costliest of n shards has in any division: the
// largest group, the mean, and what k of the (k-1)n+1 largest groups have that must meet.
func smallestPossible(groups []int, n int) int {
	slices.SortFunc(groups, func(a, b int) int { return b - a })
	sum, bound := 0, 0
	for i, cost := range groups {
		sum += cost
		if i%n == 0 {
			k, least := i/n+1, 0
			for _, c := range groups[i+1-k : i+1] {
				least += c
			}
			bound = max(bound, least)
		}
	}
	return max(bound, (sum+n-1)/n)
}

// TestShardsAreBalanced: no shard has more than 1.1 times the mean, unless any division has one
// that does. The division does not depend on the order of the specs.
func TestShardsAreBalanced(t *testing.T) {
	paths, err := filepath.Glob(experiments + "*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	all, err := harness.Prepare(t.Context(), config(t), loadSpecs(t, paths...))
	if err != nil {
		t.Fatal(err)
	}
	var plans []*plan.Plan
	for _, e := range all {
		plans = append(plans, e.Plan)
	}
	reversed := slices.Clone(plans)
	slices.Reverse(reversed)
	sets := map[string][]*plan.Plan{"all": plans}
	for _, p := range plans {
		sets[p.Spec.Experiment.Value] = []*plan.Plan{p}
	}
	for name, set := range sets {
		apart := shard.Divide(set, everyRun, 1_000_000/10) // one group each
		var groups []int
		for _, cost := range apart.Costs {
			if cost > 0 {
				groups = append(groups, cost)
			}
		}
		total := 0
		for p := range forecast.Runs(set...) {
			total += p.Prompt + p.Completion
		}
		for _, n := range []int{1, 2, 3, 7, 50} {
			d := shard.Divide(set, everyRun, n)
			sum := 0
			for _, cost := range d.Costs {
				sum += cost
			}
			if sum != total {
				t.Errorf("%s, %d shards: they have %d tokens, the plans %d", name, n, sum, total)
			}
			most, mean := slices.Max(d.Costs), float64(total)/float64(n)
			if least := smallestPossible(groups, n); float64(most) > max(float64(slices.Max(groups)), 1.1*mean, float64(least)) {
				t.Errorf("%s, %d shards: the largest has %d tokens, the mean is %.0f, the largest group %d, and %d would be possible", name, n, most, mean, slices.Max(groups), least)
			}
			for _, p := range set {
				if names := separated(p, d.Of); names != nil {
					t.Errorf("%s, %d shards: %v are apart from what they rest on", name, n, names)
				}
				for _, r := range p.Runs {
					if i := d.Of(r); i < 1 || i > n {
						t.Errorf("%s, %d shards: run %s is in shard %d", name, n, r.Name, i)
					}
				}
			}
		}
	}
	d, again := shard.Divide(plans, everyRun, 7), shard.Divide(reversed, everyRun, 7)
	for _, p := range plans {
		for _, r := range p.Runs {
			if d.Of(r) != again.Of(r) {
				t.Fatalf("run %s is in shard %d or %d, depending on the order of the specs", r.Name, d.Of(r), again.Of(r))
			}
		}
	}
}

// executeShards executes all n shards of experiments, each into out(i), and wants each to be
// complete. The experiments were prepared without Select.
func executeShards(t *testing.T, all []harness.Experiment, n int, out func(i int) string) {
	t.Helper()
	for i := 1; i <= n; i++ {
		for _, e := range all {
			for _, r := range e.Runs {
				r.Selected = true
			}
		}
		cfg := harness.Config{Out: out(i), Shard: shard.Shard{Index: i, Of: n}}
		share, err := harness.TakeShare(t.Context(), io.Discard, cfg, all, false)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range share.All {
			e.Folder.Dir = filepath.Join(out(i), e.Spec.Experiment.Value)
			runs, err := e.ExecuteShare(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			if code := harness.ShareExit(runs); code != 0 {
				t.Errorf("shard %d of %d ends with %d", i, n, code)
			}
		}
	}
}

// TestShardsLeaveTheRecordsOfOneMachine: for any number of shards, with folders of their own or
// one together, the records have the bytes that one process leaves, and so have the reports that
// judge makes of them. Every experiment is divided with -shards.
func TestShardsLeaveTheRecordsOfOneMachine(t *testing.T) {
	names := []string{"agent-session", "gated-loop", "answers", "recorded", "first"}
	if *allShards {
		paths, err := filepath.Glob(experiments + "*.yaml")
		if err != nil {
			t.Fatal(err)
		}
		names = nil
		for _, path := range paths {
			names = append(names, strings.TrimSuffix(filepath.Base(path), ".yaml"))
		}
	}
	var paths []string
	for _, name := range names {
		paths = append(paths, experiments+name+".yaml")
	}
	cfg := config(t)
	all, err := harness.Prepare(t.Context(), cfg, loadSpecs(t, paths...))
	if err != nil {
		t.Fatal(err)
	}
	reports := map[string]map[string]string{}
	for _, e := range all {
		r, err := e.Evaluate(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		reports[e.Spec.Experiment.Value] = saveReports(t, e.Folder, r)
	}
	want := records(t, cfg.Out)
	for n, shared := range map[int]bool{1: true, 2: false, 3: true, 7: false, 50: false} {
		t.Run(fmt.Sprintf("%d shards, one folder: %v", n, shared), func(t *testing.T) {
			base := t.TempDir()
			out := func(i int) string { return filepath.Join(base, fmt.Sprint(i)) }
			whole := filepath.Join(base, "whole")
			if shared {
				out = func(int) string { return whole }
			}
			executeShards(t, all, n, out)
			if !shared {
				c := harness.MergeConfig{Out: whole}
				dirs, err := filepath.Glob(filepath.Join(base, "*"))
				if err != nil {
					t.Fatal(err)
				}
				c.Dirs = dirs
				if err := harness.Merge(io.Discard, c); err != nil {
					t.Fatal(err)
				}
			}
			got := records(t, whole)
			if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got))); diff != "" {
				t.Fatalf("files (-one machine +shards):\n%s", diff)
			}
			for name, text := range want {
				if got[name] != text {
					t.Errorf("%s has other bytes", name)
				}
			}
			if n == 7 || n == 3 {
				wantReports(t, paths, whole, reports)
			}
		})
	}
}

// records are the files below DIR/EXPERIMENT/runs.
func records(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := tree(t, dir)
	maps.DeleteFunc(files, func(name, _ string) bool { return !strings.Contains(filepath.ToSlash(name), "/runs/") })
	if len(files) == 0 {
		t.Fatalf("%s has no records", dir)
	}
	return files
}

// wantReports judges what is in a folder.
func wantReports(t *testing.T, paths []string, out string, want map[string]map[string]string) {
	t.Helper()
	all, err := harness.Prepare(t.Context(), harness.Config{Out: out}, loadSpecs(t, paths...))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		r, err := e.Judge()
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range saveReports(t, e.Folder, r) {
			if text != want[e.Spec.Experiment.Value][name] {
				t.Errorf("%s: %s has other bytes", e.Spec.Experiment.Value, name)
			}
		}
	}
}

// TestMissingShardIsIncomplete, whichever it is.
func TestMissingShardIsIncomplete(t *testing.T) {
	server, path := serve(t, nil), liveSpec(t, "")
	for missing := 1; missing <= 2; missing++ { // of two groups of runs, one for each trial
		out := t.TempDir()
		executeLiveShard(t, server, path, out, shard.Shard{Index: 3 - missing, Of: 2})
		r, err := judge(t, harness.Config{Out: out}, path)
		if err != nil {
			t.Fatal(err)
		}
		if code := result.Exit(r); code != 3 {
			t.Errorf("without shard %d: exit code %d, want 3", missing, code)
		}
	}
}

// executeLiveShard executes a shard of one experiment with a live model.
func executeLiveShard(t *testing.T, server *fakeserver.Server, path, out string, of shard.Shard) {
	t.Helper()
	cfg := liveConfig(t, server, out)
	cfg.Shard = of
	e, err := prepare(t, cfg, path)
	if err != nil {
		t.Fatal(err)
	}
	share, err := harness.TakeShare(t.Context(), io.Discard, cfg, []harness.Experiment{e.Experiment}, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range share.All {
		if _, err := x.ExecuteShare(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
	}
}

// TestShardWithNothingToDoSaysWhatIsMissing: of one whose runs are all elsewhere there is no
// record, but what it leaves tells that the live model was to be asked.
func TestShardWithNothingToDoSaysWhatIsMissing(t *testing.T) {
	server, path := serve(t, nil), liveSpec(t, "")
	for n, want := range map[int]int{0: 0, 50: 3} {
		out := t.TempDir()
		if n > 0 {
			executeLiveShard(t, server, path, out, shard.Shard{Index: n, Of: n})
		}
		if server.Requests() > 0 {
			t.Fatal("the last of 50 shards asked the model")
		}
		r, err := judge(t, harness.Config{Out: out}, path)
		if err != nil {
			t.Fatal(err)
		}
		if code := result.Exit(r); code != want {
			t.Errorf("%d shards: exit code %d, want %d", n, code, want)
		}
	}
}

// TestContradictionsAreNotMerged, and nothing is written; a damaged record is one.
func TestContradictionsAreNotMerged(t *testing.T) {
	dir, cfg := judgedFolder(t)
	_, other := judgedFolder(t)
	run := "judged/runs/s/q/L1/never/record"
	if err := rewriteFile(filepath.Join(other.Out, run, record.Calls), "continue", "contimue"); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "merged")
	err := harness.Merge(io.Discard, harness.MergeConfig{Out: out, Dirs: []string{cfg.Out, other.Out}})
	wrong, ok := errors.AsType[merge.Contradictions](err)
	if !ok || len(wrong) != 1 || wrong[0].Run != "s/q/L1/never/record" || !strings.Contains(err.Error(), filepath.Join(other.Out, run)) {
		t.Fatalf("error %v, want one about the changed run, with its folder", err)
	}
	if files := tree(t, out); hasExperiment(files, "judged") {
		t.Errorf("something was written: %v", slices.Sorted(maps.Keys(files)))
	}
}

func hasExperiment(files map[string]string, name string) bool {
	for path := range files {
		if strings.Contains(path, name+"/runs/") {
			return true
		}
	}
	return false
}

// TestLinkOutOfAFolderIsNotMerged: the folders come from elsewhere, and what a link names is no
// record of theirs.
func TestLinkOutOfAFolderIsNotMerged(t *testing.T) {
	dir, cfg := judgedFolder(t)
	calls := filepath.Join(cfg.Out, "judged/runs/s/q/L1/never/record", record.Calls)
	secret := filepath.Join(dir, "secret")
	if err := os.Rename(calls, secret); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, calls); err != nil {
		t.Skip(err)
	}
	out := filepath.Join(dir, "merged")
	if err := harness.Merge(io.Discard, harness.MergeConfig{Out: out, Dirs: []string{cfg.Out}}); err == nil {
		t.Error("no error")
	}
	if files := tree(t, out); hasExperiment(files, "judged") {
		t.Errorf("something was copied: %v", slices.Sorted(maps.Keys(files)))
	}
}
