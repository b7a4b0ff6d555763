package decide_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	stat "github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/harness/stat/cluster"
	"github.com/poimen-memory/mem/harness/stat/decide"
)

// gate replies to a chunk: whether its label is evidence, and its number of T.
type gate func(evidence bool, chunk, last, total int) stat.Turn

// right is what every gate should do.
func right(evidence bool, chunk, last, _ int) stat.Turn {
	return stat.Turn{Parsed: true, FirstTry: true, Update: evidence, Exit: chunk >= last}
}

// run reads 12 chunks of which the 3rd and the 7th are evidence.
func run(query, session string, trial int, g gate) stat.Run {
	const total, last = 12, 7
	r := stat.Run{Query: query, Session: session, Corpus: session, Level: "L1", Model: "m", Trial: trial, Total: total, Evidence: []int{3, last}}
	for i := range total {
		evidence := i+1 == 3 || i+1 == last
		turn := g(evidence, i+1, last, total)
		turn.Evidence, turn.Written = evidence, turn.Parsed && turn.Update
		r.Turns = append(r.Turns, turn)
	}
	return r
}

// collect has 3 trials of each query, each on a session of its own.
func collect(queries int, g gate) *stat.Sample {
	var s stat.Sample
	for q := range queries {
		for trial := range 3 {
			s.Add(run(fmt.Sprint("q", q), fmt.Sprint("s", q), trial, g))
		}
	}
	return &s
}

func decided(t *testing.T, s *stat.Sample, rule decide.Rule) decide.Decision {
	t.Helper()
	d, err := decide.Decide(s, rule)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestNaivePolicies: which of the default criteria each naive policy fails. A policy that
// is no gate must not look like one by accident.
func TestNaivePolicies(t *testing.T) {
	reply := func(update, exit bool) stat.Turn {
		return stat.Turn{Parsed: true, FirstTry: true, Update: update, Exit: exit}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for name, c := range map[string]struct {
		gate  gate
		fails []string
	}{
		"right":         {right, nil},
		"never update":  {func(_ bool, chunk, last, _ int) stat.Turn { return reply(false, chunk >= last) }, []string{"recall_committed"}},
		"always update": {func(_ bool, chunk, last, _ int) stat.Turn { return reply(true, chunk >= last) }, []string{"specificity_strict"}},
		// Words of the question are in the evidence and in a third of the other chunks; it
		// replies end at the first match.
		"lexical": {
			func(evidence bool, chunk, _, _ int) stat.Turn {
				match := evidence || random.IntN(3) == 0
				return reply(match, match)
			}, []string{"specificity_strict", "exit_useful"},
		},
		"always ends": {func(evidence bool, _, _, _ int) stat.Turn { return reply(evidence, true) }, []string{"exit_useful"}},
		"never ends":  {func(evidence bool, _, _, _ int) stat.Turn { return reply(evidence, false) }, []string{"exit_useful"}},
		"ends at the last chunk": { // late, but not wrong: exit_timely is about that
			func(evidence bool, chunk, _, total int) stat.Turn { return reply(evidence, chunk == total) }, nil,
		},
		"all malformed": {
			func(bool, int, int, int) stat.Turn { return stat.Turn{} },
			[]string{"recall_committed", "specificity_strict", "exit_useful", "first_try_parse"},
		},
		"copies the question": { // never update, always continue
			func(bool, int, int, int) stat.Turn { return reply(false, false) }, []string{"recall_committed", "exit_useful"},
		},
	} {
		d := decided(t, collect(40, c.gate), decide.Rule{})
		var fails []string
		for _, j := range d.Criteria {
			if j.Verdict == decide.NoGo {
				fails = append(fails, j.Metric)
			} else if j.Verdict != decide.Go {
				t.Errorf("%s: %s is %s: %s", name, j.Metric, j.Verdict, j.Reason)
			}
		}
		if !slices.Equal(fails, c.fails) {
			t.Errorf("%s fails %q, want %q", name, fails, c.fails)
		}
		if want := map[bool]decide.Verdict{true: decide.Go, false: decide.NoGo}[c.fails == nil]; d.Verdict != want {
			t.Errorf("%s is %s (%s), want %s", name, d.Verdict, d.Reason, want)
		}
	}
}

// TestFewestQueries: the numbers of queries with which GO is possible (docs/statistics.md),
// with 3 trials, 40 chunks, 3 evidence chunks and no failure.
func TestFewestQueries(t *testing.T) {
	for _, c := range []struct {
		metric    string
		threshold float64
		perTrial  int
		want      int
	}{{"recall_committed", 0.85, 3, 13}, {"specificity_strict", 0.85, 38, 10}, {"exit_useful", 0.80, 1, 14}, {"first_try_parse", 0.95, 40, 30}} {
		fewest := 0
		for q := 2; q <= 60 && fewest == 0; q++ {
			v, err := decide.VerdictOf([]decide.Counted{counted(c.metric, c.threshold, q, func(int) float64 { return 1 }, float64(3*c.perTrial))}, decide.Rule{})
			if err != nil {
				t.Fatal(err)
			}
			if v == decide.Go {
				fewest = q
			}
		}
		if fewest != c.want {
			t.Errorf("%s: GO from %d queries on, want %d", c.metric, fewest, c.want)
		}
	}
}

// counted is a criterion on queries with n observations each, of which a share succeeds.
func counted(metric string, threshold float64, queries int, share func(query int) float64, n float64) decide.Counted {
	list := make([]stat.Cell, queries)
	for i := range list {
		name := fmt.Sprint(i)
		list[i] = stat.Cell{Query: name, Session: name, X: n * share(i), N: n, K: 3}
	}
	return decide.Counted{Criterion: decide.Criterion{Metric: metric, Threshold: threshold}, Cells: list}
}

// TestScope: unit query decides on the sessions at hand, and the verdict says so; unit auto
// does not know about others.
func TestScope(t *testing.T) {
	var s stat.Sample
	for q := range 40 {
		s.Add(run(fmt.Sprint("q", q), fmt.Sprint("s", q%3), 1, right))
	}
	for _, c := range []struct {
		unit    stat.Unit
		verdict decide.Verdict
		text    string
	}{
		{stat.Auto, decide.Inconclusive, "INCONCLUSIVE"},
		{stat.ByQuery, decide.Go, "GO (on these 3 sessions)"},
		{stat.BySession, decide.Inconclusive, "INCONCLUSIVE (for these 40 queries)"},
	} {
		if d := decided(t, &s, decide.Rule{Unit: c.unit}); d.Verdict != c.verdict || d.String() != c.text {
			t.Errorf("unit %s: %s, want %s: %s", c.unit, d, c.text, d.Reason)
		}
	}
}

// TestMergedQueries: the copies of one question are one query, through Names.
func TestMergedQueries(t *testing.T) {
	var origins []cluster.Origin
	for q := range 60 {
		origins = append(origins, cluster.Origin{Level: "L1", Query: fmt.Sprint("q", q), Text: "What port?", Corpora: []string{"c"}})
	}
	names := cluster.NewNames(origins)
	var s stat.Sample
	for _, o := range origins {
		r := run(names.Query(o.Query), names.Session(o.Level, o.Corpora), 1, right)
		r.ID = o.Query
		s.Add(r)
	}
	d := decided(t, &s, decide.Rule{Unit: stat.ByQuery})
	if d.Verdict != decide.Inconclusive || d.Criteria[0].Units != 1 || d.Coverage.Runs != 60 {
		t.Errorf("60 copies of one question are %s on %d queries", d, d.Criteria[0].Units)
	}
}

// TestMissingTurns: a failed run counts against either verdict, and does not forbid it; more
// than the share allowed is INVALID.
func TestMissingTurns(t *testing.T) {
	with := func(incomplete, queries int, g gate) *stat.Sample {
		s := collect(queries, g)
		for i := range incomplete {
			r := run(fmt.Sprint("q", i), fmt.Sprint("s", i), 9, g)
			r.Turns, r.Incomplete = r.Turns[:2], true
			s.Add(r)
		}
		return s
	}
	one, none := decided(t, with(1, 60, right), decide.Rule{}), decided(t, collect(60, right), decide.Rule{})
	if one.Verdict != decide.Go || one.Coverage.Missing != 12 || !strings.Contains(strings.Join(one.Notes, "\n"), "12 turns of 2172 have no model reply") {
		t.Errorf("one failed run in 181: %s, %+v, notes %q", one, one.Coverage, one.Notes)
	}
	for i, j := range one.Criteria {
		if *j.Lower >= *none.Criteria[i].Lower || *j.Estimate.Value != 1 {
			t.Errorf("%s: the bound with a failed run is %v, without %v; the value %v", j.Metric, *j.Lower, *none.Criteria[i].Lower, *j.Estimate.Value)
		}
	}
	if d := decided(t, with(2, 60, right), decide.Rule{}); d.Verdict != decide.Invalid {
		t.Errorf("2 of 182 runs failed: %s", d)
	}
	share := 0.05
	if d := decided(t, with(2, 60, right), decide.Rule{MissingAtMost: &share}); d.Verdict != decide.Go {
		t.Errorf("2 of 182 runs failed, 5 %% are allowed: %s", d)
	}
	// A query that has only a failed run is a query.
	s := collect(60, right)
	r := run("new", "new", 1, right)
	r.Turns, r.Incomplete = nil, true
	s.Add(r)
	if d := decided(t, s, decide.Rule{}); d.Criteria[0].Units != 61 || d.Criteria[0].Estimate.Queries != 60 {
		t.Errorf("units %d, estimate of %d queries", d.Criteria[0].Units, d.Criteria[0].Estimate.Queries)
	}
}

func TestChangedBytesAreInvalid(t *testing.T) {
	s := collect(40, right)
	r := run("q1", "s1", 9, right)
	r.Turns[0].Changed = true
	s.Add(r)
	if d := decided(t, s, decide.Rule{}); d.Verdict != decide.Invalid || d.Changed != 1 {
		t.Errorf("a retaining turn changed bytes: %s", d)
	}
}

// TestLooks walks through planned looks, and looks that were not planned.
func TestLooks(t *testing.T) {
	planned := []int{20, 50, 100}
	for _, c := range []struct {
		queries int
		looks   []int
		made    []decide.Made
		verdict decide.Verdict
		number  int
		note    string
	}{
		{15, planned, nil, decide.Inconclusive, 0, "next look at 20 queries"},
		{60, planned, nil, decide.Go, 2, ""},
		{60, planned, []decide.Made{{Look: 2, Units: 55}}, decide.Inconclusive, 2, "next look at 100 queries"},
		{60, planned, []decide.Made{{Look: 2, Units: 60}}, decide.Go, 2, ""}, // the same look again
		{100, planned, []decide.Made{{Look: 2, Units: 60}}, decide.Go, 3, ""},
		{120, planned, []decide.Made{{Look: 3, Units: 100}}, decide.Inconclusive, 3, "every planned look is made"},
		{60, nil, []decide.Made{{Units: 20}}, decide.Inconclusive, 0, "decided before on 20 queries and no looks were planned"},
		{60, nil, []decide.Made{{Units: 60}}, decide.Go, 0, ""},
		{60, planned, []decide.Made{{Units: 20}}, decide.Inconclusive, 2, "decided before on 20 queries and no looks were planned"},
	} {
		d := decided(t, collect(c.queries, right), decide.Rule{Looks: c.looks, Made: c.made})
		if d.Verdict != c.verdict || d.Look.Number != c.number || d.Look.Note != c.note {
			t.Errorf("%d queries, looks %v, made %v: %s at %+v (%s), want %s", c.queries, c.looks, c.made, d, d.Look, d.Reason, c.verdict)
		}
	}
	never := func(bool, int, int, int) stat.Turn { return stat.Turn{} }
	if d := decided(t, collect(60, never), decide.Rule{Made: []decide.Made{{Units: 20}}}); d.Verdict != decide.NoGo {
		t.Errorf("an unplanned look at a useless gate: %s", d)
	}
}

// TestGroups: a group below its floor, or too small, forbids GO; without by the weakest
// group is named.
func TestGroups(t *testing.T) {
	weak := func(evidence bool, chunk, last, total int) stat.Turn {
		turn := right(evidence, chunk, last, total)
		turn.Update = turn.Update && chunk != 3
		return turn
	}
	grouped := func(strong, poor int) *stat.Sample {
		var s stat.Sample
		for q := range strong + poor {
			g, kind := right, "single"
			if q >= strong {
				g, kind = weak, "multi"
			}
			r := run(fmt.Sprint("q", q), fmt.Sprint("s", q), 1, g)
			r.Tags = map[string]string{"kind": kind}
			s.Add(r)
		}
		return &s
	}
	recall := decide.Criterion{Metric: "recall_committed", Threshold: 0.85}
	d := decided(t, grouped(97, 3), decide.Rule{Criteria: []decide.Criterion{recall}})
	if w := d.Criteria[0].Weakest; d.Verdict != decide.Go || w == nil || w.Value != "multi" || !w.Below || !strings.Contains(strings.Join(d.Notes, ""), "mix of questions") {
		t.Errorf("without by: %s, weakest %+v, notes %q", d, w, d.Notes)
	}
	recall.By = "kind"
	for _, c := range []struct {
		strong, poor int
		groups       string
		verdict      decide.Verdict
	}{
		{97, 3, " (small) single", decide.Inconclusive},
		{150, 20, " multi single", decide.NoGo},
		{100, 0, " single", decide.Go},
	} {
		d := decided(t, grouped(c.strong, c.poor), decide.Rule{Criteria: []decide.Criterion{recall}})
		var groups []string
		for _, j := range d.Criteria {
			groups = append(groups, j.Group)
		}
		if got := strings.Join(groups, " "); got != c.groups || d.Verdict != c.verdict {
			t.Errorf("%d and %d: groups %q, %s: %s", c.strong, c.poor, got, d, d.Reason)
		}
	}
	recall.By = "length"
	if _, err := decide.Decide(grouped(20, 20), decide.Rule{Criteria: []decide.Criterion{recall}}); err == nil || !strings.Contains(err.Error(), "no query has that tag") {
		t.Errorf("an unknown tag: %v", err)
	}
}

// TestCandidates: who picks among many models needs more.
func TestCandidates(t *testing.T) {
	c := []decide.Counted{counted("exit_useful", 0.80, 14, func(int) float64 { return 1 }, 3)}
	for candidates, want := range map[int]decide.Verdict{0: decide.Go, 1: decide.Go, 4: decide.Inconclusive} {
		if v, err := decide.VerdictOf(c, decide.Rule{Candidates: candidates}); err != nil || v != want {
			t.Errorf("%d candidates: %s (%v), want %s", candidates, v, err, want)
		}
	}
}

// TestRefused: what is no criterion is refused, with the reason.
func TestRefused(t *testing.T) {
	floor := 0.5
	for _, c := range []struct {
		criterion decide.Criterion
		want      string
	}{
		{decide.Criterion{Metric: "exit_delay"}, "unbounded"},
		{decide.Criterion{Metric: "exit_lead"}, "unbounded"},
		{decide.Criterion{Metric: "memory_slope"}, "unbounded"},
		{decide.Criterion{Metric: "retain_violations"}, "INVALID"},
		{decide.Criterion{Metric: "exit_premature", Threshold: 0.5}, "more of this metric is not better"},
		{decide.Criterion{Metric: "would_exit", Threshold: 0.5}, "more of this metric is not better"},
		{decide.Criterion{Metric: "flip_rate", Threshold: 0.5}, "more of this metric is not better"},
		{decide.Criterion{Metric: "recall", Threshold: 0.5}, "unknown metric"},
		{decide.Criterion{Metric: "recall_strict", Threshold: 85}, "from 0 to 1"},
		{decide.Criterion{Metric: "reward_exit", Threshold: 0.5}, "from -0.75 to 0"},
		{decide.Criterion{Metric: "recall_strict", Threshold: 0.5, Floor: &floor}, "floor without by"},
	} {
		if err := decide.Validate([]decide.Criterion{c.criterion}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.criterion, err, c.want)
		}
	}
	much := 0.06
	for _, rule := range []decide.Rule{{Unit: "turn"}, {Looks: []int{20, 20}}, {MissingAtMost: &much}, {Candidates: -1}, {Looks: []int{20}, Made: []decide.Made{{Look: 2, Units: 9}}}} {
		if rule.Validate() == nil {
			t.Errorf("%+v is accepted", rule)
		}
	}
	for _, name := range []string{"reward_update", "reward_exit", "turns_saved", "balanced_accuracy", "sub_em", "pass_2"} {
		d, _ := stat.Define(name)
		if err := decide.Validate([]decide.Criterion{{Metric: name, Threshold: (d.Low + d.High) / 2}}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	enforced := run("q", "s", 1, right)
	enforced.Exit = stat.ExitEnforce
	other := run("q", "s", 2, right)
	other.Model = "other"
	for _, s := range []*stat.Sample{stat.Collect(nil), stat.Collect([]stat.Run{enforced}), stat.Collect([]stat.Run{run("q", "s", 1, right), other})} {
		if _, err := decide.Decide(s, decide.Rule{}); err == nil {
			t.Error("a sample that cannot be decided on is accepted")
		}
	}
}

// TestFurther: an undecided rate says how many more, from 20 queries on with a chance.
func TestFurther(t *testing.T) {
	some := func(query int) float64 { return map[bool]float64{true: 2. / 3, false: 1}[query%3 == 0] }
	for queries, chance := range map[int]bool{12: false, 25: true} {
		d, err := decide.DecideCounted([]decide.Counted{counted("exit_useful", 0.80, queries, some, 3)}, decide.Rule{}, decide.Integrity{})
		if err != nil {
			t.Fatal(err)
		}
		if d.Verdict != decide.Inconclusive || d.Further == nil || d.Further.IfRateHolds == nil || (d.Further.WithChance != nil) != chance {
			t.Errorf("%d queries: %s, further %+v", queries, d, d.Further)
		}
	}
}

// TestLabelNoise compares the search with one that tries every label and measures anew.
func TestLabelNoise(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 5))
	for _, metric := range []string{"recall_committed", "specificity_strict", "exit_useful", "reward_update", "pass_1", "balanced_accuracy"} {
		found := 0
		for range 12 {
			runs := noisyRuns(random)
			m, _ := stat.Define(metric)
			for _, threshold := range []float64{m.Low + 0.6*(m.High-m.Low), m.Low + 0.98*(m.High-m.Low)} {
				share := 0.05 // of 150 turns 6 are missing
				rule := decide.Rule{Criteria: []decide.Criterion{{Metric: metric, Threshold: threshold}}, MissingAtMost: &share}
				d := decided(t, stat.Collect(runs), rule)
				if d.Labels == nil || d.Labels.More || d.Labels.Flips > 6 {
					continue
				}
				found++
				if want := greedy(t, runs, metric, threshold, d.Verdict); d.Labels.Flips != want {
					t.Errorf("%s %s at %v: %d labels, want %d", metric, d, threshold, d.Labels.Flips, want)
				}
			}
		}
		if found == 0 {
			t.Errorf("%s: no random case has a verdict that few labels change", metric)
		}
	}
}

// noisyRuns are of 12 queries on 4 sessions, 2 trials each, one of them incomplete.
func noisyRuns(random *rand.Rand) (runs []stat.Run) {
	noise := 0.3 * random.Float64()
	for q := range 12 {
		for trial := range 2 {
			r := stat.Run{Query: fmt.Sprint("q", q), Corpus: fmt.Sprint("s", q%11), Trial: trial, Total: 6, Evidence: []int{2 + q%4}}
			for i := range 6 {
				evidence := i+1 == 2+q%4
				yes, parsed := evidence != (random.Float64() < noise), random.Float64() > 0.02
				r.Turns = append(r.Turns, stat.Turn{
					Evidence: evidence, Parsed: parsed, FirstTry: parsed, Update: yes && parsed, Written: yes && parsed,
					Exit: parsed && i+1 >= 2+q%4,
				})
			}
			runs = append(runs, r)
		}
	}
	failed := runs[0]
	failed.Trial, failed.Incomplete, failed.Turns = 2, true, nil
	return append(runs, failed)
}

// greedy flips the label that moves the bound most, measuring every possibility anew.
func greedy(t *testing.T, runs []stat.Run, metric string, threshold float64, verdict decide.Verdict) int {
	t.Helper()
	runs = slices.Clone(runs)
	flipped := map[string]bool{}
	bound := func(runs []stat.Run) float64 {
		m, err := stat.Collect(runs).Count(metric)
		if err != nil {
			t.Fatal(err)
		}
		if verdict == decide.NoGo {
			_, upper := m.WithSuccesses().Bounds(stat.Auto, 0.05)
			return -upper
		}
		lower, _ := m.WithFailures().Bounds(stat.Auto, 0.05)
		return lower
	}
	stands := func(b float64) bool {
		return verdict == decide.Go && b >= threshold || verdict == decide.NoGo && -b < threshold
	}
	for flips := 0; ; flips++ {
		if !stands(bound(runs)) || flips > 20 {
			return flips
		}
		best, at, chunk := 2.0, -1, 0
		for q := 0; q+1 < len(runs); q += 2 {
			for i := range 6 {
				if flipped[fmt.Sprint(q, i)] {
					continue
				}
				if b := bound(flip(runs, q, i)); b < best-1e-12 {
					best, at, chunk = b, q, i
				}
			}
		}
		runs = flip(runs, at, chunk)
		flipped[fmt.Sprint(at, chunk)] = true
	}
}

// flip has one label of a query changed in all of its runs.
func flip(runs []stat.Run, at, chunk int) []stat.Run {
	runs = slices.Clone(runs)
	for i := range runs {
		r := &runs[i]
		if r.Query != runs[at].Query {
			continue
		}
		evidence := []int{}
		for c := 1; c <= r.Total; c++ {
			if slices.Contains(r.Evidence, c) != (c == chunk+1) {
				evidence = append(evidence, c)
			}
		}
		r.Evidence, r.Turns = evidence, slices.Clone(r.Turns)
		for t := range r.Turns {
			r.Turns[t].Evidence = slices.Contains(evidence, t+1)
		}
	}
	return runs
}
