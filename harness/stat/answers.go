package stat

// AnswerTable is how often gates and answers were right, in runs. Gates are right when every
// evidence chunk was committed (recall_committed), no other chunk was written, and no exit
// came before the last evidence (exit_safe); an answer is right when it holds all that it has
// to (sub_em = 1).
type AnswerTable struct {
	Both       int `json:"both_right"`
	GatesOnly  int `json:"gates_right_answer_wrong"` // the memory, or the answering, is at fault
	AnswerOnly int `json:"gates_wrong_answer_right"`
	Neither    int `json:"both_wrong"`
	NoEvidence int `json:"no_evidence"` // runs without evidence, in none of the four
}

// CrossAnswers counts the complete ones of runs that have an answer with references.
func CrossAnswers(runs []Run) (t AnswerTable) {
	for _, r := range runs {
		if r.Incomplete || r.Answer == nil {
			continue
		}
		switch gates, answer := r.gatesRight(), r.Answer.Right(); {
		case r.lastEvidence() == 0:
			t.NoEvidence++
		case gates && answer:
			t.Both++
		case gates:
			t.GatesOnly++
		case answer:
			t.AnswerOnly++
		default:
			t.Neither++
		}
	}
	return t
}
