// Package gate parses the reply of a model at one turn of the memory loop: the update gate
// (<check>), the candidate memory (<update>) and the exit gate (<next>). Parse returns a
// Decision or a *SyntaxError with the kind, the byte and what was wanted there; it has no
// defaults. Answer reads the reply to a question about the final memory. See ExampleParse.
//
// A reply is reasoning that ends with the last </think>, whether or not <think> opened it (some
// servers pre-fill the opening tag), followed by the answer, three elements in any order:
//
//	reply     = [ reasoning "</think>" ] answer .
//	reasoning = [ "<think>" ] any .                    (* up to the last "</think>" of the reply *)
//	answer    = text { element text } [ "<think>" { text | "<think>" } ] .
//	element   = check | update | next .
//	check     = "<check>" space ( "yes" | "no" ) space "</check>" { space "</check>" } .
//	update    = "<update>" body "</update>" { space "</update>" } .
//	next      = "<next>" space ( "continue" | "end" ) space "</next>" { space "</next>" } .
//	any       = valid UTF-8 .
//	text      = any, but none of the tags above .
//	body      = any, but none of "<update>", "</update>" and "</think>" .
//	space     = white space, possibly none .
//
// An answer has exactly one check, exactly one next and at most one update, which "yes"
// requires and which may not be blank then. The ASCII case of the four values does not matter.
// Tags are matched as the template writes them: <Check> and < check > are text.
//
// Parse never guesses: what could be read in two ways is an error, and the loop asks again.
// Where that is not obvious:
//
//   - A </think> inside an update's body ends the reasoning like any other. What is left begins
//     within the body, so that the next </update> has no <update> and the reply is refused,
//     unless a complete answer follows the </think>: then that is the answer.
//   - An unclosed <think> before the answer is complete means that the reply broke off while
//     reasoning; an element behind it may be part of that reasoning. Both are refused. Behind a
//     complete answer, with no element after it, it changes nothing and is accepted.
//   - A second <check>, <update> or <next> is refused even if it says the same, and so is an
//     <update> inside an update's body: where the memory begins would be a guess. All other
//     tags inside the body are text.
//   - A closing tag that is repeated at once is ignored, because some models repeat it. Any
//     other closing tag without its opening tag is refused: part of an element is missing.
//   - Prose in the answer is ignored. It is not reasoning: only </think> makes that.
package gate

import "strings"

const (
	openThink  = "<think>"
	closeThink = "</think>"
)

// Decision is what a reply says: the update gate, the candidate memory and the exit gate of one
// turn (paper, Algorithm 1).
type Decision struct {
	Update bool // U_t: <check>yes</check>
	Exit   bool // E_t: <next>end</next>

	// Candidate is the update's body, trimmed once of the white space around it; its inner bytes
	// are untouched. With Update it is the proposed memory and never blank, without it is ignored.
	Candidate string
	// HasCandidate tells an update with an empty body from no update at all. With Update it is
	// always true.
	HasCandidate bool

	// Reasoning is the trimmed text before the last </think>, without the <think> that opens it;
	// for reports.
	Reasoning string
}

// Reply renders the canonical reply: reasoning unless it is empty, check, update if there is a
// candidate, next. A Decision that Parse returned is read back the same. One from elsewhere is
// if it keeps the grammar: valid UTF-8, trimmed strings, HasCandidate set with a candidate, and
// none of <update>, </update> and </think> in it.
func (d Decision) Reply() string {
	var b strings.Builder
	if d.Reasoning != "" {
		b.WriteString(openThink + d.Reasoning + closeThink + "\n")
	}
	b.WriteString("<check>" + choose(d.Update, "yes", "no") + "</check>\n")
	if d.HasCandidate {
		b.WriteString("<update>" + d.Candidate + "</update>\n")
	}
	b.WriteString("<next>" + choose(d.Exit, "end", "continue") + "</next>")
	return b.String()
}

func choose(gate bool, yes, no string) string {
	if gate {
		return yes
	}
	return no
}
