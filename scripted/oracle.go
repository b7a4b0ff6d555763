package scripted

import (
	"context"
	"fmt"

	"github.com/poimen-memory/mem/gate"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/prompt"
)

// Truth is what the labels say about one chunk.
type Truth struct {
	Evidence bool   // the chunk overlaps a label
	Last     bool   // it is the last such chunk, t*
	Excerpt  string // the labelled text in it
}

// Oracle answers as the labels do: yes exactly on evidence, end from t* on, and never
// end without evidence. It notes each excerpt on lines of its own under the memory it
// reads; the oldest lines go when the memory is full.
type Oracle struct {
	Truth   []Truth // of chunk t at t-1
	Budget  int     // of the memory, in tokens; 0 is the seed's 1024
	Counter prompt.Counter
}

// Complete answers one prompt. The error is that of a prompt that cannot be read, or of
// a turn that Truth does not reach.
func (o Oracle) Complete(_ context.Context, r loop.Request) (loop.Completion, error) {
	if r.Turn == loop.AnswerTurn {
		return recite(r)
	}
	v, err := o.read(r)
	if err != nil {
		return loop.Completion{}, err
	}
	update, exit := o.gates(r.Turn)
	return say(o.decide(v, r.Turn, update, exit)), nil
}

func (o Oracle) read(r loop.Request) (view, error) {
	if r.Turn < 1 || r.Turn > len(o.Truth) {
		return view{}, fmt.Errorf("turn %d: want a turn in 1-%d, the chunks that the oracle has labels of", r.Turn, len(o.Truth))
	}
	return read(r)
}

// gates is what the labels say at a turn.
func (o Oracle) gates(turn int) (update, exit bool) {
	for _, t := range o.Truth[:turn] {
		exit = exit || t.Last
	}
	return o.Truth[turn-1].Evidence, exit
}

// decide puts an answer to gates that need not be the true ones.
func (o Oracle) decide(v view, turn int, update, exit bool) gate.Decision {
	if !update {
		return gate.Decision{Exit: exit}
	}
	r := newTokenBudget(o.Budget, o.Counter)
	note := o.Truth[turn-1].Excerpt
	if writable(note) == "" {
		note = tokenBudget{max(r.limit/4, 1), r.counter}.head(v.section)
	}
	return write(r.append(v.memory, note), exit)
}
