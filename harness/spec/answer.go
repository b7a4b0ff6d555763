package spec

import (
	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/spec/yamlpos"
)

// Answer has each run, when it has ended, asked for the answer to its query from the final
// memory alone. Answers are scored by the query's answers.
type Answer struct {
	At        diag.Place         `yaml:",pos"`
	Template  yamlpos.At[string] `yaml:"template" min:"1"`                    // file with exactly one each of {prompt} and {memory}; a prompt of our own, if not given
	MaxTokens yamlpos.At[int]    `yaml:"max_tokens" min:"1" max:"2147483647"` // of a reply, its reasoning included; budget.response, if not given
}

// answer: the window keeps only budget.response free for a reply.
func (v *validator) answer() {
	a, most := v.Answer, v.Budget.Value.Response
	if a != nil && a.MaxTokens.Value > most {
		v.errorf(a.MaxTokens.Place, "found %d, want at most budget.response, %d", a.MaxTokens.Value, most)
	}
}

// goldenOf: a golden is of a turn, with the memory before it, or of the answer.
func (v *validator) goldenOf(g Golden) {
	switch {
	case g.Answer.Present() && !g.Answer.Value:
		v.errorf(g.Answer.Place, "found false, want true, or a turn in its place")
	case g.Answer.Value && v.Answer == nil:
		v.errorf(g.Answer.Place, "found answer, but the spec asks for none: want answer: {} in it")
	case g.Answer.Value:
	case g.Turn.Value > 1 && !g.Memory.Present():
		v.errorf(g.Turn.Place, "found turn %d without memory, want the file with the memory before it", g.Turn.Value)
	case g.Turn.Value == 1 && g.Memory.Present():
		v.errorf(g.Memory.Place, "found a memory at turn 1, where there is none yet")
	}
}
