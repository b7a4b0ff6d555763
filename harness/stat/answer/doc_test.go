package answer_test

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/poimen-memory/mem/harness/stat/answer"
)

// cell is a column of a table in docs/answers.md: code between backquotes, or words.
var cell = regexp.MustCompile("^`+ ?(.*?) ?`+$")

// TestDocumentedVerdicts: the table of pairs and verdicts in docs/answers.md is what Compare and
// Abstention do.
func TestDocumentedVerdicts(t *testing.T) {
	text, err := os.ReadFile("../../../docs/answers.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "| answer | reference | sub_em | answer_em | answer_f1 |\n| --- | --- | --- | --- | --- |\n")
	if !found {
		t.Fatal("docs/answers.md has no table of verdicts")
	}
	rows := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "| "), " |"), " | ")
		if len(cells) != 5 {
			break
		}
		rows++
		text := strings.ReplaceAll(cell.ReplaceAllString(cells[0], "$1"), "\\n", "\n")
		var got answer.Score
		if cells[1] == "cannot be answered" {
			got = answer.Abstention(text)
		} else {
			got = answer.Compare(text, []string{cell.ReplaceAllString(cells[1], "$1")}, false)
		}
		for i, v := range []float64{got.SubEM, got.EM, got.F1} {
			if want := cells[2+i]; strconv.FormatFloat(v, 'f', 2, 64) != want && strconv.FormatFloat(v, 'f', 0, 64) != want {
				t.Errorf("%s against %s: column %d is %v, the document has %s", cells[0], cells[1], 3+i, v, want)
			}
		}
	}
	if rows < 30 {
		t.Errorf("%d rows, want at least 30", rows)
	}
}
