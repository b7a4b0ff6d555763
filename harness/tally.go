package harness

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/eventlog"
	"github.com/poimen-memory/mem/prompt"
)

// tally counts what a run does while it does it: as a Model the calls, as a Sink the
// turns. It keeps numbers, one reply and one memory, so a long run stays small.
type tally struct {
	model     loop.Model
	sink      loop.Sink
	evidence  map[int]bool // turns whose chunk is evidence
	prompts   *prompt.Builder
	problem   prompt.Text
	tokenizer string
	turned    func() // after each turn

	calls    int
	chunk    prompt.Chunk    // of the turn in hand
	sent     int             // tokens of its prompt
	reply    loop.Completion // the last
	memory   *prompt.Text    // M_t; nil: none
	turns    []stat.Turn
	memories []int // tokens of the memory in each turn's prompt
	sizes    []int // tokens of each turn's prompt
	asked    int   // tokens of the prompt for the answer; 0: the loop goes on
	facts    check.Facts
	usage    usage
}

// usage is what a run's replies cost, as its server counts.
type usage struct {
	replies, metered   int // metered: with a count
	prompt, completion int
	retries, helped    int // calls that asked a turn again, and turns that parsed only then
	samples            []check.Count
}

func (e *Experiment) tally(j *job, in input, rec recording, turned func()) *tally {
	return &tally{
		model: rec.model, sink: eventlog.Writer{W: rec.events}, evidence: in.turns(),
		prompts: e.prompts, problem: e.prompts.Measure(j.query), tokenizer: e.Tokenizer(), turned: turned,
	}
}

// Complete asks the model and counts. A server that finds the prompt too long is shown
// what we counted, and with what.
func (t *tally) Complete(ctx context.Context, r loop.Request) (loop.Completion, error) {
	t.calls++
	switch {
	case r.Turn == loop.AnswerTurn:
		t.sent = t.asked
	case r.Attempt == 1:
		t.sent = t.tokens(r)
		t.memories, t.sizes = append(t.memories, t.prompts.Memory(t.memory).Tokens), append(t.sizes, t.sent)
	}
	var err error
	t.reply, err = t.model.Complete(ctx, r)
	var tooLong interface{ ContextLength() bool }
	if errors.As(err, &tooLong) && tooLong.ContextLength() {
		return t.reply, fmt.Errorf("%w (we count %d tokens in the prompt, by %s)", err, t.sent, t.tokenizer)
	}
	if err == nil {
		t.use(r, t.reply.Usage)
	}
	return t.reply, err
}

func (t *tally) use(r loop.Request, u *loop.Usage) {
	t.usage.replies++
	t.usage.retries += one(r.Attempt > 1)
	if u == nil {
		return
	}
	t.usage.metered++
	t.usage.prompt += u.PromptTokens
	t.usage.completion += u.CompletionTokens
	t.usage.samples = append(t.usage.samples, check.Count{Ours: t.sent, Server: u.PromptTokens})
}

// asking says that what is asked from now on is the answer, by a prompt of so many tokens.
func (t *tally) asking(tokens int) { t.asked = tokens }

// answered is the tokens of the prompt for the answer, if it was asked for.
func (t *tally) answered() []int {
	if t.asked == 0 {
		return nil
	}
	return []int{t.asked}
}

// reading passes chunks on and keeps the one in hand.
func (t *tally) reading(chunks iter.Seq2[prompt.Chunk, error]) iter.Seq2[prompt.Chunk, error] {
	return func(yield func(prompt.Chunk, error) bool) {
		for chunk, err := range chunks {
			t.chunk = chunk
			if !yield(chunk, err) {
				return
			}
		}
	}
}

// tokens of what was sent. The counts of its components are at hand, and hold if it is
// what they make; anything else is counted.
func (t *tally) tokens(r loop.Request) int {
	p, err := t.prompts.Assemble(t.problem, t.memory, t.chunk)
	if err == nil && p.User == r.User && p.System == r.System {
		return p.Tokens.Prompt()
	}
	return t.prompts.Measure(r.System).Tokens + t.prompts.Measure(r.User).Tokens
}

// Emit passes the unit on and counts it.
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
	turn := stat.Turn{Evidence: t.evidence[len(t.turns)+1]}
	for _, e := range unit {
		switch e := e.(type) {
		case loop.Gate:
			turn.Parsed, turn.FirstTry, turn.Update, turn.Exit = true, e.Attempts == 1, e.Update, e.Exit
			turn.Candidate, turn.Differs = t.candidate(e.Update)
			t.facts.Exits += one(e.Exit)
			t.usage.helped += one(e.Attempts > 1)
		case loop.Memory:
			turn.Written = true
			memory := prompt.Sized(e.Text, e.Tokens)
			t.memory = &memory
		case loop.BudgetExceeded:
			turn.OverBudget = true
			t.facts.BudgetExceeded++
		case loop.ParseFailed:
			t.facts.ParseFailed++
		}
	}
	if t.memory != nil {
		turn.MemoryTokens = t.memory.Tokens
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
	if t.memory != nil {
		memory = t.memory.Raw
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

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}
