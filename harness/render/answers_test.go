package render_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/gate"
	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/render"
	"github.com/poimen-memory/mem/harness/stat"
)

// withAnswers is an experiment whose every count of answers is another number.
func withAnswers() *harness.Result {
	half, low, high := 0.5, 0.25, 0.75
	r := passed()
	r.Answers = []harness.AnswerRow{{
		Model: "oracle", Level: 1, ExitGate: "record", Runs: 17, NoAnswer: 2, Unreferenced: []string{"why", "when"},
		Metrics: []stat.Metric{
			{Name: "sub_em", Estimate: stat.Estimate{Value: &half, Lower: &low, Upper: &high, Units: 12, N: 15, X: 7.5}},
			{Name: "answer_em", Estimate: stat.Estimate{Value: &low, Units: 12, N: 15}},
			{Name: "answer_f1", Estimate: stat.Estimate{Reason: "no answers"}},
		},
		Gates: stat.AnswerTable{Both: 5, GatesOnly: 4, AnswerOnly: 3, Neither: 1, NoEvidence: 6},
	}}
	r.Runs[0].Answer = &harness.Answer{Failures: []gate.Kind{gate.Length, gate.BlankAnswer}, References: []string{"6380"}}
	return r
}

func TestAnswerTableHasEveryNumber(t *testing.T) {
	var terminal, markdown bytes.Buffer
	if err := (render.Terminal{Width: 120}).Result(&terminal, withAnswers()); err != nil {
		t.Fatal(err)
	}
	if err := render.Markdown(&markdown, withAnswers()); err != nil {
		t.Fatal(err)
	}
	_, below, _ := strings.Cut(terminal.String(), "Answers from the final memory, with 95 % intervals over queries, level L1, exit gate: record\n")
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
	html := page(t, render.Report{Result: withAnswers()})
	for _, want := range []string{"<td>17</td><td>2</td><td>5</td><td>4</td><td>3</td><td>1</td>", "none: length, blank_answer", "want one of:</p><pre>6380"} {
		if !strings.Contains(html, want) {
			t.Errorf("%q is not in the page", want)
		}
	}
}

// TestNoAnswersNoTable: who asks for none reads nothing of them.
func TestNoAnswersNoTable(t *testing.T) {
	var out bytes.Buffer
	if err := (render.Terminal{}).Result(&out, passed()); err != nil {
		t.Fatal(err)
	}
	if err := render.Markdown(&out, passed()); err != nil {
		t.Fatal(err)
	}
	if text := out.String() + page(t, render.Report{Result: passed()}); strings.Contains(text, "Answers from") || strings.Contains(text, `id="answers"`) || strings.Contains(text, "<h4>answer") {
		t.Error("there is a table of answers")
	}
}
