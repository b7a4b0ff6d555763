package token

import "unicode/utf8"

// splitter finds the end of the piece of text that starts at i, which is less than
// len(text): what one match of a split pattern takes. The text must be valid UTF-8.
type splitter func(c *classes, text []byte, i int) int

// The split patterns that are scanned. Every rune matches one of their branches, so
// pieces follow each other without a gap.
const (
	gpt2Pattern   = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
	cl100kPattern = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	qwenPattern   = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	o200kPattern  = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
)

// splitters has the scanner of each pattern.
func splitters() map[string]splitter {
	return map[string]splitter{gpt2Pattern: splitGPT2, cl100kPattern: splitCL100K, qwenPattern: splitQwen, o200kPattern: splitO200K}
}

// splitGPT2 scans gpt2Pattern.
func splitGPT2(c *classes, text []byte, i int) int {
	if n := contraction(text, i); n > 0 && isLower(text[i+1:i+n]) {
		return i + n
	}
	start := i
	if text[i] == ' ' {
		start++
	}
	switch first, n := c.at(text, start); {
	case n == 0:
		return start
	case first&letter != 0:
		return c.run(text, start+n, letter)
	case first&number != 0:
		return c.run(text, start+n, number)
	case first&space == 0:
		return c.runWithout(text, start+n, visible)
	}
	return c.blanks(text, i)
}

// isLower says that all bytes of text are lower-case ASCII letters.
func isLower(text []byte) bool {
	for _, b := range text {
		if b < 'a' || b > 'z' {
			return false
		}
	}
	return true
}

// splitCL100K scans cl100kPattern.
func splitCL100K(c *classes, text []byte, i int) int { return splitWord(c, text, i, 3) }

// splitQwen scans qwenPattern: the same, but each digit is a piece.
func splitQwen(c *classes, text []byte, i int) int { return splitWord(c, text, i, 1) }

func splitWord(c *classes, text []byte, i, digits int) int {
	first, n := c.at(text, i)
	switch {
	case first&letter != 0:
		return c.run(text, i+n, letter)
	case first&number != 0:
		return c.digits(text, i+n, digits-1)
	case text[i] == '\'':
		if n := contraction(text, i); n > 0 {
			return i + n
		}
	}
	if first&newline == 0 {
		if second, m := c.at(text, i+n); second&letter != 0 {
			return c.run(text, i+n+m, letter)
		}
	}
	return c.rest(text, i, false)
}

// splitO200K scans o200kPattern.
func splitO200K(c *classes, text []byte, i int) int {
	first, n := c.at(text, i)
	if first&number != 0 {
		return c.digits(text, i+n, 2)
	}
	word := i
	if first&(letter|mark|newline) == 0 {
		word += n
	}
	end := c.cased(text, word)
	if end == word {
		return c.rest(text, i, true)
	}
	if end < len(text) && text[end] == '\'' {
		end += contraction(text, end)
	}
	return end
}

// cased is the end of the word at i by the first two branches of o200kPattern, after
// their optional first rune; it is i if there is none. (A mark can be that first rune
// as well as the word's own; both ways end at the same place.)
//
// The first branch ends in lower-case or caseless runes. Its upper-case class takes
// all it can, caseless ones too; if then no lower-case rune follows, it gives back up
// to the last caseless one, which ends the word. Only if there is none to give back,
// the second branch takes the upper-case runes.
func (c *classes) cased(text []byte, i int) int {
	back := 0
	for {
		k, n := c.at(text, i)
		switch {
		case k&lower != 0:
			return c.run(text, i+n, lower|caseless|mark)
		case k&(caseless|mark) != 0:
			back = i + n
		case k&upper == 0 && back > 0:
			return back
		case k&upper == 0:
			return i
		}
		i += n
	}
}

// contraction is the length of 's, 't, 're, 've, 'm, 'll or 'd at text[i:], in any
// case, or 0. The long s folds to s.
func contraction(text []byte, i int) int {
	if i+1 >= len(text) || text[i] != '\'' {
		return 0
	}
	switch text[i+1] | 0x20 {
	case 's', 't', 'm', 'd':
		return 2
	}
	if i+2 >= len(text) {
		return 0
	}
	switch [2]byte{text[i+1] | 0x20, text[i+2] | 0x20} {
	case [2]byte{'r', 'e'}, [2]byte{'v', 'e'}, [2]byte{'l', 'l'}:
		return 3
	}
	if string(text[i+1:i+3]) == "ſ" {
		return 3
	}
	return 0
}

// digits is the end of a run from i of at most n numbers.
func (c *classes) digits(text []byte, i, n int) int {
	for range n {
		k, size := c.at(text, i)
		if k&number == 0 {
			break
		}
		i += size
	}
	return i
}

// rest is the branches that the patterns share: symbols, perhaps after one blank, and
// white space. What follows symbols and belongs to them is line ends, and the slash
// too in o200kPattern.
func (c *classes) rest(text []byte, i int, slash bool) int {
	first, n := c.at(text, i)
	if first&visible == 0 {
		return c.symbols(text, i+n, slash)
	}
	if second, m := c.at(text, i+n); text[i] == ' ' && m > 0 && second&visible == 0 {
		return c.symbols(text, i+n+m, slash)
	}
	return c.spaces(text, i)
}

func (c *classes) symbols(text []byte, i int, slash bool) int {
	i = c.runWithout(text, i, visible)
	for i < len(text) && (text[i] == '\r' || text[i] == '\n' || slash && text[i] == '/') {
		i++
	}
	return i
}

// spaces is \s*[\r\n]+|\s+(?!\S)|\s+ at the space text[i]: up to the last line end of
// the run, or else all of it at the end of the text, or else all but its last rune,
// which goes with the word that follows, unless it is the only one.
func (c *classes) spaces(text []byte, i int) int {
	start, last, line := i, i, 0
	for {
		k, n := c.at(text, i)
		switch {
		case k&newline != 0:
			line = i + n
		case k&space != 0:
		case line > 0:
			return line
		case n == 0 || last == start:
			return i
		default:
			return last
		}
		last, i = i, i+n
	}
}

// blanks is \s+(?!\S)|\s+ at the space text[i]: all of the run at the end of the text, or
// else all but its last rune, unless it is the only one.
func (c *classes) blanks(text []byte, i int) int {
	end := c.run(text, i, space)
	_, last := utf8.DecodeLastRune(text[:end])
	if end == len(text) || end-last == i {
		return end
	}
	return end - last
}
