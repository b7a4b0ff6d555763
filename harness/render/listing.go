package render

import (
	"fmt"
	"io"
	"slices"

	"github.com/poimen-memory/mem/harness/render/internal/layout"
)

// Column is one column of a listing. Its cells may be any text.
type Column = layout.Column

// Listing shows a table under a heading, "" for none. Without rows it shows nothing.
func (t Terminal) Listing(w io.Writer, heading string, columns ...Column) error {
	if len(columns) == 0 || len(columns[0].Cells) == 0 {
		return nil
	}
	p := screen{Terminal: t}
	if heading != "" {
		p.heading(heading)
	}
	rows := layout.Table(slices.Clone(columns))
	rows[0].Key = true
	p.table(rows)
	p.line("")
	return p.flush(w)
}

// Text shows a text of others under a heading, line by line behind a gutter.
func (t Terminal) Text(w io.Writer, heading, text string) error {
	p := screen{Terminal: t}
	p.heading(heading)
	for _, line := range layout.CleanLines(text) {
		p.paragraph(gutter, line)
	}
	return p.flush(w)
}

// Lines shows what is said in a sentence each: the first most of them, and how many more
// there are; 0: all.
func (t Terminal) Lines(w io.Writer, mark string, lines []string, most int) error {
	p := screen{Terminal: t}
	shown := lines
	if most > 0 && len(lines) > most {
		shown = lines[:most]
	}
	for _, line := range shown {
		p.paragraph(mark, line)
	}
	if more := len(lines) - len(shown); more > 0 {
		p.paragraph(mark, fmt.Sprintf("and %d more", more))
	}
	return p.flush(w)
}
