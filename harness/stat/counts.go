package stat

// Counts are the gate counts of any number of runs, for tables; they add up. A turn is
// evidence or evidence-free by its labels; a parse-failed turn is neither right nor wrong.
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
	// whose exit gate opened all the same.
	ExitEarly      int `json:"exit_early"`
	ExitOnTime     int `json:"exit_on_time"`
	ExitLate       int `json:"exit_late"`
	ExitNever      int `json:"exit_never"`
	NoEvidence     int `json:"runs_without_evidence"`
	ExitNoEvidence int `json:"exit_without_evidence"`
}

// Count counts one run.
func Count(r Run) Counts {
	f := r.facts()
	var c Counts
	shown := []fact{ // in the order of fields
		runs, turns, firstTry, truePos, falseNeg, falsePos, trueNeg, failedPos, failedNeg, overBudget, written, memoryTokens,
		exitEarly, exitOnTime, exitLate, exitNever, withoutEvidence, exitWithoutEvidence,
	}
	for i, field := range c.fields() {
		*field = int(f[shown[i]])
	}
	return c
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

// ParseFailed is the number of turns none of whose replies parsed.
func (c Counts) ParseFailed() int { return c.FailedPos + c.FailedNeg }

// Recall is the share of evidence turns that replied yes, over parsed turns. ok is false
// where there are none: an undefined rate is never 0.
func (c Counts) Recall() (rate float64, ok bool) {
	return ratio(float64(c.TruePos), float64(c.TruePos+c.FalseNeg))
}

// Specificity is the share of evidence-free turns that replied no, over parsed turns.
func (c Counts) Specificity() (rate float64, ok bool) {
	return ratio(float64(c.TrueNeg), float64(c.TrueNeg+c.FalsePos))
}

// BalancedAccuracy is the mean of recall and specificity; undefined if either is.
func (c Counts) BalancedAccuracy() (rate float64, ok bool) {
	recall, ok1 := c.Recall()
	specificity, ok2 := c.Specificity()
	return (recall + specificity) / 2, ok1 && ok2
}

// Precision is the share of yes-turns that were on evidence, over parsed turns.
func (c Counts) Precision() (rate float64, ok bool) {
	return precision(float64(c.TruePos), float64(c.FalseNeg), float64(c.FalsePos), float64(c.TrueNeg))
}

// F1 is 2TP/(2TP+FP+FN), over parsed turns.
func (c Counts) F1() (score float64, ok bool) {
	return f1(float64(c.TruePos), float64(c.FalseNeg), float64(c.FalsePos), float64(c.TrueNeg))
}

// MCC is Matthews' correlation of the update gate with the labels, over parsed turns; it
// is undefined if any of the four margins is 0.
func (c Counts) MCC() (correlation float64, ok bool) {
	return mcc(float64(c.TruePos), float64(c.FalseNeg), float64(c.FalsePos), float64(c.TrueNeg))
}
