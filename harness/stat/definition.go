package stat

import (
	"fmt"
	"strings"
)

// Better says which way a metric improves.
type Better string

// The ways a metric improves.
const (
	Higher  Better = "higher"
	Lower   Better = "lower"
	Neither Better = "" // it describes
)

// Definition is what a metric means, in words, for whoever asks what is behind a number.
type Definition struct {
	Name    string `json:"name"`
	Formula string `json:"formula"`
	Better  Better `json:"better,omitempty"`
	// Interval says how the bounds come about; empty: there are none, and nothing is
	// decided on the metric.
	Interval string `json:"interval,omitempty"`
}

// How the bounds of a metric come about (METRICS section 2).
const (
	byClusters = "pseudo-cluster Clopper–Pearson over queries"
	byMeans    = "t on query means"
	byMOVER    = "MOVER on the bounds of recall and specificity"
)

// metric is a Definition with what counts it: exactly one of turn, run, cells and
// composite is set.
type metric struct {
	Definition
	none      string // why it is undefined without a denominator
	turn      func(s scored, i int) (x, n float64)
	run       func(s scored) (x, n float64)
	cells     func(query []scored) (x, n float64)
	composite *composite
	pooled    func([]Cluster) float64 // nil: Σx/Σn
	remark    func([]scored) string   // empty: nothing to say
}

// Definitions are all metrics but pass_k, in the order of METRICS section 1.
func Definitions() []Definition {
	all := metrics()
	defs := make([]Definition, len(all))
	for i, m := range all {
		defs[i] = m.Definition
	}
	return defs
}

// Define is the definition of the metric of that name; ok is false if there is none.
func Define(name string) (d Definition, ok bool) {
	m, ok := find(name)
	return m.Definition, ok
}

func find(name string) (metric, bool) {
	for _, m := range metrics() {
		if m.Name == name {
			return m, true
		}
	}
	if k := passK(name); k > 0 {
		return passMetric(k), true
	}
	return metric{}, false
}

func unknownMetric(name string) error {
	var names []string
	for _, d := range Definitions() {
		names = append(names, d.Name)
	}
	return fmt.Errorf("unknown metric %q: want %s or pass_1, pass_2, …", name, strings.Join(names, ", "))
}

func metrics() []metric {
	var all []metric
	all = append(all, parseMetrics()...)
	all = append(all, updateMetrics()...)
	all = append(all, compositeMetrics()...)
	all = append(all, exitMetrics()...)
	all = append(all, exitTurnMetrics()...)
	all = append(all, memoryMetrics()...)
	all = append(all, flipMetrics()...)
	all = append(all, rewardMetrics()...)
	return append(all, answerMetrics()...)
}

// share counts a hit out of one, where the one counts at all.
func share(hit, of bool) (x, n float64) {
	return float64(one(hit && of)), float64(one(of))
}

// rate is a metric whose turns or runs are hits or not.
func rate(name, formula string, better Better, none string) metric {
	return metric{Definition: Definition{name, formula, better, byClusters}, none: none}
}

func perTurn(name, formula string, better Better, none string, hit func(Turn) (hit, of bool)) metric {
	m := rate(name, formula, better, none)
	m.turn = func(s scored, i int) (x, n float64) { return share(hit(s.Turns[i])) }
	return m
}

func perRun(name, formula string, better Better, none string, hit func(scored) (hit, of bool)) metric {
	m := rate(name, formula, better, none)
	m.run = func(s scored) (x, n float64) { return share(hit(s)) }
	return m
}

const (
	noTurns        = "no turns"
	noEvidence     = "no evidence turns"
	noFree         = "no evidence-free turns"
	noRuns         = "no complete runs"
	noEvidenceRuns = "no runs with evidence"
)

func parseMetrics() []metric {
	return []metric{
		perTurn("first_try_parse", "turns parsed at attempt 1 / turns issued", Higher, noTurns,
			func(t Turn) (bool, bool) { return t.FirstTry, true }),
		perTurn("parse_after_retries", "turns parsed / turns issued", Higher, noTurns,
			func(t Turn) (bool, bool) { return t.Parsed, true }),
	}
}

func updateMetrics() []metric {
	return []metric{
		perTurn("recall_parsed", "TP / (TP + FN)", Higher, "no parsed evidence turns",
			func(t Turn) (bool, bool) { return t.Update, t.Evidence && t.Parsed }),
		perTurn("recall_strict", "TP / (TP + FN + PF1)", Higher, noEvidence,
			func(t Turn) (bool, bool) { return t.said(), t.Evidence }),
		perTurn("recall_committed", "yes and written on evidence / (TP + FN + PF1)", Higher, noEvidence,
			func(t Turn) (bool, bool) { return t.committed(), t.Evidence }),
		perTurn("specificity_parsed", "TN / (TN + FP)", Higher, "no parsed evidence-free turns",
			func(t Turn) (bool, bool) { return !t.Update, !t.Evidence && t.Parsed }),
		perTurn("specificity_strict", "TN / (TN + FP + PF0)", Higher, noFree,
			func(t Turn) (bool, bool) { return t.Parsed && !t.Update, !t.Evidence }),
	}
}

func exitMetrics() []metric {
	return []metric{
		perRun("exit_safe", "runs with t_stop ≥ t* / runs with evidence", Higher, noEvidenceRuns,
			func(s scored) (bool, bool) { return s.safe(), s.hasEvidence() }),
		perRun("exit_premature", "runs with t_stop < t* / runs with evidence", Lower, noEvidenceRuns,
			func(s scored) (bool, bool) { return !s.safe(), s.hasEvidence() }),
		perRun("exit_exact", "runs with t_stop = t* / runs with evidence", Higher, noEvidenceRuns,
			func(s scored) (bool, bool) { return s.stop == s.LastEvidence, s.hasEvidence() }),
		perRun("exit_timely", "runs with 0 ≤ t_stop − t* ≤ 2 / runs with evidence", Higher, noEvidenceRuns,
			func(s scored) (bool, bool) { return s.safe() && s.delay() <= 2, s.hasEvidence() }),
		{
			Definition: Definition{Name: "exit_delay", Formula: "mean of t_stop − t* over safe runs; a run that never exits counts at T"},
			none:       "no run with evidence exits safely",
			run:        func(s scored) (x, n float64) { return when(s.safe(), s.delay()) },
			remark:     neverExits,
		},
		{
			Definition: Definition{Name: "exit_lead", Formula: "mean of t* − t_stop over premature runs"},
			none:       "no run with evidence exits prematurely",
			run:        func(s scored) (x, n float64) { return when(s.hasEvidence() && !s.safe(), -s.delay()) },
		},
	}
}

// exitTurnMetrics are of what an exit costs and saves, in turns.
func exitTurnMetrics() []metric {
	return []metric{
		perRun("exit_on_no_evidence", "runs without evidence that have a t_x / runs without evidence", Lower, "no runs without evidence",
			func(s scored) (bool, bool) { return s.opened > 0, !s.hasEvidence() }),
		perRun("would_exit", "runs with a t_x / runs", Neither, noRuns,
			func(s scored) (bool, bool) { return s.opened > 0, true }),
		{
			Definition: Definition{"turns_saved", "mean over runs of (T − t_stop) / T", Higher, byMeans},
			none:       noRuns,
			run: func(s scored) (x, n float64) {
				t := float64(s.chunks())
				return when(t > 0, (t-float64(s.stop))/t)
			},
		},
		{
			Definition: Definition{"safe_turns_saved", "Σ over safe runs of (T − t_stop) / Σ over runs with evidence of T", Higher, byClusters},
			none:       noEvidenceRuns,
			run:        safeTurnsSaved,
		},
		{
			Definition: Definition{"exit_instability", "parsed continue after t_x / parsed turns after t_x", Lower, byClusters},
			none:       "no parsed turns after the exit gate opened",
			turn: func(s scored, i int) (x, n float64) {
				return share(!s.Turns[i].Exit, s.Turns[i].Parsed && s.opened > 0 && i >= s.opened)
			},
		},
		{
			Definition: Definition{"evidence_lost", "evidence chunks not reached before the exit / evidence chunks (exit gate enforced)", Lower, byClusters},
			none:       "no evidence",
			run:        func(s scored) (x, n float64) { return s.lost() },
		},
	}
}

// when is one observation of v, or none.
func when(counts bool, v float64) (x, n float64) {
	if !counts {
		return 0, 0
	}
	return v, 1
}

func safeTurnsSaved(s scored) (x, n float64) {
	if !s.hasEvidence() {
		return 0, 0
	}
	saved, _ := when(s.safe(), float64(s.chunks()-s.stop))
	return saved, float64(s.chunks())
}

func neverExits(runs []scored) string {
	never := 0
	for _, s := range runs {
		never += one(s.hasEvidence() && s.opened == 0)
	}
	if never == 0 {
		return ""
	}
	return plural(never, "run with evidence never exits", "runs with evidence never exit") + ", counted at T"
}

func memoryMetrics() []metric {
	return []metric{
		perTurn("over_budget", "over-budget yes-turns / parsed yes-turns", Lower, "no parsed yes-turns",
			func(t Turn) (bool, bool) { return t.OverBudget, t.said() }),
		{
			Definition: Definition{Name: "retain_violations", Formula: "retaining turns whose memory bytes changed; must be 0", Better: Lower},
			none:       "no retaining turns",
			turn:       func(s scored, i int) (x, n float64) { return share(s.Turns[i].Changed, !s.Turns[i].Written) },
			pooled:     func(c []Cluster) float64 { return Pool(c).X },
		},
		perTurn("retain_drift", "parsed no-turns whose ignored candidate differs from the memory / parsed no-turns with a candidate",
			Lower, "no parsed no-turns with a candidate",
			func(t Turn) (bool, bool) { return t.Differs, t.Parsed && !t.Update && t.Candidate }),
		{
			Definition: Definition{"memory_slope", "least-squares slope of memory tokens on t per run (≥ 3 turns) → mean per query → mean over queries", Neither, byMeans},
			none:       "no runs of 3 turns or more",
			run:        memorySlope,
			pooled:     func(c []Cluster) float64 { return average(queryMeans(c)) },
		},
	}
}

func memorySlope(s scored) (x, n float64) {
	slope, ok := s.slope()
	return when(ok, slope)
}

func rewardMetrics() []metric {
	return []metric{
		{
			Definition: Definition{"reward_update", "mean over turns: +1 right, −1 wrong or failed", Higher, byMeans},
			none:       noTurns,
			turn:       func(s scored, i int) (x, n float64) { return 2*float64(one(s.Turns[i].right())) - 1, 1 },
		},
		{
			Definition: Definition{"reward_exit", "mean over runs with evidence: −0.75 before t*, 0 at t*, −0.5 after it", Higher, byMeans},
			none:       noEvidenceRuns,
			run:        rewardExit,
		},
		perRun("reward_format", "runs whose every turn parsed at the first try / runs", Higher, noRuns,
			func(s scored) (bool, bool) { return s.cleanReplies(), true }),
	}
}

// answerMetrics are means of numbers within 0 and 1, of which a mean's variance is at most
// that of a rate: so the interval for rates covers them too.
func answerMetrics() []metric {
	return []metric{
		perAnswer("sub_em", "mean over runs with an answer step and references of: the answer holds a reference (where all of them belong to the answer: the share that it holds)",
			func(a AnswerScore) float64 { return a.SubEM }),
		perAnswer("answer_em", "mean over the same runs of: the answer is a reference, normalised as SQuAD's",
			func(a AnswerScore) float64 { return a.EM }),
		perAnswer("answer_f1", "mean over the same runs of the F1 of the answer's tokens and the best reference's",
			func(a AnswerScore) float64 { return a.F1 }),
	}
}

func perAnswer(name, formula string, of func(AnswerScore) float64) metric {
	m := rate(name, formula, Higher, "no answers")
	m.run = func(s scored) (x, n float64) {
		if s.Answer == nil {
			return 0, 0
		}
		return of(*s.Answer), 1
	}
	return m
}

func rewardExit(s scored) (x, n float64) {
	const early, late = -0.75, -0.5 // paper, training signals
	switch {
	case !s.hasEvidence():
		return 0, 0
	case s.stop < s.LastEvidence:
		return early, 1
	case s.stop > s.LastEvidence:
		return late, 1
	}
	return 0, 1
}
