package scripted

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/poimen-memory/mem/gate"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/prompt"
)

// view is what a model can read in a prompt, without the template's spaces around it.
// No memory is the empty string.
type view struct{ question, memory, section string }

func read(r loop.Request) (view, error) {
	parts, err := prompt.Split(r.User)
	if err != nil {
		return view{}, fmt.Errorf("turn %d: %w", r.Turn, err)
	}
	return viewOf(parts), nil
}

func viewOf(parts prompt.Parts) view {
	v := view{
		question: strings.TrimSpace(parts.Problem),
		memory:   strings.TrimSpace(parts.Memory),
		section:  strings.TrimSpace(parts.Section),
	}
	if v.memory == prompt.NoMemory {
		v.memory = ""
	}
	return v
}

// unknown is a policy's answer from no memory.
const unknown = "I do not know."

// recite is a policy's answer: all of the memory, for it understands none of it. So it
// holds the right answer if the memory does.
func recite(r loop.Request) (loop.Completion, error) {
	parts, err := prompt.SplitAnswer(r.User)
	if err != nil {
		return loop.Completion{}, fmt.Errorf("answer: %w", err)
	}
	memory := viewOf(parts).memory
	return loop.Completion{Text: cmp.Or(strings.ReplaceAll(writable(memory), "<think>", "&lt;think>"), unknown)}, nil
}

// write is a decision to replace the memory. A reply cannot carry a blank one, so with
// nothing to write the answer is no.
func write(candidate string, exit bool) gate.Decision {
	if candidate == "" {
		return gate.Decision{Exit: exit}
	}
	return gate.Decision{Update: true, Candidate: candidate, HasCandidate: true, Exit: exit}
}

func say(d gate.Decision) loop.Completion { return loop.Completion{Text: d.Reply()} }

// AlwaysUpdate replaces the memory at every turn with the head of the chunk, in whole
// words within Budget, and reads on: a memory without gates, as MemAgent's is (paper,
// section 2).
type AlwaysUpdate struct {
	Budget  int // of the memory, in tokens; 0 is the seed's 1024
	Counter prompt.Counter
}

// Complete answers one prompt. The error is that of a prompt that cannot be read.
func (a AlwaysUpdate) Complete(_ context.Context, r loop.Request) (loop.Completion, error) {
	if r.Turn == loop.AnswerTurn {
		return recite(r)
	}
	v, err := read(r)
	if err != nil {
		return loop.Completion{}, err
	}
	return say(write(newTokenBudget(a.Budget, a.Counter).head(v.section), false)), nil
}

// NeverUpdate retains at every turn and reads on.
type NeverUpdate struct{}

// Complete answers any prompt; asked for the answer, that it does not know.
func (NeverUpdate) Complete(_ context.Context, r loop.Request) (loop.Completion, error) {
	if r.Turn == loop.AnswerTurn {
		return loop.Completion{Text: unknown}, nil
	}
	return say(gate.Decision{}), nil
}
