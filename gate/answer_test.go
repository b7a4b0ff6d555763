package gate_test

import (
	"errors"
	"testing"

	"github.com/poimen-memory/mem/gate"
)

// TestAnswer: what stands after the reasoning, wherever that ends; nothing is made up.
func TestAnswer(t *testing.T) {
	for _, test := range []struct {
		reply, want string
		kind        gate.Kind
		says        string
	}{
		{reply: " 6380\n", want: "6380"},
		{reply: "<think>it may be 6379</think>\n\n6380", want: "6380"},
		{reply: "the tag was pre-filled</think>6380", want: "6380"},
		{reply: "<think>says </think> and goes on</think> 6380 ", want: "6380"},
		{reply: "<check>yes</check> <update>6380</update>", want: "<check>yes</check> <update>6380</update>"},
		{reply: "</think>6380", want: "6380"},
		{reply: "", kind: gate.BlankAnswer, says: "byte 0: want an answer, found end of reply"},
		{reply: "<think>6380</think> \n", kind: gate.BlankAnswer, says: "byte 21: want an answer, found end of reply"},
		{reply: "<think>6380, but", kind: gate.UnclosedThink, says: `byte 0: want </think> after this <think>, found "<think>6380, but"`},
		{reply: "<think>a</think>b <think>c", kind: gate.UnclosedThink, says: `byte 18: want </think> after this <think>, found "<think>c"`},
		{reply: "6380\xff\xfe", kind: gate.InvalidUTF8, says: `byte 4: want valid UTF-8, found "\xff"`},
		{reply: "\xff6380", kind: gate.InvalidUTF8, says: `byte 0: want valid UTF-8, found "\xff"`},
	} {
		got, err := gate.Answer(test.reply)
		var syntax *gate.SyntaxError
		switch {
		case test.kind == "" && (err != nil || got != test.want):
			t.Errorf("Answer(%q) = %q, %v, want %q", test.reply, got, err, test.want)
		case test.kind != "" && (!errors.As(err, &syntax) || syntax.Kind != test.kind || err.Error() != test.says || got != ""):
			t.Errorf("Answer(%q) = %q, %v, want %s: %s", test.reply, got, err, test.kind, test.says)
		}
	}
}

// TestNoTurnIsABlankAnswer: an event log that says so is corrupt.
func TestNoTurnIsABlankAnswer(t *testing.T) {
	if gate.BlankAnswer.Known() {
		t.Error("blank_answer is a kind of turns")
	}
}
