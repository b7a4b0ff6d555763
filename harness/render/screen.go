package render

import (
	"bytes"
	"io"
	"strings"

	"github.com/poimen-memory/mem/harness/render/internal/layout"
	"github.com/poimen-memory/mem/harness/render/internal/view"
)

// screen gathers what a terminal is to show.
type screen struct {
	Terminal
	out bytes.Buffer
	err error // the first
}

func (p *screen) flush(w io.Writer) error {
	if p.err != nil {
		return p.err
	}
	_, err := p.out.WriteTo(w)
	return err
}

// line writes a line that is ours or clean.
func (p *screen) line(s string) { p.out.WriteString(strings.TrimRight(s, " ") + "\n") }

// section begins after a blank line, with a heading.
func (p *screen) section(heading string) {
	p.gap()
	p.heading(heading)
}

// gap is a blank line between what was written and what follows.
func (p *screen) gap() {
	if b := p.out.Bytes(); len(b) > 0 && !bytes.HasSuffix(b, []byte("\n\n")) {
		p.line("")
	}
}

func (p *screen) heading(s string) { p.pieces("", s, p.bold) }

// gutter stands before every line that text of others may begin: a log reader that interprets
// commands at the start of a line finds none there.
const gutter = "  │ "

// paragraph writes any text after a mark, wrapped.
func (p *screen) paragraph(mark, s string) {
	p.pieces(mark, s, func(s string) string { return s })
}

func (p *screen) pieces(mark, s string, paint func(string) string) {
	for i, piece := range layout.Wrap(layout.Clean(s), p.textWidth()) {
		if i > 0 {
			mark = gutter
		}
		p.line(mark + paint(piece))
	}
}

// item writes a head and the lines that belong to it.
func (p *screen) item(mark, head string, body []string) {
	p.paragraph(mark+" ", head)
	for _, line := range body {
		p.paragraph(gutter, line)
	}
}

// quote writes any text behind the gutter.
func (p *screen) quote(text string) {
	for _, line := range layout.CleanLines(text) {
		for _, piece := range layout.Wrap(line, p.textWidth()) {
			p.line(gutter + piece)
		}
	}
}

// textWidth is the columns left beside the gutter.
func (p *screen) textWidth() int {
	if p.Width == 0 {
		return 0
	}
	return max(p.Width, layout.MinWidth) - layout.Width(gutter)
}

func (p *screen) table(t layout.Table) {
	text, err := t.Format(p.Width)
	if err != nil && p.err == nil {
		p.err = err
	}
	p.out.WriteString(text)
}

// sentence writes what results came to, its verdict in colour.
func (p *screen) sentence(s view.Sentence) {
	mark, paint := "✗", p.red
	switch s.Exit {
	case 0:
		mark, paint = "✓", p.green
	case 4:
		mark, paint = "?", p.yellow
	}
	p.pieces(paint(mark)+" ", s.String(), func(piece string) string {
		return strings.Replace(piece, s.Verdict, paint(s.Verdict), 1)
	})
}

func (p *screen) red(s string) string    { return p.paint("31", s) }
func (p *screen) green(s string) string  { return p.paint("32", s) }
func (p *screen) yellow(s string) string { return p.paint("33", s) }
func (p *screen) bold(s string) string   { return p.paint("1", s) }

func (p *screen) paint(code, s string) string {
	if !p.Colour {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}
