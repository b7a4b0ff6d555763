package loop_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/gate"
	"github.com/poimen-memory/mem/internal/digest"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/prompt"
)

// TestEventsAndRequestsToTheLastField: one turn of each kind, with texts whose rendered,
// escaped, byte and token lengths all differ, so that no field can stand for another.
func TestEventsAndRequestsToTheLastField(t *testing.T) {
	b, err := prompt.New(prompt.Config{Counter: words{}, System: "be brief", Budget: prompt.Budget{Memory: 3, Response: 99}})
	if err != nil {
		t.Fatal(err)
	}
	const (
		query  = "Which <memory> pört?"
		line   = "ein <memory> Täg"
		first  = "the first"
		second = "the <memory> second"
		long   = "one two three four"
	)
	raw := "[tool] " + line
	s, l := &script{replies: [][]string{{yes(first, "continue")}, {no("end")}, {garbled}, {yes(long, "continue")}, {garbled, yes(second, "end")}}}, &log{}
	source := func(yield func(prompt.Chunk, error) bool) {
		for range 5 {
			if !yield(b.Chunk(prompt.Record{Role: "tool", Text: line}), nil) {
				return
			}
		}
	}
	cfg := loop.Config{Model: s, Prompts: b, Sink: l, Level: 2, Tokenizer: "words", UseExitGate: false}
	if _, err := loop.Run(t.Context(), cfg, query, source); err != nil {
		t.Fatal(err)
	}
	chunk, final := digest.Of(raw), digest.Of(second)
	want := [][]loop.Event{
		{loop.RunStart{Schema: 1, Level: 2, QuerySHA: digest.Of(query), MemoryBudget: 3, Tokenizer: "words"}},
		{
			loop.Gate{Level: 2, Turn: 1, ChunkSHA: chunk, Update: true, Attempts: 1},
			loop.Evidence{Level: 1, Turn: 1, SHA: chunk, Bytes: len(raw)},
			loop.Memory{Level: 2, Turn: 1, SHA: digest.Of(first), Parents: []string{chunk}, Tokens: 2, Text: first},
		},
		{loop.Gate{Level: 2, Turn: 2, ChunkSHA: chunk, Exit: true, Attempts: 1}},
		{loop.ParseFailed{Level: 2, Turn: 3, Attempts: 3, Kinds: []gate.Kind{gate.MissingCheck, gate.MissingCheck, gate.MissingCheck}}},
		{
			loop.Gate{Level: 2, Turn: 4, ChunkSHA: chunk, Update: true, Attempts: 1},
			loop.BudgetExceeded{Level: 2, Turn: 4, Tokens: 4, Budget: 3, CandidateSHA: digest.Of(long)},
		},
		{
			loop.Gate{Level: 2, Turn: 5, ChunkSHA: chunk, Update: true, Exit: true, Attempts: 2},
			loop.Evidence{Level: 1, Turn: 5, SHA: chunk, Bytes: len(raw)},
			loop.Memory{Level: 2, Turn: 5, SHA: final, Parents: []string{chunk, digest.Of(first)}, Tokens: 3, Text: second},
		},
		{loop.RunEnd{Level: 2, ChunksSeen: 5, ChunksUsed: 2, FinalMemorySHA: &final, StoppedBy: loop.SourceEnd}},
	}
	if diff := cmp.Diff(want, l.units); diff != "" {
		t.Errorf("units (-want +got):\n%s", diff)
	}
	for _, name := range []string{"run_start", "gate", "evidence", "memory", "budget_exceeded", "parse_failed", "run_end"} {
		if !strings.Contains(l.text.String(), `{"type":"`+name+`","`) {
			t.Errorf("the log has no %s:\n%s", name, &l.text)
		}
	}
	for _, r := range s.sent {
		if r.System != "be brief" || r.MaxTokens != 99 {
			t.Errorf("turn %d, attempt %d: the system message is %q and the limit %d, want be brief and 99", r.Turn, r.Attempt, r.System, r.MaxTokens)
		}
	}
}

func TestParsePutsTheReasoningBeforeTheText(t *testing.T) {
	for name, test := range map[string]struct {
		reply loop.Completion
		want  gate.Decision
		err   error
	}{
		"reasoning":  {loop.Completion{Reasoning: "hm", Text: no("end")}, gate.Decision{Exit: true, Reasoning: "hm", HasCandidate: true, Candidate: ignored}, nil},
		"none":       {loop.Completion{Text: no("end")}, gate.Decision{Exit: true, HasCandidate: true, Candidate: ignored}, nil},
		"wrong text": {loop.Completion{Text: "so"}, gate.Decision{}, &gate.SyntaxError{Kind: gate.MissingCheck, Offset: 2, Want: "<check>yes</check> or <check>no</check>", Found: "end of reply"}},
		"cut": {loop.Completion{Reasoning: "hm", Text: no("end"), Finish: loop.FinishLength}, gate.Decision{},
			&gate.SyntaxError{Kind: gate.Length, Offset: len(no("end")), Want: "a whole reply", Found: "a reply cut by the token limit"}},
	} {
		got, err := loop.Parse(test.reply)
		if diff := cmp.Diff(test.want, got) + cmp.Diff(test.err, err); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestAnErrorIsTheLastThing: after a sink has refused a unit, neither it nor the model
// hears of the run again, be it the opening, a turn or the end.
func TestAnErrorIsTheLastThing(t *testing.T) {
	full := errors.New("disk full")
	b := builder(t)
	for refused := range 4 { // the opening, two turns, the end
		units, calls, over := 0, 0, false
		model := modelFunc(func(context.Context, loop.Request) (loop.Completion, error) {
			if calls++; over {
				t.Errorf("unit %d refused: the model is asked after it", refused)
			}
			return loop.Completion{Text: no("continue")}, nil
		})
		sink := sinkFunc(func([]loop.Event) error {
			if over {
				t.Errorf("unit %d refused: the sink is given another", refused)
			}
			if units++; units <= refused {
				return nil
			}
			over = true
			return full
		})
		out, err := loop.Run(t.Context(), loop.Config{Model: model, Sink: sink, Prompts: b, Level: 1}, "q", chunks(b, 2))
		if err != full || out.ChunksSeen != max(0, refused-1) || out.StoppedBy != "" || calls != min(refused, 2) {
			t.Errorf("unit %d refused: %+v after %d calls, error %v", refused, out, calls, err)
		}
	}
}
