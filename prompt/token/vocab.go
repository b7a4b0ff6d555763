package token

// vocab is a byte-level BPE vocabulary made for counting: an id is also its rank.
// It does not change once built.
type vocab struct {
	bytes [256]uint32       // id of each single byte
	twos  [256 * 256]uint32 // what two bytes merge to, or none: where every merge starts
	pairs pairs             // what two tokens merge to
	words words             // the tokens that a whole piece may be
}

// spelling has the bytes of each token: those of token i end at ends[i], where those of
// the next one start.
type spelling struct {
	text []byte
	ends []uint32
}

func (s spelling) start(id uint32) uint32 {
	if id == 0 {
		return 0
	}
	return s.ends[id-1]
}

func (s spelling) token(id uint32) []byte { return s.text[s.start(id):s.ends[id]] }

// merge is two adjacent tokens and the one that they become.
type merge struct{ left, right, merged uint32 }

// newVocab makes the tables but for words; each merged id must be the rank of its merge.
func newVocab(s spelling, merges []merge) *vocab {
	v := &vocab{pairs: newPairs(len(merges))}
	for i := range v.twos {
		v.twos[i] = none
	}
	for id := range uint32(len(s.ends)) {
		if token := s.token(id); len(token) == 1 {
			v.bytes[token[0]] = id
		}
	}
	for _, m := range merges {
		v.pairs.add(m)
		if token := s.token(m.merged); len(token) == 2 {
			v.twos[int(token[0])<<8|int(token[1])] = m.merged
		}
	}
	return v
}

// none is no token: greater than every id, so that it never has the lowest rank.
const none = ^uint32(0)

// maxIDs bounds ids, so that a pair and what it merges to fit 63 bits.
const maxIDs = 1 << idBits

const idBits = 21

// pairs maps two adjacent tokens to the one that they merge to: a hash table with
// linear probing whose slots hold left, right and merged id below a bit that marks
// them as taken.
type pairs struct {
	slots []uint64
	shift uint
}

const taken = 1 << (2 * idBits) // in a slot's key

func newPairs(n int) pairs {
	bits := tableBits(n)
	return pairs{slots: make([]uint64, 1<<bits), shift: 64 - bits}
}

// tableBits is the logarithm of the size of a table of n entries, at most two thirds full.
func tableBits(n int) uint {
	bits := uint(4)
	for 2<<bits < 3*n {
		bits++
	}
	return bits
}

// mix spreads a key over the high bits of a word (Fibonacci hashing).
func mix(key uint64) uint64 { return key * 0x9E3779B97F4A7C15 }

func pairKey(left, right uint32) uint64 { return taken | uint64(left)<<idBits | uint64(right) }

func (p *pairs) add(m merge) {
	key := pairKey(m.left, m.right)
	i := mix(key) >> p.shift
	for p.slots[i] != 0 {
		i = (i + 1) & uint64(len(p.slots)-1)
	}
	p.slots[i] = key<<idBits | uint64(m.merged)
}

// merge is the token that left and right merge to, or none.
func (p *pairs) merge(left, right uint32) uint32 {
	key := pairKey(left, right)
	for i := mix(key) >> p.shift; ; i++ {
		slot := p.slots[i&uint64(len(p.slots)-1)]
		if slot>>idBits == key {
			return uint32(slot & (maxIDs - 1))
		}
		if slot == 0 {
			return none
		}
	}
}
