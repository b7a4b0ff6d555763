package token

import (
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// scratch is the memory that counting needs; one call uses it at a time.
type scratch struct {
	few  few
	many many

	valid  []byte // text with its invalid bytes replaced
	norm   []byte // text in NFC
	points []point
	pair   []byte
	iter   norm.Iter
}

// piece counts the tokens of text[at:end], which is not empty.
func (v *vocab) piece(text []byte, at, end int, s *scratch) int {
	if end-at == 1 || v.words.has(text, at, end) {
		return 1
	}
	return v.merged(text[at:end], s)
}

// merged counts the tokens that merges make of a piece.
func (v *vocab) merged(piece []byte, s *scratch) int {
	limit := fewBytes
	if piece[len(piece)-1] >= utf8.RuneSelf {
		limit = fewWideBytes
	}
	if len(piece) <= limit {
		return s.few.count(v, piece)
	}
	return s.many.count(v, piece)
}
