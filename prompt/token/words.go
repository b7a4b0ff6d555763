package token

import (
	"bytes"
	"encoding/binary"
)

// words is the set of tokens, to find whether a whole piece is one. Tokens under eight
// bytes are their own keys; longer ones are looked up by hash and compared.
type words struct {
	short      []uint64 // shortKey of a token, 0 for an empty slot
	long       []uint64 // longSlot of a token, 0 for an empty slot
	shortShift uint
	longShift  uint
	text       []byte // the bytes of all tokens, one after the other
	longest    int    // length of the longest token
}

// A slot of a long token holds, from the top, some bits of its hash, its length, and
// where it starts in the text.
const (
	lengthBits = 12
	offsetBits = 28
	tagShift   = lengthBits + offsetBits

	maxLength = 1<<lengthBits - 1
	maxText   = 1<<offsetBits - 1
)

// newWords is the set of the tokens that keep wants; nil wants all.
func newWords(s spelling, keep func(id uint32) bool) words {
	short := 0
	for id := range uint32(len(s.ends)) {
		if len(s.token(id)) < 8 {
			short++
		}
	}
	few, many := tableBits(short), tableBits(len(s.ends)-short)
	w := words{
		short: make([]uint64, 1<<few), shortShift: 64 - few,
		long: make([]uint64, 1<<many), longShift: 64 - many,
		text: s.text,
	}
	for id := range uint32(len(s.ends)) {
		if keep == nil || keep(id) {
			w.add(int(s.start(id)), int(s.ends[id]))
		}
	}
	return w
}

// add enters the token that lies at start, end in the text.
func (w *words) add(start, end int) {
	token := w.text[start:end]
	w.longest = max(w.longest, len(token))
	if len(token) < 8 {
		key := shortKey(w.text, start, end)
		put(w.short, mix(key)>>w.shortShift, key)
		return
	}
	hash := longHash(token)
	slot := hash>>tagShift<<tagShift | uint64(len(token))<<offsetBits | uint64(start)
	put(w.long, hash>>w.longShift, slot)
}

func put(slots []uint64, i, value uint64) {
	for slots[i] != 0 {
		i = (i + 1) & uint64(len(slots)-1)
	}
	slots[i] = value
}

// has says whether text[at:end], which must not be empty, is a token.
func (w *words) has(text []byte, at, end int) bool {
	if end-at >= 8 {
		return end-at <= w.longest && w.hasLong(text[at:end])
	}
	key := shortKey(text, at, end)
	for i := mix(key) >> w.shortShift; ; i++ {
		slot := w.short[i&uint64(len(w.short)-1)]
		if slot == key {
			return true
		}
		if slot == 0 {
			return false
		}
	}
}

func (w *words) hasLong(piece []byte) bool {
	hash := longHash(piece)
	want := hash>>tagShift<<lengthBits | uint64(len(piece))
	for i := hash >> w.longShift; ; i++ {
		slot := w.long[i&uint64(len(w.long)-1)]
		if slot == 0 {
			return false
		}
		if slot>>offsetBits == want {
			start := int(slot & maxText)
			if bytes.Equal(w.text[start:start+len(piece)], piece) {
				return true
			}
		}
	}
}

// shortKey packs up to seven bytes and their number. A whole word is read where the
// text is long enough for that.
func shortKey(text []byte, at, end int) uint64 {
	n := uint(end - at)
	if at+8 <= len(text) {
		return binary.LittleEndian.Uint64(text[at:])&(1<<(8*n)-1) | uint64(n)<<56
	}
	key := uint64(n) << 56
	for i := range n {
		key |= uint64(text[at+int(i)]) << (8 * i)
	}
	return key
}

// longHash is of the first and last eight bytes and the length: few tokens agree in
// all three, and those that do are told apart by comparing.
func longHash(piece []byte) uint64 {
	first := binary.LittleEndian.Uint64(piece)
	last := binary.LittleEndian.Uint64(piece[len(piece)-8:])
	return mix(mix(first)>>23 ^ mix(last+uint64(len(piece))))
}
