package diag

import (
	"fmt"
	"regexp"
	"strings"
)

// maxListed is how many allowed names a message shows.
const maxListed = 24

// OneOf is a message: found is not one of the known names. It lists them and suggests the
// nearest: `found "orcale", want one of oracle, lexical; did you mean "oracle"?`.
func OneOf(found string, known []string) string {
	return fmt.Sprintf("found %s, want %s%s", Quote(found), Choices(known), Suggestion(found, known))
}

// Choices lists the allowed names: "one of oracle, lexical".
func Choices(known []string) string {
	switch {
	case len(known) == 0:
		return "none: there are none to choose from"
	case len(known) == 1:
		return Quote(known[0])
	case len(known) > maxListed:
		return fmt.Sprintf("one of %s and %d more", strings.Join(known[:maxListed], ", "), len(known)-maxListed)
	}
	return "one of " + strings.Join(known, ", ")
}

// Suggestion ends a message with the known name nearest to found: `; did you mean "oracle"?`.
// It is "" if none is near.
func Suggestion(found string, known []string) string {
	if best := Nearest(found, known); best != "" {
		return fmt.Sprintf("; did you mean %q?", best)
	}
	return ""
}

// Nearest is the known name that found is probably meant to be, "" if none is near.
func Nearest(found string, known []string) string {
	best, least := "", len([]rune(found))/3+1
	for _, k := range known {
		a, b := strings.ToLower(found), strings.ToLower(k)
		d := distance(a, b)
		if len(a) > 2 && strings.HasPrefix(b, a) || sameStem(a, b) { // a name cut short, or another number, is near
			d = min(d, 1)
		}
		if d < least {
			best, least = k, d
		}
	}
	return best
}

// sameStem reports whether two words begin alike, as singular and plural do: query and queries,
// corpus and corpora.
func sameStem(a, b string) bool {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n >= 4 && max(len(a), len(b))-n <= 3
}

// FlagError is an error about flags in our words: what was found, what is allowed. usages
// describes the flags that there are.
func FlagError(err error, usages string) error {
	text := err.Error()
	if m := unknownFlag.FindStringSubmatch(text); m != nil {
		var known []string
		for _, flag := range flagName.FindAllStringSubmatch(usages, -1) {
			known = append(known, flag[1])
		}
		return fmt.Errorf("%s%s", text, strings.Replace(Suggestion(m[1], known), `"`, `"--`, 1))
	}
	if m := notANumber.FindStringSubmatch(text); m != nil {
		return fmt.Errorf("%s: found %s, want a %s", m[2], m[1], map[string]string{"Int": "whole number", "Float": "number"}[m[3]])
	}
	if m := refusedValue.FindStringSubmatch(text); m != nil {
		return fmt.Errorf("%s: %s", m[1], m[2])
	}
	return err
}

var (
	flagName    = regexp.MustCompile(`(?m)^\s+(?:-\w, )?--([\w-]+)`)
	unknownFlag = regexp.MustCompile(`^unknown flag: --(\S+)$`)
	// What our own flags say of a value, after the library's words.
	refusedValue = regexp.MustCompile(`(?s)^invalid argument ".*" for "(?:-\w, )?(--\S+)" flag: (found .*)$`)
	notANumber   = regexp.MustCompile(`^invalid argument (".*") for "(?:-\w, )?(--\S+)" flag: strconv\.Parse(Int|Float): `)
)

// distance is the number of single-character edits between a and b; swapping two
// neighbours is one edit (optimal string alignment).
func distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	if len(s) > 64 || len(t) > 64 { // longer than any name: avoid quadratic time
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

// Quote shows text of a file in a message: control characters escaped, cut after 48 characters.
func Quote(s string) string {
	if r := []rune(s); len(r) > 48 {
		s = string(r[:47]) + "…"
	}
	return fmt.Sprintf("%q", s)
}

// Count is a number with its noun: "1 query", "2 queries", "2 keys".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if stem, ok := strings.CutSuffix(noun, "ry"); ok {
		return fmt.Sprintf("%d %sries", n, stem)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Examples shows the first of some names, and how many more there are.
func Examples(names []string) string {
	const shown = 3
	switch {
	case len(names) == 0:
		return "none"
	case len(names) > shown:
		return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
	}
	return strings.Join(names, ", ")
}
