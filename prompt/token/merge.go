package token

import (
	"golang.org/x/text/unicode/norm"
)

// scratch is the memory that counting needs; one call uses it at a time.
type scratch struct {
	cache cache
	few   few
	many  many

	valid  []byte // text with its invalid bytes replaced
	norm   []byte // text in NFC
	points []point
	pair   []byte
	iter   norm.Iter
}

// piece counts the tokens of text[at:end], which is not empty.
func (v *vocab) piece(text []byte, at, end int, s *scratch) int {
	if end-at == 1 {
		return 1
	}
	if end-at > maxCached {
		return v.long(text, at, end, s)
	}
	key := cacheKey(text, at, end)
	row := s.cache.row(key)
	n := row.count(key)
	if n == 0 {
		n = 1
		if !v.whole[string(text[at:end])] {
			n = v.merged(text[at:end], s)
		}
		row.put(key, n)
	}
	return n
}

// long counts a piece that is too long for the cache. Its parts may be short enough.
func (v *vocab) long(text []byte, at, end int, s *scratch) (n int) {
	if v.whole[string(text[at:end])] {
		return 1
	}
	for at < end {
		cut := v.cut(text, at, end)
		n += v.part(text, at, cut, s)
		at = cut
	}
	return n
}

// part counts what merges make of a part of a piece.
func (v *vocab) part(text []byte, at, end int, s *scratch) int {
	if end-at > maxCached {
		return v.merged(text[at:end], s)
	}
	key := cacheKey(text, at, end)
	key.high |= v.partMark
	row := s.cache.row(key)
	n := row.count(key)
	if n == 0 {
		n = v.merged(text[at:end], s)
		row.put(key, n)
	}
	return n
}

// merged counts the tokens that merges make of a piece.
func (v *vocab) merged(piece []byte, s *scratch) int {
	if len(piece) <= fewBytes {
		return s.few.count(v, piece)
	}
	return s.many.count(v, piece)
}
