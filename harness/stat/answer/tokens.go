package answer

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// tokens are the words of a text as they are compared.
func tokens(text string) (words []string) {
	folded := norm.NFC.String(cases.Fold().String(norm.NFC.String(text)))
	folded = strings.ReplaceAll(folded, "\u2212", "-") // the minus sign
	for _, word := range strings.Fields(folded) {
		word = withoutPunctuation([]rune(word))
		if word != "" && word != "a" && word != "an" && word != "the" {
			words = append(words, word)
		}
	}
	return words
}

func withoutPunctuation(word []rune) string {
	address := strings.Contains(string(word), "://") || slices.Contains(word, '@')
	value := slices.ContainsFunc(word, unicode.IsDigit)
	var kept strings.Builder
	for i, r := range word {
		if !isPunctuation(r) || address && inside(word, i) || value && partOfValue(word, i) {
			kept.WriteRune(r)
		}
	}
	return kept.String()
}

// isPunctuation includes the symbols of ASCII, as SQuAD's evaluation does: $5 is 5.
func isPunctuation(r rune) bool {
	return unicode.IsPunct(r) || r < unicode.MaxASCII && unicode.IsSymbol(r)
}

// inside reports whether there are other characters before and after.
func inside(word []rune, i int) bool {
	plain := func(r rune) bool { return !isPunctuation(r) }
	return slices.ContainsFunc(word[:i], plain) && slices.ContainsFunc(word[i+1:], plain)
}

// partOfValue reports whether punctuation belongs to a number, version, address or time: it
// stands between digits (but a comma before thousands), it is a point, colon or slash between
// letters or digits, or a sign or point before the first digit.
func partOfValue(word []rune, i int) bool {
	before, after := at(word, i-1), at(word, i+1)
	switch r := word[i]; {
	case unicode.IsDigit(before) && unicode.IsDigit(after):
		return r != ',' || !thousands(word[i+1:])
	case isAlphanumeric(before) && isAlphanumeric(after):
		return r == '.' || r == ':' || r == '/'
	case r == '-' || r == '+':
		return !isAlphanumeric(before) && (unicode.IsDigit(after) || after == '.' && unicode.IsDigit(at(word, i+2)))
	case r == '.':
		return !isAlphanumeric(before) && unicode.IsDigit(after)
	case r == ':':
		return before == ':' || after == ':' // an IPv6 address leaves zeros out
	}
	return false
}

// thousands reports whether a group of exactly three digits begins the text.
func thousands(text []rune) bool {
	n := 0
	for n < len(text) && unicode.IsDigit(text[n]) {
		n++
	}
	return n == 3
}

func isAlphanumeric(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// at is the character at an index; 0 outside.
func at(word []rune, i int) rune {
	if i < 0 || i >= len(word) {
		return 0
	}
	return word[i]
}
