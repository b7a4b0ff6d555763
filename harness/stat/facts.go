package stat

import (
	"math"

	"github.com/poimen-memory/mem/harness/stat/answer"
)

// fact is one of the numbers that a run contributes; facts of runs add up, and every metric
// is a ratio of sums of them.
type fact int

const (
	runs fact = iota
	turns
	firstTry
	truePos // turns by the reply and the label, in the terms of METRICS section 1
	falseNeg
	falsePos
	trueNeg
	failedPos // parse-failed turns on evidence
	failedNeg // parse-failed turns on evidence-free chunks
	committed // yes and written, on evidence
	overBudget
	overBudgetYes
	written
	retaining
	changed // retaining turns whose memory bytes changed
	drifted
	withCandidate // parsed no-turns with a candidate
	afterExit     // parsed turns after t_x
	continued     // of them, those that replied continue
	exitEarly     // runs with evidence by t_x against t*
	exitOnTime
	exitLate
	exitNever
	exitSafe
	exitExact
	exitTimely
	withoutEvidence // runs
	exitWithoutEvidence
	opened        // runs with a t_x
	delay         // sum over safe runs of t_stop − t*
	lead          // sum over premature runs of t* − t_stop
	savedShare    // sum over runs of (T − t_stop) / T
	savedRuns     // runs with T > 0
	safeSaved     // sum over safe runs of T − t_stop
	evidenceTotal // sum over runs with evidence of T
	exitReward    // sum over runs with evidence of (reward_exit + 0.75) / 0.75
	labelled      // evidence chunks
	unreached     // of them, those after an enforced exit
	slopes
	slopeRuns
	clean // runs whose every turn parsed at the first try
	answers
	answerSubEM
	answerEM
	answerF1
	memoryTokens // final, summed over runs
	numFacts
)

type facts [numFacts]float64

func (f *facts) add(g *facts) {
	for i := range f {
		f[i] += g[i]
	}
}

// sum adds up some of the facts.
func (f *facts) sum(of []fact) (total float64) {
	for _, i := range of {
		total += f[i]
	}
	return total
}

// facts are what a complete run contributes.
func (r Run) facts() facts {
	var f facts
	e := r.exit()
	first := e.first
	for i, t := range r.Turns {
		f.addTurn(t, first > 0 && i >= first)
	}
	f.addExit(e)
	f.addMemory(r)
	f.addAnswer(r.Answer)
	f[runs] = 1
	return f
}

// addTurn counts a turn; after says that the exit gate opened in an earlier turn.
func (f *facts) addTurn(t Turn, after bool) {
	f[turns]++
	f[gateFact(t.Evidence, t.Parsed, t.Update)]++
	f[firstTry] += oneIf(t.FirstTry)
	f[committed] += oneIf(t.Evidence && t.committed())
	f[overBudget] += oneIf(t.OverBudget)
	f[overBudgetYes] += oneIf(t.OverBudget && t.yes())
	f[written] += oneIf(t.Written)
	f[retaining] += oneIf(!t.Written)
	f[changed] += oneIf(!t.Written && t.Changed)
	f[withCandidate] += oneIf(t.Parsed && !t.Update && t.Candidate)
	f[drifted] += oneIf(t.Parsed && !t.Update && t.Candidate && t.Differs)
	f[afterExit] += oneIf(after && t.Parsed)
	f[continued] += oneIf(after && t.Parsed && !t.Exit)
}

// gateFact is the count that a turn falls into.
func gateFact(evidence, parsed, yes bool) fact {
	switch {
	case !parsed && evidence:
		return failedPos
	case !parsed:
		return failedNeg
	case evidence && yes:
		return truePos
	case evidence:
		return falseNeg
	case yes:
		return falsePos
	}
	return trueNeg
}

// addExit counts the exit gate of one run.
func (f *facts) addExit(e exit) {
	saved := float64(e.total - e.stop())
	f[opened] += oneIf(e.first > 0)
	if e.total > 0 {
		f[savedRuns]++
		f[savedShare] += saved / float64(e.total)
	}
	if e.last == 0 {
		f[withoutEvidence]++
		f[exitWithoutEvidence] += oneIf(e.first > 0)
		return
	}
	late := float64(e.stop() - e.last)
	f[exitClass(e)]++
	f[evidenceTotal] += float64(e.total)
	f[exitExact] += oneIf(late == 0)
	f[exitTimely] += oneIf(late >= 0 && late <= 2)
	f[exitReward] += rewardExit(late)
	if late < 0 {
		f[lead] -= late
		return
	}
	f[exitSafe]++
	f[delay] += late
	f[safeSaved] += saved
}

// exitClass is the count that a run with evidence falls into.
func exitClass(e exit) fact {
	switch {
	case e.first == 0:
		return exitNever
	case e.first < e.last:
		return exitEarly
	case e.first == e.last:
		return exitOnTime
	}
	return exitLate
}

// rewardExit is the paper's reward of an exit so many turns late, from −0.75…0 to 0…1.
func rewardExit(late float64) float64 {
	switch {
	case late < 0:
		return 0
	case late == 0:
		return 1
	}
	return (0.75 - 0.5) / 0.75
}

func (f *facts) addMemory(r Run) {
	f[memoryTokens] = float64(r.MemoryTokens)
	f[clean] = oneIf(f[firstTry] == f[turns])
	reached := f[truePos] + f[falseNeg] + f[failedPos]
	f[labelled] = math.Max(reached, float64(len(r.Evidence)))
	f[unreached] = f[labelled] - reached
	if slope, ok := r.slope(); ok {
		f[slopes], f[slopeRuns] = slope, 1
	}
}

func (f *facts) addAnswer(a *answer.Score) {
	if a != nil {
		f[answers], f[answerSubEM], f[answerEM], f[answerF1] = 1, a.SubEM, a.EM, a.F1
	}
}

// perfect is a run as if every reply were right: its denominators are those that a missing
// run would have.
func (r Run) perfect() Run {
	evidence := r.evidence()
	p := Run{Turns: make([]Turn, r.chunks()), Total: r.Total, Evidence: evidence, Answer: r.Answer}
	for i := range p.Turns {
		p.Turns[i] = Turn{Parsed: true, FirstTry: true}
	}
	for _, t := range evidence {
		if t <= len(p.Turns) {
			p.Turns[t-1].Evidence, p.Turns[t-1].Update, p.Turns[t-1].Written = true, true, true
			p.Turns[t-1].Exit = t == evidence[len(evidence)-1]
		}
	}
	return p
}
