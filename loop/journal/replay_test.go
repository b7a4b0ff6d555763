package journal_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/journal"
)

func asked(turn, attempt int) loop.Request {
	return loop.Request{Turn: turn, Attempt: attempt, System: "sys", User: "the prompt of a turn", MaxTokens: 2048}
}

// written records calls to a file: two attempts at turn 1, a failed call and a reply at
// turn 2.
func written(t *testing.T, terse bool) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "calls.jsonl")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	rec := journal.Recorder{Header: header, W: f, Recomputable: func(loop.Request) bool { return terse }, Model: modelFunc(func(r loop.Request) (loop.Completion, error) {
		if n++; n == 3 {
			return loop.Completion{}, errors.New("connection refused")
		}
		return loop.Completion{Text: "reply " + string(rune('0'+n)), Reasoning: "why", Finish: "stop", Usage: &loop.Usage{PromptTokens: n}}, nil
	})}
	if err := rec.Start(); err != nil {
		t.Fatal(err)
	}
	for _, r := range []loop.Request{asked(1, 1), asked(1, 2), asked(2, 1), asked(2, 1)} {
		rec.Complete(t.Context(), r)
	}
	return path
}

func replay(t *testing.T, path string) *journal.Replay {
	t.Helper()
	j, err := journal.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return journal.NewReplay(j.Header, j.Calls)
}

// TestReplayAnswersWhatWasAnswered, whole; a call that failed is as if it had not been.
func TestReplayAnswersWhatWasAnswered(t *testing.T) {
	for _, terse := range []bool{false, true} {
		p := replay(t, written(t, terse))
		for want, r := range map[string]loop.Request{"reply 1": asked(1, 1), "reply 2": asked(1, 2), "reply 4": asked(2, 1)} {
			got, err := p.Complete(t.Context(), r)
			n := int(want[len(want)-1] - '0')
			if diff := cmp.Diff(loop.Completion{Text: want, Reasoning: "why", Finish: "stop", Usage: &loop.Usage{PromptTokens: n}}, got); diff != "" || err != nil {
				t.Errorf("%v, (-want +got):\n%s", err, diff)
			}
		}
	}
}

// TestReplayMisses: another request is an error that shows the difference, and never asks
// the next model; only what the journal does not hold does.
func TestReplayMisses(t *testing.T) {
	user, system, limit, seed := asked(1, 1), asked(1, 1), asked(1, 1), asked(1, 1)
	user.User, system.System, limit.MaxTokens = "the prompt of another", "", 5
	for _, test := range []struct {
		name          string
		request       loop.Request
		terse         bool
		misconfigured bool
		says          string
	}{
		{"prompt", user, false, true, `turn 1, attempt 1 was another one: prompt differs at byte 15: recorded "the prompt of a turn", now "the prompt of another"`},
		{"system message", system, false, true, `system message differs at byte 0: recorded "sys", now ""`},
		{"limit", limit, false, true, "max_tokens was 2048, is 5"},
		{"no prompt kept", user, true, true, "its prompt is not in the recording"},
		{"later turn", asked(3, 1), false, false, "the recording has no turn 3: it ends after turn 2"},
		{"later attempt", asked(1, 3), false, false, "the recording of turn 1 ends after attempt 2"},
		{"much later attempt", asked(1, 4), false, false, "the recording of turn 1 ends after attempt 2"},
	} {
		p := replay(t, written(t, test.terse))
		_, err := p.Complete(t.Context(), test.request)
		var miss *journal.Miss
		if !errors.As(err, &miss) || !strings.Contains(err.Error(), test.says) || miss.Misconfigured() != test.misconfigured {
			t.Errorf("%s: error is %v, want %q", test.name, err, test.says)
		}
		wasAsked := false
		p.Next = modelFunc(func(loop.Request) (loop.Completion, error) { wasAsked = true; return loop.Completion{}, nil })
		p.Complete(t.Context(), test.request)
		if wasAsked == test.misconfigured {
			t.Errorf("%s: the next model was asked: %v", test.name, wasAsked)
		}
	}
	j, err := journal.ReadFile(written(t, false))
	if err != nil {
		t.Fatal(err)
	}
	j.Header.Model = map[string]any{"id": "m", "temperature": 1}
	if _, err := journal.NewReplay(j.Header, j.Calls).Complete(t.Context(), seed); err == nil || !strings.Contains(err.Error(), "its model or sampling parameters differ") {
		t.Errorf("another model: error is %v", err)
	}
}

// TestMissOfHalfAPrompt: a recorded request of one message only is shown as any other.
func TestMissOfHalfAPrompt(t *testing.T) {
	for says, call := range map[string]journal.Call{
		`prompt differs at byte 12: recorded "the prompt other", now "the prompt of a turn"`: {User: "the prompt other"},
		`system message differs at byte 0: recorded "be brief", now ""`:                      {System: "be brief"},
	} {
		call.Turn, call.Attempt = 1, 1
		r := asked(1, 1)
		r.System = ""
		if _, err := journal.NewReplay(header, []journal.Call{call}).Complete(t.Context(), r); err == nil || !strings.HasSuffix(err.Error(), says) {
			t.Errorf("error is %v, want %s", err, says)
		}
	}
}

// TestReplayWithoutAnAnswer: a recording that was made without asking for answers is of
// something else; one whose answer did not come is cut short.
func TestReplayWithoutAnAnswer(t *testing.T) {
	answer := journal.Call{Turn: loop.AnswerTurn, Attempt: 1, Digest: header.Digest(asked(loop.AnswerTurn, 1)), Reply: "6380"}
	turn := journal.Call{Turn: 1, Attempt: 1, Digest: header.Digest(asked(1, 1)), Reply: "no gate"}
	failed, other, unreached := answer, answer, turn
	unreached.Error = "connection refused"
	failed.Error, other.Digest = "connection refused", "0123456789abcdef"
	for _, test := range []struct {
		calls         []journal.Call
		attempt       int
		misconfigured bool
		says          string
	}{
		{nil, 1, true, "the recording has no answer: it was made without answer in its spec"},
		{[]journal.Call{turn, unreached}, 1, true, "the recording has no answer: it was made without answer in its spec"},
		{[]journal.Call{failed}, 1, false, "the recording ends before its answer came"},
		{[]journal.Call{turn, failed, turn}, 1, false, "the recording ends before its answer came"},
		{[]journal.Call{answer}, 2, false, "the recording of the answer ends after attempt 1"},
		{[]journal.Call{other}, 1, true, "the recorded request of the answer, attempt 1 was another one (digest 0123456789ab…"},
	} {
		p := journal.NewReplay(header, test.calls)
		r := asked(loop.AnswerTurn, test.attempt)
		_, err := p.Complete(t.Context(), r)
		var miss *journal.Miss
		if !errors.As(err, &miss) || !strings.Contains(err.Error(), test.says) || miss.Misconfigured() != test.misconfigured || p.Has(r) {
			t.Errorf("error is %v, want %q", err, test.says)
		}
	}
	p := journal.NewReplay(header, []journal.Call{failed, answer})
	if c, err := p.Complete(t.Context(), asked(loop.AnswerTurn, 1)); err != nil || c.Text != "6380" || !p.Has(asked(loop.AnswerTurn, 1)) {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestReplayObeysItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := replay(t, written(t, false)).Complete(ctx, asked(1, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}

// TestContinueRefusesWhatIsNoJournal, and leaves it as it is.
func TestContinueRefusesWhatIsNoJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls.jsonl")
	for _, text := range []string{"notes of mine\n", "{\"schema\":99}\n", "{\"schema\":1}\nx\n", "notes", "{}" + "x"} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, _, err := journal.Continue(path); err == nil {
			t.Errorf("%q is continued", text)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// TestContinueBeginsOrSaysWhyNot: a journal that is not there is begun, one that cannot be
// read or made is an error.
func TestContinueBeginsOrSaysWhyNot(t *testing.T) {
	folder := t.TempDir()
	f, j, err := journal.Continue(filepath.Join(folder, "calls.jsonl"))
	if err != nil || j.Header.Schema != 0 || j.Calls != nil {
		t.Fatalf("journal %+v, error %v", j, err)
	}
	f.Close()
	if _, _, err := journal.Continue(folder); err == nil || !strings.HasPrefix(err.Error(), "open "+folder) {
		t.Errorf("a folder: %v", err)
	}
	if _, _, err := journal.Continue(filepath.Join(folder, "none", "calls.jsonl")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder to be in: %v", err)
	}
}

func TestLiveIsSaidByTheHeader(t *testing.T) {
	if h := (journal.Header{Model: journal.LiveModel("m", map[string]any{})}); !h.Live() {
		t.Error("a live model's journal is not live")
	}
	if h := (journal.Header{Model: map[string]any{"id": "m"}}); h.Live() {
		t.Error("a script's journal is live")
	}
}

func TestStartHandsOnTheWritersError(t *testing.T) {
	f, err := os.Open(os.DevNull) // for reading
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := (&journal.Recorder{W: f}).Start(); err == nil {
		t.Error("a header that was not written is no error")
	}
	odd := journal.Recorder{W: &strings.Builder{}, Header: journal.Header{Model: map[string]any{"id": func() {}}}}
	if err := odd.Start(); err == nil {
		t.Error("a header that is no JSON is no error")
	}
}

// TestDifferenceNamesTheField, for every field of a header but its schema.
func TestDifferenceNamesTheField(t *testing.T) {
	base := journal.Header{
		Schema: 2, TemplateSHA: strings.Repeat("ab", 32), Query: "q", Corpus: "c", SessionSHA: "d1", Records: 12, Chunking: map[string]int{"tokens": 9}, Budget: map[string]int{"chunk": 1}, Tokenizer: "t",
		Model: journal.LiveModel("m", map[string]any{"temperature": 0.0}), Level: 1, Trial: 1,
	}
	if diff := base.Difference(base, true); diff != "" {
		t.Errorf("it differs from itself: %s", diff)
	}
	for name, change := range map[string]func(*journal.Header){
		`query was "q" when recorded, is "r" now`:         func(h *journal.Header) { h.Query = "r" },
		`system message was "" when recorded, is "s" now`: func(h *journal.Header) { h.System = "s" },
		`corpus was "c" when recorded, is "d" now`:        func(h *journal.Header) { h.Corpus = "d" },
		`session was "12 records, SHA-256 d1…" when recorded, is "13 records, SHA-256 d2…" now`: func(h *journal.Header) {
			h.SessionSHA, h.Records = "d2", 13
		},
		"chunking.tokens was 9 when recorded, is 8 now": func(h *journal.Header) {
			h.SessionSHA, h.Chunking = "d2", map[string]int{"tokens": 8}
		},
		"chunking.records was null when recorded, is 1 now; chunking.tokens was 9 when recorded, is null now": func(h *journal.Header) {
			h.SessionSHA, h.Chunking = "d2", map[string]int{"records": 1}
		},
		"budget.chunk was 1 when recorded, is 2 now": func(h *journal.Header) { h.Budget = map[string]int{"chunk": 2} },
		"tokenizer was": func(h *journal.Header) { h.Tokenizer, h.SessionSHA = "u", "d2" }, // which packs otherwise
		"template was SHA-256 abababababab… when recorded, is \"b\" now": func(h *journal.Header) { h.TemplateSHA = "b" },
		`tokenizer was "t" when recorded, is "u" now`:                    func(h *journal.Header) { h.Tokenizer = "u" },
		`level was 1 when recorded, is 2 now`:                            func(h *journal.Header) { h.Level = 2 },
		`trial was 1 when recorded, is 2 now`:                            func(h *journal.Header) { h.Trial = 2 },
		"model.sampling.temperature was 0 when recorded, is 1 now": func(h *journal.Header) {
			h.Model = journal.LiveModel("m", map[string]any{"temperature": 1})
		},
	} {
		now := base
		change(&now)
		if diff := base.Difference(now, true); !strings.Contains(diff, name) {
			t.Errorf("difference is %q, want %q", diff, name)
		}
	}
	packed := base
	packed.Chunking = map[string]int{"tokens": 8}
	if diff := base.Difference(packed, true); diff != "" {
		t.Errorf("the same chunks, filled otherwise: %s", diff)
	}
	other := base
	other.Model = map[string]any{"id": "n"}
	if diff := base.Difference(other, false); diff != "" {
		t.Errorf("another model, which may be: %s", diff)
	}
	old := base
	old.Schema, old.SessionSHA, old.Records, old.Chunking = 1, "", 0, nil
	if diff := old.Difference(base, true) + base.Difference(old, true); diff != "" {
		t.Errorf("what schema 1 does not say differs: %s", diff)
	}
}

// TestWhatWasNotAskedIsNotRecorded: neither a limit of the caller's nor an interrupt is a
// call.
func TestWhatWasNotAskedIsNotRecorded(t *testing.T) {
	for _, why := range []error{unasked{}, fmt.Errorf("model m: %w", context.Canceled)} {
		log, _, err := record(t, false, func(loop.Request) (loop.Completion, error) { return loop.Completion{}, why })
		if err == nil || strings.Count(log, "\n") != 1 {
			t.Errorf("error %v, journal:\n%s", err, log)
		}
	}
}

// TestWhatWasAskedIsRecorded, also if it may say that it was not.
func TestWhatWasAskedIsRecorded(t *testing.T) {
	log, _, err := record(t, false, func(loop.Request) (loop.Completion, error) { return loop.Completion{}, refused{} })
	if err == nil || !strings.Contains(log, `"error":"refused"`) {
		t.Errorf("error %v, journal:\n%s", err, log)
	}
}

type refused struct{}

func (refused) Error() string { return "refused" }
func (refused) NotSent() bool { return false }

type unasked struct{}

func (unasked) Error() string { return "no more calls" }
func (unasked) NotSent() bool { return true }
