package stat

import "math"

// Counts are the gate counts of any number of runs; they add up. A turn is evidence or
// evidence-free by its labels; a parse-failed turn is neither right nor wrong.
type Counts struct {
	Runs         int `json:"runs"`
	Turns        int `json:"turns"`
	FirstTry     int `json:"first_try"`
	TruePos      int `json:"yes_on_evidence"`
	FalseNeg     int `json:"no_on_evidence"`
	FalsePos     int `json:"yes_on_free"`
	TrueNeg      int `json:"no_on_free"`
	FailedPos    int `json:"parse_failed_on_evidence"`
	FailedNeg    int `json:"parse_failed_on_free"`
	OverBudget   int `json:"over_budget"`
	ChunksUsed   int `json:"chunks_used"`
	MemoryTokens int `json:"final_memory_tokens"` // summed over runs

	// Runs with evidence by their first exit t_x against t*, and those without evidence
	// that opened the exit gate all the same.
	ExitEarly      int `json:"exit_early"`
	ExitOnTime     int `json:"exit_on_time"`
	ExitLate       int `json:"exit_late"`
	ExitNever      int `json:"exit_never"`
	NoEvidence     int `json:"runs_without_evidence"`
	ExitNoEvidence int `json:"exit_without_evidence"`
}

// ParseFailed is the number of turns none of whose replies parsed.
func (c Counts) ParseFailed() int { return c.FailedPos + c.FailedNeg }

// Count counts one run.
func Count(r Run) Counts {
	c := Counts{Runs: 1, Turns: len(r.Turns), MemoryTokens: r.MemoryTokens}
	firstExit := 0
	for i, t := range r.Turns {
		c.turn(t)
		if t.Exit && firstExit == 0 {
			firstExit = i + 1
		}
	}
	c.exit(firstExit, r.LastEvidence)
	return c
}

func (c *Counts) turn(t Turn) {
	*c.cell(t)++
	c.FirstTry += one(t.FirstTry)
	c.OverBudget += one(t.OverBudget)
	c.ChunksUsed += one(t.Written)
}

// cell is the count that a turn falls into: evidence or not × yes, no or not parsed.
func (c *Counts) cell(t Turn) *int {
	switch {
	case !t.Parsed && t.Evidence:
		return &c.FailedPos
	case !t.Parsed:
		return &c.FailedNeg
	case t.Evidence && t.Update:
		return &c.TruePos
	case t.Evidence:
		return &c.FalseNeg
	case t.Update:
		return &c.FalsePos
	}
	return &c.TrueNeg
}

func (c *Counts) exit(first, last int) {
	switch {
	case last == 0:
		c.NoEvidence++
		c.ExitNoEvidence += one(first > 0)
	case first == 0:
		c.ExitNever++
	case first < last:
		c.ExitEarly++
	case first == last:
		c.ExitOnTime++
	default:
		c.ExitLate++
	}
}

// Add is the counts of both.
func (c Counts) Add(d Counts) Counts {
	sum := c
	into, from := sum.fields(), d.fields()
	for i := range into {
		*into[i] += *from[i]
	}
	return sum
}

func (c *Counts) fields() []*int {
	return []*int{
		&c.Runs, &c.Turns, &c.FirstTry, &c.TruePos, &c.FalseNeg, &c.FalsePos, &c.TrueNeg, &c.FailedPos, &c.FailedNeg,
		&c.OverBudget, &c.ChunksUsed, &c.MemoryTokens, &c.ExitEarly, &c.ExitOnTime, &c.ExitLate, &c.ExitNever,
		&c.NoEvidence, &c.ExitNoEvidence,
	}
}

// Recall is the share of evidence turns that said yes, over parsed turns. ok is false
// where there are none: an undefined rate is never 0.
func (c Counts) Recall() (rate float64, ok bool) { return ratio(c.TruePos, c.TruePos+c.FalseNeg) }

// Specificity is the share of evidence-free turns that said no, over parsed turns.
func (c Counts) Specificity() (rate float64, ok bool) {
	return ratio(c.TrueNeg, c.TrueNeg+c.FalsePos)
}

// BalancedAccuracy is the mean of recall and specificity; undefined if either is.
func (c Counts) BalancedAccuracy() (rate float64, ok bool) {
	recall, ok1 := c.Recall()
	specificity, ok2 := c.Specificity()
	return (recall + specificity) / 2, ok1 && ok2
}

// Precision is the share of yes-turns that were on evidence, over parsed turns.
func (c Counts) Precision() (rate float64, ok bool) { return ratio(c.TruePos, c.TruePos+c.FalsePos) }

// F1 is 2TP/(2TP+FP+FN), over parsed turns.
func (c Counts) F1() (score float64, ok bool) {
	return ratio(2*c.TruePos, 2*c.TruePos+c.FalsePos+c.FalseNeg)
}

// balancedStrict is the mean of recall_strict and specificity_strict.
func (c Counts) balancedStrict() (rate float64, ok bool) {
	recall, ok1 := ratio(c.TruePos, c.TruePos+c.FalseNeg+c.FailedPos)
	specificity, ok2 := ratio(c.TrueNeg, c.TrueNeg+c.FalsePos+c.FailedNeg)
	return (recall + specificity) / 2, ok1 && ok2
}

// MCC is Matthews' correlation of the update gate with the labels, over parsed turns; it
// is undefined if any of the four margins is 0.
func (c Counts) MCC() (correlation float64, ok bool) {
	return mcc(float64(c.TruePos), float64(c.FalseNeg), float64(c.FalsePos), float64(c.TrueNeg))
}

func mcc(tp, fn, fp, tn float64) (float64, bool) {
	margins := math.Sqrt(tp+fn) * math.Sqrt(tp+fp) * math.Sqrt(tn+fp) * math.Sqrt(tn+fn)
	if margins == 0 {
		return 0, false
	}
	return (tp*tn - fp*fn) / margins, true
}

func ratio(n, of int) (float64, bool) {
	if of == 0 {
		return 0, false
	}
	return float64(n) / float64(of), true
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}
