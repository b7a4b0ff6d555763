package token

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"
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
type classes [utf8.MaxRune + 1]class

// ranges lists the classes by Unicode 16.0, which the reference tokenizers follow. The
// tables of package unicode would tie counts to the version of Go.
//
//go:embed data/classes.txt
var ranges string

// allClasses makes the table at its first use.
var allClasses = sync.OnceValues(func() (*classes, error) {
	c := new(classes)
	for line := range strings.Lines(ranges) {
		if err := c.fill(strings.TrimSuffix(line, "\n")); err != nil {
			return nil, err
		}
	}
	c['\r'] |= newline
	c['\n'] |= newline
	return c, nil
})

// fill reads one line, such as "0041..005A upper".
func (c *classes) fill(line string) error {
	points, name, _ := strings.Cut(line, " ")
	from, to, _ := strings.Cut(points, "..")
	lo, errFrom := strconv.ParseUint(from, 16, 32)
	hi, errTo := strconv.ParseUint(to, 16, 32)
	bit := named(name)
	if errFrom != nil || errTo != nil || hi > utf8.MaxRune || bit == 0 {
		return fmt.Errorf("character class %q: want FROM..TO CLASS", line)
	}
	for r := lo; r <= hi; r++ {
		c[r] |= bit
	}
	return nil
}

func named(name string) class {
	switch name {
	case "upper":
		return upper
	case "lower":
		return lower
	case "caseless":
		return caseless
	case "mark":
		return mark
	case "number":
		return number
	case "space":
		return space
	}
	return 0
}

// at is the class of the rune that starts at text[i], and its length in bytes. At the
// end of the text both are 0. The text must be valid UTF-8.
func (c *classes) at(text []byte, i int) (class, int) {
	if i < len(text) && text[i] < utf8.RuneSelf {
		return c[text[i]], 1
	}
	return c.wide(text, i)
}

// wide does what at does for a rune that is not ASCII; apart from it, at is inlined.
func (c *classes) wide(text []byte, i int) (class, int) {
	if i >= len(text) {
		return 0, 0
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
		k, n := c.wide(text, i)
		if k&bits == 0 {
			break
		}
		i += n
	}
	return i
}

// runWithout is the end of the longest run from i of runes that have none of the bits.
func (c *classes) runWithout(text []byte, i int, bits class) int {
	for {
		k, n := c.at(text, i)
		if n == 0 || k&bits != 0 {
			return i
		}
		i += n
	}
}
