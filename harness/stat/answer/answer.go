// Package answer scores answers against references.
package answer

import (
	"slices"
	"strings"
	"sync"
)

// Score is how near an answer is to its references, each number from 0 to 1.
type Score struct {
	SubEM float64 `json:"sub_em"` // the answer holds the reference
	EM    float64 `json:"em"`     // it is the reference
	F1    float64 `json:"f1"`     // of their tokens
}

// Compare compares an answer, without reasoning that leaked into it, with its references, both
// normalised: Unicode NFC, case folded, in words without punctuation and the articles a, an, the.
// Punctuation inside a number, a version, an address or a time stays, so that neither 3.14 is 314
// nor -5 is 5. Characters of scripts without spaces are words. A reference of which nothing is left
// (A, the, "...") is compared as it is, case included.
//
// The references are wordings of one answer, of which the best counts, or with all the parts
// of it (the values of RULER's needles): then SubEM is the share of them that the answer
// holds, and EM and F1 are against all their tokens, in any order.
//
// An answer holds a reference if its tokens hold the reference's, contiguous (METRICS section
// 1, sub_em): one way, and tokens, not characters, so that neither "no" nor "unknown" passes
// for the other. An empty answer, and an empty reference, score 0.
func Compare(answer string, references []string, all bool) Score {
	answer = WithoutReasoning(answer)
	if all && len(references) > 1 {
		return scoreParts(answer, references)
	}
	var best Score
	for _, ref := range references {
		got, want := tokensOf(answer, ref)
		if len(want) == 0 {
			continue
		}
		best.SubEM = max(best.SubEM, float64(oneIf(holds(got, want))))
		best.EM = max(best.EM, float64(oneIf(slices.Equal(got, want))))
		best.F1 = max(best.F1, tokenF1(got, want))
	}
	return best
}

// tokensOf are those of an answer and of a reference, by which they are compared.
func tokensOf(answer, ref string) (got, want []string) {
	if want = tokens(ref); len(want) > 0 {
		return tokens(answer), want
	}
	return plainTokens(answer), plainTokens(ref)
}

// Bare reports whether normalising leaves nothing of a reference.
func Bare(reference string) bool { return len(tokens(reference)) == 0 }

// scoreParts scores against references that all belong to the answer.
func scoreParts(answer string, references []string) (s Score) {
	got := tokens(answer)
	var want []string
	held := 0
	for _, ref := range references {
		in, part := tokensOf(answer, ref)
		held += oneIf(len(part) > 0 && holds(in, part))
		want = append(want, tokens(ref)...)
	}
	s.SubEM = float64(held) / float64(len(references))
	s.F1 = tokenF1(got, want)
	s.EM = float64(oneIf(len(got) > 0 && slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want)))))
	return s
}

// Holder says of references whether a text holds them, as Compare does for SubEM.
func Holder(text string) func(reference string) bool {
	const gap = "\x00"
	text = WithoutReasoning(text)
	joined := func(words []string) string { return gap + strings.Join(words, gap) + gap }
	all, plain := joined(tokens(text)), sync.OnceValue(func() string { return joined(plainTokens(text)) })
	return func(reference string) bool {
		if want := tokens(reference); len(want) > 0 {
			return strings.Contains(all, joined(want))
		}
		want := plainTokens(reference)
		return len(want) > 0 && strings.Contains(plain(), joined(want))
	}
}

// Right says whether the answer holds all that it has to.
func (s Score) Right() bool { return s.SubEM == 1 }

func holds(got, want []string) bool {
	for i := 0; i+len(want) <= len(got); i++ {
		if slices.Equal(got[i:i+len(want)], want) {
			return true
		}
	}
	return false
}

// tokenF1 is the harmonic mean of the shares of each side's tokens that the other has too, as
// often as both have them.
func tokenF1(got, want []string) float64 {
	left := map[string]int{}
	for _, token := range want {
		left[token]++
	}
	common := 0
	for _, token := range got {
		if left[token] > 0 {
			left[token]--
			common++
		}
	}
	if common == 0 {
		return 0
	}
	return 2 * float64(common) / float64(len(got)+len(want))
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}
