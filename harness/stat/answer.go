package stat

import (
	"slices"
	"strings"
	"unicode"
)

// AnswerScore is how near an answer is to its references, each number from 0 to 1.
type AnswerScore struct {
	SubEM float64 `json:"sub_em"` // the answer holds the reference
	EM    float64 `json:"em"`     // it is the reference
	F1    float64 `json:"f1"`     // of their tokens
}

// ScoreAnswer compares an answer with its references, both as SQuAD's evaluation normalises
// them: in lower case, without punctuation and the articles a, an, the, in tokens.
//
// The references are wordings of one answer, of which the best counts, or with all the parts
// of it (the values of RULER's needles): then SubEM is the share of them that the answer
// holds, and EM and F1 are against all their tokens, in any order.
//
// An answer holds a reference if its tokens hold the reference's, contiguous (METRICS section
// 1, sub_em): one way, and tokens, not characters, so that neither "no" nor "unknown" passes
// for the other. An empty answer, and a reference of nothing, score 0.
func ScoreAnswer(answer string, references []string, all bool) AnswerScore {
	got := answerTokens(answer)
	if all && len(references) > 1 {
		return scoreParts(got, references)
	}
	var best AnswerScore
	for _, ref := range references {
		want := answerTokens(ref)
		if len(want) == 0 {
			continue
		}
		best.SubEM = max(best.SubEM, float64(one(holds(got, want))))
		best.EM = max(best.EM, float64(one(slices.Equal(got, want))))
		best.F1 = max(best.F1, tokenF1(got, want))
	}
	return best
}

// scoreParts scores against references that all belong to the answer.
func scoreParts(got []string, references []string) (s AnswerScore) {
	var want []string
	held := 0
	for _, ref := range references {
		part := answerTokens(ref)
		held += one(len(part) > 0 && holds(got, part))
		want = append(want, part...)
	}
	s.SubEM = float64(held) / float64(len(references))
	s.F1 = tokenF1(got, want)
	s.EM = float64(one(len(got) > 0 && slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want)))))
	return s
}

// Right says whether the answer holds all that it has to.
func (s AnswerScore) Right() bool { return s.SubEM == 1 }

func holds(got, want []string) bool {
	for i := 0; i+len(want) <= len(got); i++ {
		if slices.Equal(got[i:i+len(want)], want) {
			return true
		}
	}
	return false
}

// tokenF1 is the harmonic mean of the shares of each side's tokens that the other has too, as
// often as both have them.
func tokenF1(got, want []string) float64 {
	left := map[string]int{}
	for _, token := range want {
		left[token]++
	}
	common := 0
	for _, token := range got {
		if left[token] > 0 {
			left[token]--
			common++
		}
	}
	if common == 0 {
		return 0
	}
	return 2 * float64(common) / float64(len(got)+len(want))
}

func answerTokens(text string) []string {
	plain := strings.Map(func(r rune) rune {
		if unicode.IsPunct(r) || r < unicode.MaxASCII && unicode.IsSymbol(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, text)
	return slices.DeleteFunc(strings.Fields(plain), func(word string) bool {
		return word == "a" || word == "an" || word == "the"
	})
}

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
		s := score(r)
		switch gates, answer := s.gatesRight(), r.Answer.Right(); {
		case !s.hasEvidence():
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

// gatesRight is success, with nothing written beside the evidence.
func (s scored) gatesRight() bool {
	return s.success() && !slices.ContainsFunc(s.Turns, func(t Turn) bool { return t.Written && !t.Evidence })
}
