package stat

import (
	"slices"
	"strings"
	"unicode"
)

// SubEM says whether an answer holds one of the references: both in lower case, without
// punctuation and the articles a, an, the; the reference's tokens contiguous in the
// answer's (METRICS section 1, sub_em). Tokens, not characters: "unknown" does not hold
// "no". An empty answer is wrong, and a reference of nothing is never held.
func SubEM(answer string, references []string) bool {
	got := answerTokens(answer)
	return slices.ContainsFunc(references, func(ref string) bool {
		want := answerTokens(ref)
		return len(want) > 0 && holds(got, want)
	})
}

func holds(got, want []string) bool {
	for i := 0; i+len(want) <= len(got); i++ {
		if slices.Equal(got[i:i+len(want)], want) {
			return true
		}
	}
	return false
}

func answerTokens(text string) []string {
	plain := strings.Map(func(r rune) rune {
		if unicode.IsPunct(r) || r < unicode.MaxASCII && unicode.IsSymbol(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, text)
	return slices.DeleteFunc(strings.Fields(plain), func(word string) bool {
		return word == "a" || word == "an" || word == "the"
	})
}
