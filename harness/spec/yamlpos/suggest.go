package yamlpos

import (
	"fmt"
	"strings"
)

// listed is how many allowed names a message shows.
const listed = 24

// OneOf says that found is not among the known names, lists them, and suggests the
// nearest: `found "orcale", want one of oracle, lexical; did you mean "oracle"?`.
func OneOf(found string, known []string) string {
	return fmt.Sprintf("found %s, want %s%s", Quote(found), oneOf(known), didYouMean(found, known))
}

// oneOf lists the allowed names, as a message wants them.
func oneOf(known []string) string {
	switch {
	case len(known) == 0:
		return "none: there are none to choose from"
	case len(known) == 1:
		return Quote(known[0])
	case len(known) > listed:
		return fmt.Sprintf("one of %s and %d more", strings.Join(known[:listed], ", "), len(known)-listed)
	}
	return "one of " + strings.Join(known, ", ")
}

// didYouMean is a tail for a message, "" when no known name is near.
func didYouMean(found string, known []string) string {
	best, least := "", len([]rune(found))/3+1
	for _, k := range known {
		a, b := strings.ToLower(found), strings.ToLower(k)
		d := distance(a, b)
		if len(a) > 2 && strings.HasPrefix(b, a) { // a name cut short is near
			d = min(d, 1)
		}
		if d < least {
			best, least = k, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

// distance is the number of single-character edits between a and b, two neighbours
// swapped counting as one (optimal string alignment).
func distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	if len(s) > 64 || len(t) > 64 { // no name is so long: spare the square
		return len(s) + len(t)
	}
	rows := make([][]int, len(s)+1)
	for i := range rows {
		rows[i] = make([]int, len(t)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(s); i++ {
		for j := 1; j <= len(t); j++ {
			rows[i][j] = step(rows, s, t, i, j)
		}
	}
	return rows[len(s)][len(t)]
}

func step(rows [][]int, s, t []rune, i, j int) int {
	change := 1
	if s[i-1] == t[j-1] {
		change = 0
	}
	d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+change)
	if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
		d = min(d, rows[i-2][j-2]+1)
	}
	return d
}

// Quote shows a text of the file in a message: control characters escaped, long ones cut.
func Quote(s string) string {
	if r := []rune(s); len(r) > 48 {
		s = string(r[:47]) + "…"
	}
	return fmt.Sprintf("%q", s)
}
