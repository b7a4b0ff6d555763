package token

// vocab is a byte-level BPE vocabulary made for counting: an id is also its rank.
// It does not change once built.
type vocab struct {
	bytes [256]uint32       // id of each single byte
	twos  [256 * 256]uint32 // what two bytes merge to, or none: where every merge starts
	pairs pairs             // what two tokens merge to
	joins func() *joins     // where merges may cross from one character to the next

	// whole has the tokens that merges do not make and that a whole piece may be all the same.
	// If there are any, partMark keeps parts of pieces apart from whole ones in a cache.
	whole    map[string]bool
	partMark uint64
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

// newVocab is a vocabulary to which single bytes and merges are to be added.
func newVocab(merges int) *vocab {
	v := &vocab{pairs: newPairs(merges)}
	for i := range v.twos {
		v.twos[i] = none
	}
	return v
}

// none is no token: greater than every id, so that it never has the lowest rank.
const none = ^uint32(0)

// maxIDs bounds ids, so that a pair and what it merges to fit 63 bits.
const maxIDs = 1 << idBits

const idBits = 21

// pairs maps two adjacent tokens to the one that they merge to: a hash table with linear
// probing whose slots hold left, right and merged id below a bit that marks them as taken.
// Along a row of slots the keys descend, so that a search for a pair that does not merge ends
// early though the table is four fifths full.
type pairs struct {
	slots []uint64
	shift uint
}

const taken = 1 << (2 * idBits) // in a slot's key

func newPairs(n int) pairs {
	bits := uint(4)
	for 4<<bits < 5*n {
		bits++
	}
	return pairs{slots: make([]uint64, 1<<bits), shift: 64 - bits}
}

// mix spreads a key over the high bits of a word (Fibonacci hashing).
func mix(key uint64) uint64 { return key * 0x9E3779B97F4A7C15 }

func pairKey(left, right uint32) uint64 { return taken | uint64(left)<<idBits | uint64(right) }

func (p *pairs) add(m merge) {
	key := pairKey(m.left, m.right)
	slot := key<<idBits | uint64(m.merged)
	for i := mix(key) >> p.shift; slot != 0; i++ {
		if place := &p.slots[i&uint64(len(p.slots)-1)]; *place < slot {
			*place, slot = slot, *place
		}
	}
}

// merge is the token that left and right merge to, or none.
func (p *pairs) merge(left, right uint32) uint32 {
	key := pairKey(left, right)
	for i := mix(key) >> p.shift; ; i++ {
		slot := p.slots[i&uint64(len(p.slots)-1)]
		if slot>>idBits == key {
			return uint32(slot & (maxIDs - 1))
		}
		if slot>>idBits < key {
			return none
		}
	}
}
