package layout

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/olekukonko/tablewriter/pkg/twwidth"
)

// Clean makes one harmless line of any text: what would move a cursor, turn the reading
// direction, join or hide is written out, as \x1b or \u{202e}. It also breaks the two
// forms in which GitHub's runner takes a log line for a command: :: at a line's start,
// and ##[ anywhere.
func Clean(s string) string {
	var b strings.Builder
	for i, r := range s {
		b.WriteString(visible(r, s[i:]))
	}
	line := strings.ReplaceAll(b.String(), "##[", `#\x23[`)
	if body := strings.TrimLeftFunc(line, unicode.IsSpace); strings.HasPrefix(body, "::") {
		line = line[:len(line)-len(body)] + `\x3a` + body[1:]
	}
	return line
}

// visible is r, the first rune of rest, or the escape that stands for it.
func visible(r rune, rest string) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\t':
		return `\t`
	case r == utf8.RuneError && !strings.HasPrefix(rest, string(utf8.RuneError)):
		return fmt.Sprintf(`\x%02x`, rest[0]) // not UTF-8
	case r < ' ' || r == 0x7f:
		return fmt.Sprintf(`\x%02x`, r)
	case hidden(r):
		return fmt.Sprintf(`\u{%x}`, r)
	}
	return string(r)
}

// hidden tells the characters that have no glyph of their own, and those whose width hangs
// on their neighbours, so that no two terminals agree on it: emoji are taken apart.
func hidden(r rune) bool {
	const firstVowel, lastConsonant = 0x1160, 0x11ff // Hangul, that join to a syllable
	const lightSkin, darkSkin = 0x1f3fb, 0x1f3ff
	return !unicode.IsGraphic(r) ||
		unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point, unicode.Regional_Indicator, unicode.Me) ||
		firstVowel <= r && r <= lastConsonant || lightSkin <= r && r <= darkSkin
}

// CleanLines is Clean for each line of a text; the last newline makes no line.
func CleanLines(s string) []string {
	if s == "" {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	for i, line := range lines {
		lines[i] = Clean(line)
	}
	return lines
}

// Width is the columns that a clean line takes, as tablewriter counts them but whatever
// the locale.
func Width(s string) int { return twwidth.WidthWithOptions(s, twwidth.Options{}) }

// Cut takes a line to at most n columns. It cuts in the middle, for ids mostly differ at
// their ends.
func Cut(s string, n int) string {
	if Width(s) <= n {
		return s
	}
	tail := len(s)
	for free := (n - 1) / 2; tail > 0; {
		r, size := utf8.DecodeLastRuneInString(s[:tail])
		if free -= Width(string(r)); free < 0 {
			break
		}
		tail -= size
	}
	return head(s, n-1-Width(s[tail:])) + "…" + s[tail:]
}

// head is as much of a line as n columns hold.
func head(s string, n int) string {
	for i, r := range s {
		if n -= Width(string(r)); n < 0 {
			return s[:i]
		}
	}
	return s
}

// Wrap breaks a line to pieces of at most n columns, at a space where there is one; 0: no
// limit. No other byte is lost: quoted text keeps its spaces.
func Wrap(s string, n int) []string {
	var pieces []string
	for n > 0 {
		piece := head(s, n)
		if piece == "" { // narrower than one character
			_, size := utf8.DecodeRuneInString(s)
			piece = s[:size]
		}
		if piece == s {
			break
		}
		rest := s[len(piece):]
		if space := strings.LastIndexByte(piece, ' '); rest[0] == ' ' {
			rest = rest[1:]
		} else if strings.TrimSpace(piece[:max(space, 0)]) != "" {
			piece, rest = s[:space], s[space+1:]
		}
		pieces, s = append(pieces, piece), rest
	}
	return append(pieces, s)
}
