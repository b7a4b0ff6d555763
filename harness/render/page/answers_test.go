package page_test

import (
	"strings"
	"testing"

	"github.com/poimen-memory/mem/harness/render/internal/rendertest"
)

// TestAnswers shows every number, why replies held no answer, and the references.
func TestAnswers(t *testing.T) {
	html := written(t, report{Result: rendertest.Answered()})
	for _, want := range []string{"<td>17</td><td>2</td><td>5</td><td>4</td><td>3</td><td>1</td>", "none: length, blank_answer", "want one of:</p><pre>6380"} {
		if !strings.Contains(html, want) {
			t.Errorf("%q is not in the page", want)
		}
	}
}

// TestNoAnswersNoTable: an experiment that asks for no answers has no section of them.
func TestNoAnswersNoTable(t *testing.T) {
	for _, mark := range []string{"Answers from", `id="answers"`, "<h4>answer"} {
		if strings.Contains(written(t, report{Result: rendertest.Passed()}), mark) {
			t.Errorf("%q is in the page", mark)
		}
	}
}

// TestTags shows a table for each tag, whose texts are harmless.
func TestTags(t *testing.T) {
	html := written(t, report{Result: rendertest.Tagged()})
	for _, want := range []string{`<section id="tags">`, "<summary>by kind &lt;b&gt;\\x1b[31m, level L1, exit gate: record</summary>",
		"<td>&lt;i&gt;single|hop&lt;/i&gt;</td><td>3</td><td>0.250 0.020–0.640</td><td>0.500 0.010–0.990</td>", `" aria-describedby="metric-recall_committed">recall_committed</th>`} {
		if !strings.Contains(html, want) {
			t.Errorf("%q is not in the page", want)
		}
	}
	if strings.Contains(written(t, report{Result: rendertest.Passed()}), `id="tags"`) {
		t.Error("there is a section of tags without tags")
	}
}
