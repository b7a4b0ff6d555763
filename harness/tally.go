package harness

import (
	"context"

	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/prompt"
)

// tally counts what a run does while it does it: as a Model the calls, as a Sink the
// turns. It keeps numbers, one reply and one memory, so a long run stays small.
type tally struct {
	model    loop.Model
	sink     loop.Sink
	evidence map[int]bool // turns whose chunk is evidence
	turned   func()       // after each turn

	calls    int
	reply    loop.Completion // the last
	text     *string         // M_t; nil: none
	turns    []stat.Turn
	memories []int // tokens of the memory in each turn's prompt
	memory   int   // tokens of M_t as sent, NoMemory's at first
	facts    check.Facts
}

func (t *tally) Complete(ctx context.Context, r loop.Request) (loop.Completion, error) {
	t.calls++
	var err error
	t.reply, err = t.model.Complete(ctx, r)
	return t.reply, err
}

func (t *tally) Emit(unit []loop.Event) error {
	if err := t.sink.Emit(unit); err != nil {
		return err
	}
	switch e := unit[0].(type) {
	case loop.RunStart:
	case loop.RunEnd:
		t.facts.StoppedBy = string(e.StoppedBy)
	default:
		t.turn(unit)
		t.turned()
	}
	return nil
}

// turn counts a turn's events.
func (t *tally) turn(unit []loop.Event) {
	t.memories = append(t.memories, t.memory) // the prompt showed the memory before the turn
	turn := stat.Turn{Evidence: t.evidence[len(t.turns)+1]}
	for _, e := range unit {
		switch e := e.(type) {
		case loop.Gate:
			turn.Parsed, turn.FirstTry, turn.Update, turn.Exit = true, e.Attempts == 1, e.Update, e.Exit
			turn.Candidate, turn.Differs = t.candidate(e.Update)
			t.facts.Exits += one(e.Exit)
		case loop.Memory:
			turn.Written = true
			t.text, t.memory = &e.Text, e.Tokens
		case loop.BudgetExceeded:
			turn.OverBudget = true
			t.facts.BudgetExceeded++
		case loop.ParseFailed:
			t.facts.ParseFailed++
		}
	}
	if t.text != nil {
		turn.MemoryTokens = t.memory
	}
	t.turns = append(t.turns, turn)
}

// candidate tells whether the reply that parsed held a candidate memory and, of a reply
// that said no, whether this ignored one is another text than the memory.
func (t *tally) candidate(update bool) (held, differs bool) {
	if update {
		return true, false
	}
	d, err := loop.Parse(t.reply)
	if err != nil || !d.HasCandidate {
		return false, false
	}
	memory := prompt.NoMemory
	if t.text != nil {
		memory = *t.text
	}
	return true, d.Candidate != memory
}

// end is the run's facts with its outcome.
func (t *tally) end(out loop.Outcome) check.Facts {
	f := t.facts
	f.Calls, f.ChunksSeen, f.ChunksUsed = t.calls, out.ChunksSeen, out.ChunksUsed
	if out.Memory != nil {
		f.FinalMemory, f.MemoryTokens = &out.Memory.Raw, out.Memory.Tokens
	}
	return f
}

// committed reports whether an evidence chunk became memory.
func (t *tally) committed() bool {
	for _, turn := range t.turns {
		if turn.Evidence && turn.Written {
			return true
		}
	}
	return false
}

// prompts are the tokens of each turn's prompt.
func (t *tally) prompts(fixed prompt.Tokens, problem int, chunks []int) []int {
	sums := make([]int, len(t.turns))
	for i := range sums {
		p := fixed
		p.Problem, p.Memory, p.Section = problem, t.memories[i], chunks[i]
		sums[i] = p.Prompt()
	}
	return sums
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}
