package answer

import "slices"

// abstentions are what an answer says that does not know, in tokens: an answer that holds one of
// them abstains.
var abstentions = [][]string{
	{"unknown"}, {"unanswerable"}, {"unspecified"},
	{"do", "not", "know"}, {"dont", "know"}, {"not", "known"},
	{"no", "information"}, {"no", "answer"}, {"not", "enough", "information"}, {"insufficient", "information"},
	{"not", "mentioned"}, {"not", "stated"}, {"not", "specified"}, {"not", "provided"}, {"not", "given"},
	{"not", "available"}, {"not", "contain"}, {"not", "found"}, {"no", "mention"}, {"no", "record"},
	{"cannot", "be", "answered"}, {"cannot", "be", "determined"}, {"cannot", "answer"}, {"cannot", "determine"},
	{"can", "not", "be", "answered"}, {"can", "not", "be", "determined"}, {"cant", "answer"}, {"unable", "to", "answer"},
}

// Abstention scores an answer to a question that the session does not answer: 1 if it says so.
func Abstention(answer string) Score {
	got := tokens(WithoutReasoning(answer))
	one := float64(oneIf(slices.ContainsFunc(abstentions, func(said []string) bool { return holds(got, said) })))
	return Score{SubEM: one, EM: one, F1: one}
}
