package harness

import (
	"context"

	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/prompt"
)

// tally counts what a run does while it does it: as a Model the calls, as a Sink the
// turns. It keeps numbers only, so a long run stays small.
type tally struct {
	model    loop.Model
	sink     loop.Sink
	evidence map[int]bool // turns whose chunk is evidence
	turned   func()       // after each turn

	calls    int
	turns    []stat.Turn
	memories []int // tokens of the memory in each turn's prompt
	memory   int   // tokens of M_t as sent, NoMemory's at first
	facts    check.Facts
}

func (t *tally) Complete(ctx context.Context, r loop.Request) (loop.Completion, error) {
	t.calls++
	return t.model.Complete(ctx, r)
}

func (t *tally) Emit(unit []loop.Event) error {
	if err := t.sink.Emit(unit); err != nil {
		return err
	}
	turn := stat.Turn{}
	for _, e := range unit {
		switch e := e.(type) {
		case loop.RunStart:
			return nil
		case loop.RunEnd:
			t.facts.StoppedBy = string(e.StoppedBy)
			return nil
		case loop.Gate:
			turn = stat.Turn{Parsed: true, FirstTry: e.Attempts == 1, Update: e.Update, Exit: e.Exit}
			t.facts.Exits += one(e.Exit)
		case loop.Memory:
			turn.Written = true
			defer func() { t.memory = e.Tokens }() // the turn's own prompt showed the one before
		case loop.BudgetExceeded:
			turn.OverBudget = true
			t.facts.BudgetExceeded++
		case loop.ParseFailed:
			t.facts.ParseFailed++
		}
	}
	turn.Evidence = t.evidence[len(t.turns)+1]
	t.turns = append(t.turns, turn)
	t.memories = append(t.memories, t.memory)
	t.turned()
	return nil
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
