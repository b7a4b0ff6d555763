package token

// joins is a set of pairs of adjacent characters of three bytes each, among them all that
// stand side by side in a token. A text that is cut between other pairs keeps its merges: none
// crosses the cut. In Chinese, Japanese and Korean most places can be cut, and the parts are
// so short and frequent that their counts are found in a cache.
//
// The set may have more pairs: it is a table of bits by the hash of a pair.
type joins [1 << joinBits / 64]uint64

const joinBits = 18

func (j *joins) add(left, right uint32) {
	h := joinHash(left, right)
	j[h/64] |= 1 << (h % 64)
}

func (j *joins) has(left, right uint32) bool {
	h := joinHash(left, right)
	return j[h/64]>>(h%64)&1 != 0
}

func joinHash(left, right uint32) uint64 {
	return mix(uint64(left)<<32|uint64(right)) >> (64 - joinBits)
}

// learn adds what a merge of two tokens joins. A token may hold a part of a character at its
// start or end. What is known of the character then stands for all that agree with it: the
// last byte of the left one, or the first byte of the right one.
func (j *joins) learn(left, right []byte) {
	if !isWide(right[0]) {
		return
	}
	r := uint32(right[0])
	if len(right) >= 3 {
		r = wide(right)
	}
	switch n := len(left); {
	case n >= 3 && isWide(left[n-3]) && isTail(left[n-2]) && isTail(left[n-1]):
		j.add(wide(left[n-3:]), r)
	case isTail(left[n-1]) && (n == 1 || n == 2 && isTail(left[0])):
		j.add(uint32(left[n-1]), r)
	}
}

// cut is the first place in text[at:end] where no merge crosses, or end.
func (v *vocab) cut(text []byte, at, end int) int {
	for i := at + 3; i+3 <= end; i++ {
		if isWide(text[i]) && isWide(text[i-3]) && !v.joins().across(text, i) {
			return i
		}
	}
	return end
}

// across says whether a merge may join the characters before and after text[i].
func (j *joins) across(text []byte, i int) bool {
	left, right := wide(text[i-3:]), wide(text[i:])
	tail, lead := uint32(text[i-1]), uint32(text[i])
	return j.has(left, right) || j.has(left, lead) || j.has(tail, right) || j.has(tail, lead)
}

// isWide says that a byte starts a character of three bytes, isTail that it continues one.
func isWide(b byte) bool { return b>>4 == 0xE }
func isTail(b byte) bool { return b>>6 == 2 }

// wide packs the first three bytes of text.
func wide(text []byte) uint32 {
	return uint32(text[0])<<16 | uint32(text[1])<<8 | uint32(text[2])
}
