package layout

import (
	"strings"
	"unicode/utf8"

	"github.com/olekukonko/tablewriter/pkg/twwidth"

	"github.com/poimen-memory/mem/internal/printable"
)

// Clean is printable.Line.
func Clean(s string) string { return printable.Line(s) }

// CleanLines is printable.Lines.
func CleanLines(s string) []string { return printable.Lines(s) }

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
