package jsonpos

import (
	"bytes"
	"unicode/utf8"

	"github.com/poimen-memory/mem/harness/diag"
)

// Places finds the positions of offsets in a text. Offsets that are asked for in their order
// cost one pass over the text.
type Places struct {
	text   []byte
	start  diag.Pos
	offset int // of at
	at     diag.Pos
}

// NewPlaces is for a text that starts at a position of its file.
func NewPlaces(text []byte, start diag.Pos) *Places {
	return &Places{text: text, start: start, at: start}
}

// At is the position of an offset, in bytes.
func (p *Places) At(offset int) diag.Pos {
	if offset < p.offset {
		p.offset, p.at = 0, p.start
	}
	passed := p.text[p.offset:offset]
	if n := bytes.Count(passed, []byte("\n")); n > 0 {
		p.at.Line += n
		p.at.Col = 1
		passed = passed[bytes.LastIndexByte(passed, '\n')+1:]
	}
	p.at.Col += utf8.RuneCount(passed)
	p.offset = offset
	return p.at
}
