package token

import (
	"unicode"
	"unicode/utf8"
)

// class is what the split patterns ask of a rune, a set of bits. Zero is any rune that
// no pattern names: punctuation, symbols, controls, unassigned ones.
type class = uint8

const (
	upper    class = 1 << iota // \p{Lu}, \p{Lt}
	lower                      // \p{Ll}
	caseless                   // \p{Lm}, \p{Lo}
	mark                       // \p{M}
	number                     // \p{N}
	space                      // \s: the property White_Space
	newline                    // \r and \n, which are spaces too

	letter  = upper | lower | caseless // \p{L}
	visible = letter | number | space  // what [^\s\p{L}\p{N}] leaves out
)

// classes has the class of every rune. Most of its megabyte is never touched, and so
// takes no memory.
type classes [unicode.MaxRune + 1]class

func newClasses() *classes {
	c := new(classes)
	c.fill(upper, unicode.Lu, unicode.Lt)
	c.fill(lower, unicode.Ll)
	c.fill(caseless, unicode.Lm, unicode.Lo)
	c.fill(mark, unicode.M)
	c.fill(number, unicode.N)
	c.fill(space, unicode.White_Space)
	c['\r'] |= newline
	c['\n'] |= newline
	return c
}

func (c *classes) fill(bit class, tables ...*unicode.RangeTable) {
	for _, t := range tables {
		for _, r := range t.R16 {
			c.fillRange(bit, rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
		for _, r := range t.R32 {
			c.fillRange(bit, rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
	}
}

func (c *classes) fillRange(bit class, lo, hi, stride rune) {
	for r := lo; r <= hi; r += stride {
		c[r] |= bit
	}
}

// at is the class of the rune that starts at text[i], and its length in bytes. At the
// end of the text both are 0. The text must be valid UTF-8.
func (c *classes) at(text []byte, i int) (class, int) {
	if i >= len(text) {
		return 0, 0
	}
	if b := text[i]; b < utf8.RuneSelf {
		return c[b], 1
	}
	r, n := utf8.DecodeRune(text[i:])
	return c[r], n
}

// run is the end of the longest run from i of runes that have one of the bits.
func (c *classes) run(text []byte, i int, bits class) int {
	for i < len(text) {
		if b := text[i]; b < utf8.RuneSelf {
			if c[b]&bits == 0 {
				break
			}
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		if c[r]&bits == 0 {
			break
		}
		i += n
	}
	return i
}
