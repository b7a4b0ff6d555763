// Package printable makes text of others fit for a terminal and a log.
//
// What would move a cursor, turn the reading direction, join or hide is written out, as \x1b
// or \u{202e}. The two forms in which GitHub's runner takes a log line for a command, :: at a
// line's start and ##[ anywhere, are broken. Text that is printable stays as it is, and so
// does what was made printable.
package printable

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line makes one printable line of any text.
func Line(s string) string {
	if plain(s) {
		return s
	}
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

// plain reports whether s is printable ASCII that begins or ends no command: most names are.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '#' || c == ':' {
			return false
		}
	}
	return true
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

// Lines is Line for each line of a text; the last newline makes no line.
func Lines(s string) []string {
	if s == "" {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	for i, line := range lines {
		lines[i] = Line(line)
	}
	return lines
}

// Text keeps the line breaks of a text and makes each of its lines printable.
func Text(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = Line(line)
	}
	return strings.Join(lines, "\n")
}

// Fprintf is fmt.Fprintf for a format that is ours: a string among the arguments becomes a
// printable line, any other argument, such as an error, printable text.
func Fprintf(w io.Writer, format string, args ...any) (int, error) {
	shown := make([]any, len(args))
	for i, arg := range args {
		shown[i] = arg
		if s, ok := arg.(string); ok {
			shown[i] = Line(s)
		}
	}
	return io.WriteString(w, Text(fmt.Sprintf(format, shown...)))
}
