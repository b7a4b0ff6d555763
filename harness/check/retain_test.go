package check_test

import (
	"context"
	"strings"
	"testing"

	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/prompt"
)

type silent struct{}

func (silent) Complete(context.Context, loop.Request) (loop.Completion, error) {
	return loop.Completion{}, nil
}

type nowhere struct{}

func (nowhere) Emit([]loop.Event) error { return nil }

// watch knows a template with a space on either side of the memory.
func watch() *check.Watch {
	return &check.Watch{Model: silent{}, Sink: nowhere{}, Before: " ", After: " "}
}

// send is a prompt with a memory between its tags.
func send(t *testing.T, w *check.Watch, turn, attempt int, memory string) {
	t.Helper()
	user := "<problem> q </problem>\n<memory> " + memory + " </memory>\n<section> c </section>"
	if _, err := w.Complete(t.Context(), loop.Request{Turn: turn, Attempt: attempt, User: user, MaxTokens: 9}); err != nil {
		t.Fatal(err)
	}
}

// TestRetainAfterEachKindOfRetainingTurn: whatever made a turn retain, the next prompt
// must show the same bytes; one byte less is found, at the prompt that lost it.
func TestRetainAfterEachKindOfRetainingTurn(t *testing.T) {
	for name, events := range map[string][]loop.Event{
		"no":              {loop.Gate{Turn: 2}},
		"budget_exceeded": {loop.Gate{Turn: 2, Update: true}, loop.BudgetExceeded{Turn: 2}},
		"parse_failed":    {loop.ParseFailed{Turn: 2}},
	} {
		for next, want := range map[string]check.Status{"m  m": check.Pass, "m m": check.Fail, prompt.NoMemory: check.Fail} {
			w := watch()
			send(t, w, 1, 1, prompt.NoMemory)
			w.Emit([]loop.Event{loop.Gate{Turn: 1, Update: true}, loop.Evidence{Turn: 1}, loop.Memory{Turn: 1, Text: "m  m"}})
			send(t, w, 2, 1, "m  m")
			w.Emit(events)
			send(t, w, 3, 1, next)
			got := w.Retain("run", loop.Outcome{})
			if got.Status != want || want == check.Fail && !strings.Contains(got.Detail, "the prompt of turn 3") {
				t.Errorf("after %s, then %q: %s: %s; want %s", name, next, got.Status, got.Detail, want)
			}
		}
	}
}

// TestFirstTurnShowsNoMemory: the literal, and nothing beside it.
func TestFirstTurnShowsNoMemory(t *testing.T) {
	for _, memory := range []string{"", prompt.NoMemory + ".", "There is: " + prompt.NoMemory, strings.ToLower(prompt.NoMemory)} {
		w := watch()
		send(t, w, 1, 1, memory)
		if got := w.Retain("run", loop.Outcome{}); got.Status != check.Fail || !strings.Contains(got.Detail, prompt.NoMemory) {
			t.Errorf("%q at turn 1: %s: %s", memory, got.Status, got.Detail)
		}
	}
}

func TestFinalShaIsTheOutcomes(t *testing.T) {
	w := watch()
	send(t, w, 1, 1, prompt.NoMemory)
	w.Emit([]loop.Event{loop.Gate{Turn: 1}})
	other := prompt.SHA("other")
	w.Emit([]loop.Event{loop.RunEnd{FinalMemorySHA: &other}})
	if got := w.Retain("run", loop.Outcome{}); got.Status != check.Fail || !strings.Contains(got.Detail, "final_memory_sha") {
		t.Errorf("a sha of nothing: %s: %s", got.Status, got.Detail)
	}
}

// TestRetryNamesWhatDiffers: prompt, system message or token limit.
func TestRetryNamesWhatDiffers(t *testing.T) {
	for want, change := range map[string]func(*loop.Request){
		"other bytes":            func(r *loop.Request) { r.User += " " },
		"another system message": func(r *loop.Request) { r.System = "be brief" },
		"tokens at most":         func(r *loop.Request) { r.MaxTokens++ },
	} {
		w := watch()
		send(t, w, 1, 1, prompt.NoMemory)
		r := loop.Request{Turn: 1, Attempt: 2, MaxTokens: 9, User: "<problem> q </problem>\n<memory> " + prompt.NoMemory + " </memory>\n<section> c </section>"}
		change(&r)
		w.Complete(t.Context(), r)
		if got := w.Retain("run", loop.Outcome{}); got.Status != check.Fail || !strings.Contains(got.Detail, want) {
			t.Errorf("%s: %s: %s", want, got.Status, got.Detail)
		}
	}
}

func TestEmptyUnitIsAViolation(t *testing.T) {
	w := watch()
	w.Emit(nil)
	if got := w.Retain("run", loop.Outcome{}); got.Status != check.Fail {
		t.Errorf("an empty unit: %s", got.Status)
	}
}
