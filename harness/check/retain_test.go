package check_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/internal/digest"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/prompt"
)

// watch knows a template with a space on either side of the memory.
func watch() *check.RetainJudge { return &check.RetainJudge{Before: " ", After: " "} }

// send is a prompt with a memory between its tags.
func send(w *check.RetainJudge, turn, attempt int, memory string) {
	user := "<problem> q </problem>\n<memory> " + memory + " </memory>\n<section> c </section>"
	w.Sent(loop.Request{Turn: turn, Attempt: attempt, User: user, MaxTokens: 9})
}

// TestRetainAfterEachKindOfRetainingTurn: whatever made a turn retain, the next prompt
// must show the same bytes; one byte less is found, at the prompt that lost it.
func TestRetainAfterEachKindOfRetainingTurn(t *testing.T) {
	for name, events := range map[string][]loop.Event{
		"no":              {loop.Gate{Turn: 2}},
		"budget_exceeded": {loop.Gate{Turn: 2, Update: true}, loop.BudgetExceeded{Turn: 2}},
		"parse_failed":    {loop.ParseFailed{Turn: 2}},
	} {
		for next, want := range map[string]check.Status{"m  m": check.Pass, "m m": check.Fail, "m  m ": check.Fail, "\nm  m": check.Fail, prompt.NoMemory: check.Fail} {
			w := watch()
			send(w, 1, 1, prompt.NoMemory)
			w.Logged([]loop.Event{loop.Gate{Turn: 1, Update: true}, loop.Evidence{Turn: 1}, loop.Memory{Turn: 1, Text: "m  m"}})
			send(w, 2, 1, "m  m")
			w.Logged(events)
			send(w, 3, 1, next)
			got := w.Verdict("run", nil, nil)
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
		send(w, 1, 1, memory)
		if got := w.Verdict("run", nil, nil); got.Status != check.Fail || !strings.Contains(got.Detail, prompt.NoMemory) {
			t.Errorf("%q at turn 1: %s: %s", memory, got.Status, got.Detail)
		}
	}
}

func TestFinalShaIsTheOutcomes(t *testing.T) {
	w := watch()
	send(w, 1, 1, prompt.NoMemory)
	w.Logged([]loop.Event{loop.Gate{Turn: 1}})
	other := digest.Of("other")
	if got := w.Verdict("run", nil, &loop.RunEnd{FinalMemorySHA: &other}); got.Status != check.Fail || !strings.Contains(got.Detail, "final_memory_sha") {
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
		send(w, 1, 1, prompt.NoMemory)
		r := loop.Request{Turn: 1, Attempt: 2, MaxTokens: 9, User: "<problem> q </problem>\n<memory> " + prompt.NoMemory + " </memory>\n<section> c </section>"}
		change(&r)
		w.Sent(r)
		if got := w.Verdict("run", nil, nil); got.Status != check.Fail || !strings.Contains(got.Detail, want) {
			t.Errorf("%s: %s: %s", want, got.Status, got.Detail)
		}
	}
}

// TestRetainCountsAndSkips: what it looked at, and that it had nothing to look at.
func TestRetainCountsAndSkips(t *testing.T) {
	kept := prompt.Text{Raw: "k"}
	sha := kept.SHA()
	wrote := func(turn int, text string) []loop.Event {
		return []loop.Event{loop.Gate{Turn: turn, Update: true}, loop.Evidence{Turn: turn}, loop.Memory{Turn: turn, Text: text}}
	}
	no := func(turn int) []loop.Event { return []loop.Event{loop.Gate{Turn: turn}} }
	end := &loop.RunEnd{FinalMemorySHA: &sha}
	for name, test := range map[string]struct {
		shown   []string // memory of each turn's prompt
		units   [][]loop.Event
		end     *loop.RunEnd
		final   *string
		status  check.Status
		says    string
		changed []int
	}{
		"kept to the end":   {[]string{prompt.NoMemory, "k"}, [][]loop.Event{wrote(1, "k"), no(2)}, end, &kept.Raw, check.Pass, "1 retaining turns, 2 comparisons of sent bytes", nil},
		"nothing retained":  {[]string{prompt.NoMemory, "k"}, [][]loop.Event{wrote(1, "k"), wrote(2, "k")}, end, &kept.Raw, check.Skip, "no turn retained", nil},
		"nothing after it":  {[]string{prompt.NoMemory}, [][]loop.Event{no(1)}, nil, nil, check.Skip, "no prompt or outcome after a retaining turn", nil},
		"no turn":           {nil, nil, &loop.RunEnd{}, nil, check.Skip, "no turn retained", nil},
		"lost at the end":   {[]string{prompt.NoMemory, "k"}, [][]loop.Event{wrote(1, "k"), no(2)}, end, nil, check.Fail, `the outcome's memory: memory bytes differ from those retained at turn 2 after "no": at byte 1 want "k ", got "No previous memory " (3 and 20 bytes) (and 1 more)`, []int{2}},
		"lost at once":      {[]string{prompt.NoMemory, "k"}, [][]loop.Event{no(1), no(2)}, nil, nil, check.Fail, `the prompt of turn 2: memory bytes differ from those retained at turn 1 after "no"`, []int{1}},
		"lost twice":        {[]string{prompt.NoMemory, "k", "l", "m"}, [][]loop.Event{wrote(1, "k"), no(2), no(3), no(4)}, nil, nil, check.Fail, "(and 1 more)", []int{2, 3}},
		"lost when written": {[]string{prompt.NoMemory, "l"}, [][]loop.Event{wrote(1, "k"), no(2)}, nil, nil, check.Fail, "the prompt of turn 2: memory bytes differ from those written at turn 1: at byte 1 want", nil},
		"tags torn":         {[]string{prompt.NoMemory, "</memory>"}, [][]loop.Event{no(1), no(2)}, nil, nil, check.Fail, "turn 2: prompt has 2 of </memory>, want exactly one", nil},
	} {
		w := watch()
		for i, unit := range test.units {
			if i < len(test.shown) {
				send(w, i+1, 1, test.shown[i])
			}
			w.Logged(unit)
		}
		got := w.Verdict("run", test.final, test.end)
		if got.Check != "retain" || got.Subject != "run" || got.Status != test.status || !strings.Contains(got.Detail, test.says) || strings.Contains(got.Detail, "more)") != strings.Contains(test.says, "more)") {
			t.Errorf("%s: %+v, want %s about %q", name, got, test.status, test.says)
		}
		if diff := cmp.Diff(test.changed, w.Changed()); diff != "" {
			t.Errorf("%s: changed (-want +got):\n%s", name, diff)
		}
	}
}

// TestUnknownPromptIsAViolation: a digest that log and corpus do not explain.
func TestUnknownPromptIsAViolation(t *testing.T) {
	w := watch()
	send(w, 1, 1, prompt.NoMemory)
	w.Logged([]loop.Event{loop.Gate{Turn: 1}})
	w.Unknown(2, 1)
	if got := w.Verdict("run", nil, nil); got.Status != check.Fail || !strings.Contains(got.Detail, "turn 2, attempt 1: the journal's digest is of another prompt") {
		t.Errorf("%s: %s", got.Status, got.Detail)
	}
}
