package corpus

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/prompt"
)

// head is the longest start of a piece that a chunk can hold by itself, with its
// rendering. It ends where cut says. The error is a diag.Errors: not one character fits.
//
// Only starts of about the size of a chunk are counted, however long the record is.
func (p *packer) head(rest piece) (piece, prompt.Text, error) {
	text := rest.text()
	s := search{lo: -1, hi: len(text) + 1}
	best, end := prompt.Text{}, -1
	for width := p.guess(len(text)); s.open(); {
		width = s.clamp(width)
		at := cut(text, width)
		if at <= end || at == 0 && len(text) > 0 {
			s.lo = width // no other place to cut
			width = s.next(width, 2*width)
			continue
		}
		t := p.measure([]piece{{rest.Record, rest.from, rest.from + at}})
		p.density = float64(len(t.Raw)) / float64(max(1, t.Tokens))
		if t.Tokens > p.pack.Tokens {
			s.hi, s.over = at, true
		} else {
			best, end, s.lo = t, at, width
		}
		width = s.next(width, p.fill())
	}
	if end < 0 {
		return piece{}, best, p.tooSmall(rest)
	}
	return piece{rest.Record, rest.from, rest.from + end}, best, nil
}

// fill is how many bytes fill a chunk, to judge by what was counted last.
func (p *packer) fill() int { return int(p.density * float64(p.pack.Tokens)) }

// guess is where the search for a head of n bytes begins: at all of them, unless they are
// much more than a chunk.
func (p *packer) guess(n int) int {
	if fill := p.fill(); n > 2*fill {
		return fill
	}
	return n
}

func (p *packer) tooSmall(rest piece) error {
	_, size := utf8.DecodeRuneInString(rest.text())
	rest.to = rest.from + size
	least := p.measure([]piece{rest})
	return diag.Errors{{Pos: rest.At, Msg: fmt.Sprintf("a chunk of %d tokens cannot hold %q, the label and first character of the record: it takes %d",
		p.pack.Tokens, least.Raw, least.Tokens)}}
}

// search looks for the greatest width that fits.
type search struct {
	lo, hi int  // lo fits or has no place to cut, hi does not fit
	over   bool // hi was counted
	steps  int
}

func (s *search) open() bool { return s.lo+1 < s.hi }

func (s *search) clamp(width int) int { return min(max(width, s.lo+1), s.hi-1) }

// next follows a guess, but takes turns with halving once something was too long, and
// grows by an eighth at least and twofold at most before: it always ends, soon, and never
// counts more than twice what is needed.
func (s *search) next(width, guess int) int {
	s.steps++
	switch {
	case !s.over:
		return min(max(guess, width+width/8+1), 2*width+1)
	case s.steps%2 == 0:
		return (s.lo + s.hi) / 2
	}
	return guess
}

// cut is the last good end of a piece within the first width bytes of text: after a blank
// line, else after a line, else after white space, as long as that keeps half of them;
// else between two characters. A CRLF stays together. It is 0 when no character fits.
func cut(text string, width int) int {
	if width >= len(text) {
		return len(text)
	}
	if width > 1 && text[width-1] == '\r' && text[width] == '\n' {
		width--
	}
	half := width / 2
	tail := text[half:width]
	for _, after := range []func(string) int{afterParagraph, afterLine, afterSpace} {
		if n := after(tail); n > 0 {
			return half + n
		}
	}
	for width > 0 && !utf8.RuneStart(text[width]) {
		width--
	}
	return width
}

// afterParagraph is the offset after the last blank line in s, 0 without one.
func afterParagraph(s string) int {
	return max(after(s, "\n\n"), after(s, "\n\r\n"))
}

func afterLine(s string) int { return after(s, "\n") }

func after(s, end string) int {
	if i := strings.LastIndex(s, end); i >= 0 {
		return i + len(end)
	}
	return 0
}

func afterSpace(s string) int {
	i := strings.LastIndexFunc(s, unicode.IsSpace)
	if i < 0 {
		return 0
	}
	_, size := utf8.DecodeRuneInString(s[i:])
	return i + size
}
