package loop_test

import (
	"strings"
	"testing"

	"github.com/poimen-memory/mem/loop"
)

func TestTextless(t *testing.T) {
	for _, test := range []struct {
		c    loop.Completion
		says string
	}{
		{loop.Completion{Text: "prose"}, ""},
		{loop.Completion{Text: "cut", Finish: loop.FinishLength}, ""},
		{loop.Completion{}, "null or empty"},
		{loop.Completion{Text: " \n", Finish: "stop"}, "null or empty"},
		{loop.Completion{Reasoning: "so <CHECK>yes</CHECK>", Finish: loop.FinishLength}, "the gate tags stand in the reasoning"},
		{loop.Completion{Reasoning: "hm", Finish: loop.FinishLength}, "budget.response"},
		{loop.Completion{Reasoning: "hm", Finish: "stop"}, "all of it is reasoning"},
		{loop.Completion{Finish: "tool_calls"}, "it calls tools"},
		{loop.Completion{Finish: "content_filter"}, "content filter"},
	} {
		if got := test.c.Textless(); (got == "") != (test.says == "") || !strings.Contains(got, test.says) {
			t.Errorf("%+v: %q, want %q", test.c, got, test.says)
		}
	}
}
