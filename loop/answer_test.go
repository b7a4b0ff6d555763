package loop_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/gate"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/prompt"
)

// says replies one after the other, and keeps what it was asked.
type says struct {
	replies []loop.Completion
	asked   []loop.Request
	err     error
}

func (s *says) Complete(_ context.Context, r loop.Request) (loop.Completion, error) {
	s.asked = append(s.asked, r)
	if len(s.asked) > len(s.replies) {
		return loop.Completion{}, s.err
	}
	return s.replies[len(s.asked)-1], nil
}

func TestAnswerIsAskedForAgain(t *testing.T) {
	cut := loop.Completion{Text: "638", Finish: loop.FinishLength}
	blank := loop.Completion{Text: " \n", Reasoning: "6380"}
	right := loop.Completion{Text: "6380", Reasoning: "the memory says so"}
	for name, test := range map[string]struct {
		replies []loop.Completion
		want    loop.Answer
	}{
		"at once": {[]loop.Completion{right}, loop.Answer{Text: "6380", Attempts: 1}},
		"third":   {[]loop.Completion{cut, blank, right}, loop.Answer{Text: "6380", Attempts: 3, Failures: []gate.Kind{gate.Length, gate.BlankAnswer}}},
		"never":   {[]loop.Completion{cut, cut, blank, right}, loop.Answer{Attempts: 3, Failures: []gate.Kind{gate.Length, gate.Length, gate.BlankAnswer}}},
	} {
		m := &says{replies: test.replies}
		got, err := loop.AskAnswer(context.Background(), m, prompt.Prompt{System: "s", User: "u"}, 77)
		if err != nil {
			t.Fatal(name, err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		for i, r := range m.asked {
			if want := (loop.Request{Turn: loop.AnswerTurn, Attempt: i + 1, System: "s", User: "u", MaxTokens: 77}); r != want {
				t.Errorf("%s: request %d is %+v, want %+v", name, i+1, r, want)
			}
		}
	}
}

func TestAnswerThatDoesNotComeIsAModelError(t *testing.T) {
	refused := errors.New("connection refused")
	_, err := loop.AskAnswer(context.Background(), &says{err: refused}, prompt.Prompt{}, 1)
	var failed *loop.ModelError
	if !errors.As(err, &failed) || !errors.Is(err, refused) || err.Error() != "answer, attempt 1: connection refused" {
		t.Errorf("error is %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	m := &says{}
	if _, err := loop.AskAnswer(ctx, m, prompt.Prompt{}, 1); err != context.Canceled || len(m.asked) > 0 {
		t.Errorf("cancelled: %v after %d requests", err, len(m.asked))
	}
	ctx, cancel = context.WithCancel(context.Background())
	broken := modelFunc(func(context.Context, loop.Request) (loop.Completion, error) {
		cancel()
		return loop.Completion{}, refused
	})
	if _, err := loop.AskAnswer(ctx, broken, prompt.Prompt{}, 1); err != context.Canceled {
		t.Errorf("cancelled during the call: %v", err)
	}
}
