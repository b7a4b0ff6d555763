package token

import "encoding/binary"

// cache holds the counts of pieces that were counted before. Each piece belongs to one row. It
// enters at the row's end, whose piece it replaces, and moves up by one place each time it is
// found, so that rare pieces do not replace frequent ones. A cache is part of a scratch:
// calls at the same time share nothing that is written.
type cache [1 << cacheBits]row

const cacheBits = 14

// row is one line of the processor's cache.
type row [4]cached

// maxCached is the length of the longest piece that a cache holds, in bytes.
const maxCached = 14

// cached is a piece and its count: up to 14 bytes of text, padded with zeros, then one byte
// of length and one of count.
type cached struct{ low, high uint64 }

const (
	lengthShift = 48
	countShift  = 56
)

// cacheKey is the entry of the piece text[at:end] without its count. A whole word is read where
// the text is long enough for that.
func cacheKey(text []byte, at, end int) cached {
	n := uint(end - at)
	if at+16 > len(text) {
		var last [16]byte
		copy(last[:], text[at:end])
		text, at = last[:], 0
	}
	low, high := binary.LittleEndian.Uint64(text[at:]), binary.LittleEndian.Uint64(text[at+8:])
	if n <= 8 {
		return cached{low & (1<<(8*n) - 1), uint64(n) << lengthShift}
	}
	return cached{low, high&(1<<(8*n-64)-1) | uint64(n)<<lengthShift}
}

// row is the row that a key belongs to.
func (c *cache) row(key cached) *row {
	return &c[(key.low*0x9E3779B97F4A7C15^key.high*0xD6E8FEB86659FD93)>>(64-cacheBits)]
}

// count is the count of a key that is in the row, or 0.
func (r *row) count(key cached) int {
	for i := range r {
		if p := r[i]; p.low == key.low && p.high&(1<<countShift-1) == key.high {
			if i > 0 {
				r[i-1], r[i] = p, r[i-1]
			}
			return int(p.high >> countShift)
		}
	}
	return 0
}

// put enters a key with its count. That of a short piece fits into a byte.
func (r *row) put(key cached, count int) {
	r[len(r)-1] = cached{key.low, key.high | uint64(count)<<countShift}
}
