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
			words = append(words, splitUnspaced(word)...)
		}
	}
	return words
}

// unspaced are the scripts that put no spaces between words.
var unspaced = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan}

// splitUnspaced makes a token of each character of a script without spaces, with the marks on it.
func splitUnspaced(word string) (list []string) {
	alone := false // the last token is such a character
	for i, r := range word {
		single := unicode.In(r, unspaced...) || r == 'ー'
		switch {
		case unicode.IsMark(r) && len(list) > 0:
			list[len(list)-1] += string(r)
			continue
		case i == 0 || single || alone:
			list = append(list, string(r))
		default:
			list[len(list)-1] += string(r)
		}
		alone = single
	}
	return list
}

// plainTokens are the words of a text as they are, but for punctuation around them: what
// references that normalise to nothing, as the letter A or an article, are compared by.
func plainTokens(text string) (words []string) {
	for _, word := range strings.Fields(norm.NFC.String(text)) {
		if bare := strings.TrimFunc(word, func(r rune) bool { return isPunctuation(r) }); bare != "" {
			word = bare
		}
		words = append(words, word)
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
