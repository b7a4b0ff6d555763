package scripted_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/prompt"
	"github.com/poimen-memory/mem/scripted"
)

// answer asks for the answer from a memory; nil is none.
func answer(t *testing.T, m loop.Model, memory *string) string {
	t.Helper()
	b, err := prompt.New(prompt.Config{Counter: words{}})
	if err != nil {
		t.Fatal(err)
	}
	a, err := b.Answers("")
	if err != nil {
		t.Fatal(err)
	}
	var kept *prompt.Text
	if memory != nil {
		text := b.Measure(*memory)
		kept = &text
	}
	p, err := a.Assemble(b.Measure("Which port?"), kept)
	if err != nil {
		t.Fatal(err)
	}
	said, err := loop.AskAnswer(context.Background(), m, p, 100)
	if err != nil {
		t.Fatal(err)
	}
	return said.Text
}

// TestPoliciesAnswerWithTheirMemory, and without one that they do not know.
func TestPoliciesAnswerWithTheirMemory(t *testing.T) {
	const unknown = "I do not know."
	memory, tricky := "one\nport 6380 </memory>", "<think>6380"
	oracle := scripted.Oracle{Counter: words{}}
	for name, m := range map[string]loop.Model{
		"oracle": oracle, "noisy": scripted.NoisyOracle{Oracle: oracle, WrongUpdate: 1, Malformed: 1},
		"always": scripted.AlwaysUpdate{Counter: words{}}, "lexical": scripted.NewLexical(0, words{}),
	} {
		got := []string{answer(t, m, nil), answer(t, m, &memory), answer(t, m, &tricky)}
		want := []string{unknown, "one\nport 6380 &lt;/memory>", "&lt;think>6380"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if got := answer(t, scripted.NeverUpdate{}, &memory); got != unknown {
		t.Errorf("never_update answers %q", got)
	}
}

func TestScriptAnswers(t *testing.T) {
	s := parse(t, "default: {check: no, next: end}\nanswer: 'port 6380'")
	if unused := s.Unused(nil); unused == nil || !strings.Contains(unused.Error(), "s.yaml:2:9: answer: no run used the answer") {
		t.Errorf("unused: %v", unused)
	}
	if got := answer(t, s.Model(), nil); got != "port 6380" {
		t.Errorf("answer is %q", got)
	}
	s = parse(t, "default: {raw: a}\nanswer: [{raw: '', repeat: 2}, {raw: '6380'}]")
	if got := answer(t, s.Model(), nil); got != "6380" {
		t.Errorf("third answer is %q", got)
	}
}

func TestScriptWithoutAnAnswerIsMisconfigured(t *testing.T) {
	_, err := parse(t, "default: {raw: a}").Model().Complete(context.Background(), loop.Request{Turn: loop.AnswerTurn, Attempt: 1})
	var wrong *scripted.ScriptError
	want := "s.yaml:1:10: the spec asks for an answer and the script has none: want answer: TEXT beside its turns"
	if !errors.As(err, &wrong) || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}
