package gate

import "strings"

// BlankAnswer is a reply without a word after its reasoning; at its end. Only Answer finds
// it: no turn is one, and so it is none of Kinds.
const BlankAnswer Kind = "blank_answer"

// Answer is what a reply says after its reasoning, trimmed, where the prompt asked for an
// answer and no gates. The reasoning ends where Parse has it end. The error is always a
// *SyntaxError: the reply is not valid UTF-8, broke off while reasoning, or says nothing.
func Answer(reply string) (string, error) {
	if at := invalidUTF8(reply); at >= 0 {
		return "", &SyntaxError{InvalidUTF8, at, "valid UTF-8", excerpt(reply[at : at+1])}
	}
	_, from := split(reply)
	if at := strings.Index(reply[from:], openThink); at >= 0 {
		return "", &SyntaxError{UnclosedThink, from + at, closeThink + " after this " + openThink, excerpt(reply[from+at:])}
	}
	answer := strings.TrimSpace(reply[from:])
	if answer == "" {
		return "", &SyntaxError{BlankAnswer, len(reply), "an answer", "end of reply"}
	}
	return answer, nil
}
