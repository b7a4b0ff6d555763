package render_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/harness/render"
	"github.com/poimen-memory/mem/harness/render/internal/rendertest"
)

func TestAnswerTableHasEveryNumber(t *testing.T) {
	var terminal, markdown bytes.Buffer
	if err := (render.Terminal{Width: 120, Detail: render.Verbose}).Result(&terminal, rendertest.Answered()); err != nil {
		t.Fatal(err)
	}
	if err := render.Markdown(&markdown, rendertest.Answered()); err != nil {
		t.Fatal(err)
	}
	_, below, _ := strings.Cut(terminal.String(), "Answers from the final memory, with 95 % intervals, level L1, exit gate: record\n")
	lines := strings.Split(below, "\n")
	if diff := cmp.Diff(strings.Fields("oracle 17 2 12 0.500 0.250–0.750 0.250 – 5 4 3 1"), strings.Fields(lines[3])); diff != "" {
		t.Errorf("%s\n%s", diff, below)
	}
	for _, want := range []string{
		"! 2 queries without answers to score by: why, when: oracle L1 record",
		"! 6 runs without evidence, of which no gates are right or wrong: oracle L1 record",
		"! no answers: answer_f1 of oracle L1 record",
	} {
		if !strings.Contains(below, want) {
			t.Errorf("%q is not in\n%s", want, below)
		}
	}
	want := "| <code>oracle</code> | <code>L1</code> | <code>record</code> | 12 | 0.500 0.250–0.750 | 0.250 | – | 17 | 2 | 5 | 4 | 3 | 1 |"
	if !strings.Contains(markdown.String(), want) {
		t.Errorf("%q is not in\n%s", want, markdown.String())
	}
}

// TestNoAnswersNoTable: who asks for none reads nothing of them.
func TestNoAnswersNoTable(t *testing.T) {
	var out bytes.Buffer
	if err := (render.Terminal{Detail: render.Verbose}).Result(&out, rendertest.Passed()); err != nil {
		t.Fatal(err)
	}
	if err := render.Markdown(&out, rendertest.Passed()); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "Answers from") {
		t.Error("there is a table of answers")
	}
}
