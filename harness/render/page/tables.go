package page

import (
	"strings"

	"github.com/poimen-memory/mem/harness/render/internal/layout"
	"github.com/poimen-memory/mem/harness/render/internal/view"
	"github.com/poimen-memory/mem/harness/result"
)

// grid is a table cell by cell.
type grid struct {
	Heads []string
	Rows  [][]string
}

func newGrid(t layout.Table) (g grid) {
	g.Heads = layout.Each(t, func(c layout.Column) string { return strings.ReplaceAll(c.Head, "\n", "_") })
	for i := range t[0].Cells {
		g.Rows = append(g.Rows, layout.Each(t, func(c layout.Column) string { return c.Cells[i] }))
	}
	return g
}

// answerTable is the table of answers.
type answerTable struct {
	grid
	Legend string
	Notes  []string
}

func newAnswers(rows []result.AnswerRow) *answerTable {
	if len(rows) == 0 {
		return nil
	}
	a := &answerTable{grid: newGrid(view.FullAnswerTable(rows)), Legend: view.GatesRight}
	for _, note := range view.AnswerNotes(rows) {
		a.Notes = append(a.Notes, note.Text+": "+strings.Join(note.Examples(), ", "))
	}
	return a
}

// tagTable is gates by the values of a tag.
type tagTable struct {
	grid
	Title string
}

func newTagTable(tag string, rows []result.TagRow) tagTable {
	t, common := view.TagTable(rows)
	return tagTable{newGrid(t), strings.Join(append([]string{"by " + tag}, common...), ", ")}
}
