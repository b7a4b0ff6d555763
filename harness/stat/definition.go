package stat

import (
	"fmt"
	"slices"
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

// Definition is what a metric means, in words.
type Definition struct {
	Name    string `json:"name"`
	Formula string `json:"formula"`
	Better  Better `json:"better,omitempty"`
	// Interval says how the bounds are computed; empty: there are none.
	Interval string `json:"interval,omitempty"`
	// Low and High are the least and the greatest value.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// Refused says why the metric cannot be a criterion; empty: it can.
	Refused string `json:"not_a_criterion,omitempty"`
	// Unpaired says why the metric cannot be compared between models; empty: it can.
	Unpaired string `json:"not_compared,omitempty"`
}

// How the bounds of a metric are computed (docs/statistics.md).
const (
	byClusters = "pseudo-cluster Clopper–Pearson over queries and sessions"
	byMeans    = "t on query means"
	byMOVER    = "MOVER on the bounds of recall and specificity"
)

// metric is a Definition with what counts it.
type metric struct {
	Definition
	none    string // why it is undefined without a denominator
	perTurn bool   // paired turn by turn; else run by run
	x, n    []fact // the value is Σx / Σn
	// repeated counts what trials repeat, with x, what missing trials would add to x, and n.
	repeated  func(trials *source, decision bool) (x, missing, n float64)
	composite *composite
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

// UnknownMetric is the error of a name that no metric has.
func UnknownMetric(name string) error {
	var names []string
	for _, d := range Definitions() {
		names = append(names, d.Name)
	}
	return fmt.Errorf("unknown metric %q: want %s or pass_1, pass_2, … (see mem help metrics)", name, strings.Join(names, ", "))
}

func metrics() []metric {
	return slices.Concat(parseMetrics(), updateMetrics(), compositeMetrics(), exitMetrics(), exitCosts(), memoryMetrics(),
		flipMetrics(), rewardMetrics(), answerMetrics())
}

// turnRate and runRate are metrics whose turns or runs are successes or not.
func turnRate(name, formula string, better Better, none string, x, n []fact) metric {
	m := runRate(name, formula, better, none, x, n)
	m.perTurn = true
	return m
}

func runRate(name, formula string, better Better, none string, x, n []fact) metric {
	m := metric{Definition: Definition{Name: name, Formula: formula, Better: better, Interval: byClusters, High: 1}, none: none, x: x, n: n}
	if better != Higher {
		m.Refused = "a criterion demands at least its threshold, and more of this metric is not better"
	}
	return m
}

// unbounded is a mean without limits, which METRICS refuses as a criterion. It has no
// interval: that of query means would belong to another value than the pooled mean.
func unbounded(name, formula, none string, x, n fact) metric {
	return metric{
		Definition: Definition{
			Name: name, Formula: formula,
			Refused:  "an unbounded mean has no interval that holds its error rate",
			Unpaired: "an unbounded mean has no paired interval",
		},
		none: none, x: []fact{x}, n: []fact{n},
	}
}

const (
	noTurns        = "no turns"
	noEvidence     = "no evidence turns"
	noFree         = "no evidence-free turns"
	noRuns         = "no complete runs"
	noEvidenceRuns = "no runs with evidence"
)

func evidenceTurns() []fact { return []fact{truePos, falseNeg, failedPos} }
func freeTurns() []fact     { return []fact{trueNeg, falsePos, failedNeg} }
func evidenceRuns() []fact  { return []fact{exitEarly, exitOnTime, exitLate, exitNever} }

func parseMetrics() []metric {
	return []metric{
		turnRate("first_try_parse", "turns parsed at attempt 1 / turns issued", Higher, noTurns, []fact{firstTry}, []fact{turns}),
		turnRate("parse_after_retries", "turns parsed / turns issued", Higher, noTurns,
			[]fact{truePos, falseNeg, falsePos, trueNeg}, []fact{turns}),
	}
}

func updateMetrics() []metric {
	return []metric{
		turnRate("recall_parsed", "TP / (TP + FN)", Higher, "no parsed evidence turns", []fact{truePos}, []fact{truePos, falseNeg}),
		turnRate("recall_strict", "TP / (TP + FN + PF1)", Higher, noEvidence, []fact{truePos}, evidenceTurns()),
		turnRate("recall_committed", "yes and written on evidence / (TP + FN + PF1)", Higher, noEvidence, []fact{committed}, evidenceTurns()),
		turnRate("specificity_parsed", "TN / (TN + FP)", Higher, "no parsed evidence-free turns", []fact{trueNeg}, []fact{trueNeg, falsePos}),
		turnRate("specificity_strict", "TN / (TN + FP + PF0)", Higher, noFree, []fact{trueNeg}, freeTurns()),
	}
}

func exitMetrics() []metric {
	return []metric{
		runRate("exit_useful", "runs with a t_x and t_x ≥ t* / runs with evidence", Higher, noEvidenceRuns, []fact{exitOnTime, exitLate}, evidenceRuns()),
		runRate("exit_safe", "runs with t_stop ≥ t* / runs with evidence", Higher, noEvidenceRuns, []fact{exitSafe}, evidenceRuns()),
		runRate("exit_premature", "runs with t_stop < t* / runs with evidence", Lower, noEvidenceRuns, []fact{exitEarly}, evidenceRuns()),
		runRate("exit_exact", "runs with t_stop = t* / runs with evidence", Higher, noEvidenceRuns, []fact{exitExact}, evidenceRuns()),
		runRate("exit_timely", "runs with 0 ≤ t_stop − t* ≤ 2 / runs with evidence", Higher, noEvidenceRuns, []fact{exitTimely}, evidenceRuns()),
		unbounded("exit_delay", "mean of t_stop − t* over safe runs; a run that never exits counts at T", "no run with evidence exits safely", delay, exitSafe),
		unbounded("exit_lead", "mean of t* − t_stop over premature runs", "no run with evidence exits prematurely", lead, exitEarly),
		runRate("exit_on_no_evidence", "runs without evidence that have a t_x / runs without evidence", Lower, "no runs without evidence",
			[]fact{exitWithoutEvidence}, []fact{withoutEvidence}),
	}
}

// exitCosts are about what an exit costs and saves, in turns.
func exitCosts() []metric {
	return []metric{
		runRate("would_exit", "runs with a t_x / runs", Neither, noRuns, []fact{opened}, []fact{runs}),
		runRate("turns_saved", "mean over runs of (T − t_stop) / T", Higher, noRuns, []fact{savedShare}, []fact{savedRuns}),
		runRate("safe_turns_saved", "Σ over safe runs of (T − t_stop) / Σ over runs with evidence of T", Higher, noEvidenceRuns,
			[]fact{safeSaved}, []fact{evidenceTotal}),
		turnRate("exit_instability", "parsed continue after t_x / parsed turns after t_x", Lower, "no parsed turns after the exit gate opened",
			[]fact{continued}, []fact{afterExit}),
		runRate("evidence_lost", "evidence chunks not reached before the exit / evidence chunks (exit gate enforced)", Lower, "no evidence",
			[]fact{unreached}, []fact{labelled}),
	}
}

func memoryMetrics() []metric {
	violations := metric{
		Definition: Definition{
			Name: "retain_violations", Formula: "count of retaining turns whose memory bytes changed; must be 0", Better: Lower,
			Refused:  "a single one makes the decision INVALID",
			Unpaired: "it is a count that must be 0",
		},
		none: "no retaining turns", x: []fact{changed}, n: []fact{retaining}, perTurn: true,
	}
	slope := unbounded("memory_slope", "least-squares slope of memory tokens on t per run (≥ 3 turns) → mean per query → mean over queries",
		"no runs of 3 turns or more", slopes, slopeRuns)
	slope.Interval = byMeans
	return []metric{
		turnRate("over_budget", "over-budget yes-turns / parsed yes-turns", Lower, "no parsed yes-turns", []fact{overBudgetYes}, []fact{truePos, falsePos}),
		violations,
		turnRate("retain_drift", "parsed no-turns whose ignored candidate differs from the memory / parsed no-turns with a candidate", Lower,
			"no parsed no-turns with a candidate", []fact{drifted}, []fact{withCandidate}),
		slope,
	}
}

func rewardMetrics() []metric {
	update := turnRate("reward_update", "mean over turns: +1 right, −1 wrong or failed", Higher, noTurns, []fact{truePos, trueNeg}, []fact{turns})
	update.Low = -1
	exits := runRate("reward_exit", "mean over runs with evidence: −0.75 before t*, 0 at t*, −0.5 after it", Higher, noEvidenceRuns,
		[]fact{exitReward}, evidenceRuns())
	exits.Low, exits.High = -0.75, 0
	return []metric{
		update,
		exits,
		runRate("reward_format", "runs whose every turn parsed at the first try / runs", Higher, noRuns, []fact{clean}, []fact{runs}),
	}
}

// answerMetrics are means of numbers within 0 and 1, so that the interval for rates covers
// them too.
func answerMetrics() []metric {
	const over = " over runs with an answer step and references"
	return []metric{
		runRate("sub_em", "mean"+over+" of: the answer holds a reference (where all of them belong to the answer: the share that it holds)",
			Higher, "no answers", []fact{answerSubEM}, []fact{answers}),
		runRate("answer_em", "mean"+over+" of: the answer is a reference, normalised as for sub_em", Higher, "no answers", []fact{answerEM}, []fact{answers}),
		runRate("answer_f1", "mean"+over+" of the F1 of the answer's tokens and the best reference's", Higher, "no answers", []fact{answerF1}, []fact{answers}),
	}
}

// scaled is the value on the metric's own scale of a share within 0 and 1.
func (d Definition) scaled(share float64) float64 {
	if d.High == d.Low {
		return share
	}
	return d.Low + share*(d.High-d.Low)
}

// share is the inverse of scaled.
func (d Definition) share(value float64) float64 {
	if d.High == d.Low {
		return value
	}
	return (value - d.Low) / (d.High - d.Low)
}

// Rate reports whether the metric is a share of turns or runs.
func (d Definition) Rate() bool {
	return d.Interval == byClusters && d.Low == 0 && d.High == 1 && d.Name != "turns_saved"
}
