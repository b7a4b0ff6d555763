package render

import (
	"bytes"
	"io"
	"strings"
)

// page gathers what a terminal is to show.
type page struct {
	Terminal
	out bytes.Buffer
	err error // the first
}

func (p *page) flush(w io.Writer) error {
	if p.err != nil {
		return p.err
	}
	_, err := p.out.WriteTo(w)
	return err
}

// line writes a line that is ours or clean.
func (p *page) line(s string) { p.out.WriteString(strings.TrimRight(s, " ") + "\n") }

// section begins after a blank line, with a heading.
func (p *page) section(heading string) {
	p.line("")
	p.heading(heading)
}

func (p *page) heading(s string) { p.pieces("", s, p.bold) }

// gutter stands before every line that text of others may begin: a log reader that obeys
// commands at the start of a line sees none there.
const gutter = "  │ "

// paragraph writes any text after a mark, wrapped.
func (p *page) paragraph(mark, s string) {
	p.pieces(mark, s, func(s string) string { return s })
}

func (p *page) pieces(mark, s string, paint func(string) string) {
	for i, piece := range wrap(clean(s), p.room()) {
		if i > 0 {
			mark = gutter
		}
		p.line(mark + paint(piece))
	}
}

// item writes a head and the lines that belong to it.
func (p *page) item(mark, head string, body []string) {
	p.paragraph(mark+" ", head)
	for _, line := range body {
		p.paragraph(gutter, line)
	}
}

// room is the columns left beside the gutter.
func (p *page) room() int {
	if p.Width == 0 {
		return 0
	}
	return max(p.Width, narrowest) - width(gutter)
}

func (p *page) table(t table) {
	text, err := t.text(p.Width)
	if err != nil && p.err == nil {
		p.err = err
	}
	p.out.WriteString(text)
}

// sentence writes what results came to, its verdict in colour.
func (p *page) sentence(s sentence) {
	paint := p.red
	if s.exit == 0 {
		paint = p.green
	}
	p.pieces("", s.String(), func(piece string) string {
		return strings.Replace(piece, s.verdict, paint(s.verdict), 1)
	})
}

func (p *page) red(s string) string   { return p.paint("31", s) }
func (p *page) green(s string) string { return p.paint("32", s) }
func (p *page) bold(s string) string  { return p.paint("1", s) }

func (p *page) paint(code, s string) string {
	if !p.Colour {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}
