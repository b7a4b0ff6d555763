package token

import (
	"bytes"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// added is the tokens that are found in a text as they stand, before it is normalized
// or split; each counts as one. The zero value finds none.
type added struct {
	tokens []string // sorted
	firsts string   // the runes that they start with
}

func newAdded(tokens []string) added {
	a := added{tokens: slices.Sorted(slices.Values(tokens))}
	for _, token := range a.tokens {
		if first, _ := utf8.DecodeRuneInString(token); !strings.ContainsRune(a.firsts, first) {
			a.firsts += string(first)
		}
	}
	return a
}

// find is where the first added token in text starts and ends, the longest of those
// that start there. If there is none, both are the end of the text.
func (a added) find(text []byte) (start, end int) {
	for start < len(text) && a.firsts != "" {
		next := bytes.IndexAny(text[start:], a.firsts)
		if next < 0 {
			break
		}
		start += next
		if n := a.at(text[start:]); n > 0 {
			return start, start + n
		}
		start++
	}
	return len(text), len(text)
}

// at is the length of the longest added token that text starts with, or 0. The tokens
// that agree with the first i bytes stand together, the one of i bytes before the rest.
func (a added) at(text []byte) int {
	longest, left := 0, a.tokens
	for i := 0; len(left) > 0; i++ {
		if len(left[0]) == i {
			longest, left = i, left[1:]
		}
		if i == len(text) {
			break
		}
		lo := sort.Search(len(left), func(k int) bool { return left[k][i] >= text[i] })
		hi := sort.Search(len(left), func(k int) bool { return left[k][i] > text[i] })
		left = left[lo:hi]
	}
	return longest
}
