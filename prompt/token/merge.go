package token

// scratch is the memory that counting needs; one call uses it at a time.
type scratch struct {
	ids   []uint32
	ranks []uint32 // ranks[i] is what part i and the one after it merge to, or none
	next  []uint32 // where the part after part i starts
	prev  []uint32
	heap  heap

	valid  []byte // text with its invalid bytes replaced
	norm   []byte // text in NFC
	points []point
}

// scanned is the longest piece, in bytes, whose lowest rank is found by looking at all
// of them; beyond it a heap is faster. Measured: they meet between 90 and 130.
const scanned = 100

// piece counts the tokens of text[at:end], which is not empty.
func (v *vocab) piece(text []byte, at, end int, s *scratch) int {
	switch {
	case end-at == 1 || v.words.has(text, at, end):
		return 1
	case end-at <= scanned:
		return v.scan(text[at:end], s)
	}
	return v.pop(text[at:end], s)
}

// start makes one part of each byte.
func (v *vocab) start(piece []byte, s *scratch) {
	if cap(s.ids) < len(piece) {
		s.ids, s.ranks = make([]uint32, len(piece)), make([]uint32, len(piece))
	}
	s.ids, s.ranks = s.ids[:len(piece)], s.ranks[:len(piece)]
	for i, b := range piece {
		s.ids[i], s.ranks[i] = v.bytes[b], none
		if i > 0 {
			s.ranks[i-1] = v.twos[int(piece[i-1])<<8|int(b)]
		}
	}
}

// scan merges the pair of the lowest rank, leftmost first, until no pair merges.
func (v *vocab) scan(piece []byte, s *scratch) int {
	v.start(piece, s)
	ids, ranks := s.ids, s.ranks
	for {
		best, at := none, 0
		for i, rank := range ranks {
			if rank < best {
				best, at = rank, i
			}
		}
		if best == none {
			return len(ids)
		}
		ids[at] = best
		ids = append(ids[:at+1], ids[at+2:]...)
		ranks = append(ranks[:at], ranks[at+1:]...)
		ranks[at] = none
		if at+1 < len(ids) {
			ranks[at] = v.pairs.merge(best, ids[at+1])
		}
		if at > 0 {
			ranks[at-1] = v.pairs.merge(ids[at-1], best)
		}
	}
}

// pop does what scan does, for pieces of any length, in n log n: parts are a linked
// list by their first byte, and a heap has the pairs. An entry whose rank is no longer
// that of its part is out of date; a part's rank never comes back, for it only grows.
func (v *vocab) pop(piece []byte, s *scratch) int {
	v.start(piece, s)
	s.link()
	parts := len(piece)
	for len(s.heap) > 0 {
		rank, at := s.heap.top()
		if s.ranks[at] != rank {
			s.heap.drop()
			continue
		}
		v.join(rank, at, s)
		parts--
	}
	return parts
}

// join merges part at with the one after it, to the token of that rank.
func (v *vocab) join(rank, at uint32, s *scratch) {
	end, gone := uint32(len(s.ids)), s.next[at]
	s.ids[at], s.ranks[at], s.ranks[gone] = rank, none, none
	after := s.next[gone]
	s.next[at] = after
	if after < end {
		s.prev[after] = at
		s.ranks[at] = v.pairs.merge(rank, s.ids[after])
	}
	if s.ranks[at] != none {
		s.heap.replace(s.ranks[at], at)
	} else {
		s.heap.drop()
	}
	if at > 0 {
		before := s.prev[at]
		s.ranks[before] = v.pairs.merge(s.ids[before], rank)
		if s.ranks[before] != none {
			s.heap.push(s.ranks[before], before)
		}
	}
}

// link makes the list and the heap of the parts that start made.
func (s *scratch) link() {
	n := len(s.ids)
	if cap(s.next) < n {
		s.next, s.prev, s.heap = make([]uint32, n), make([]uint32, n), make(heap, 0, 2*n)
	}
	s.next, s.prev, s.heap = s.next[:n], s.prev[:n], s.heap[:0]
	for i := range n {
		s.next[i], s.prev[i] = uint32(i+1), uint32(i-1)
		if s.ranks[i] != none {
			s.heap = append(s.heap, entry(s.ranks[i], uint32(i)))
		}
	}
	s.heap.order()
}

// heap is a four-way heap of pairs, the lowest rank and then the leftmost first.
type heap []uint64

func entry(rank, at uint32) uint64 { return uint64(rank)<<32 | uint64(at) }

func (h heap) top() (rank, at uint32) { return uint32(h[0] >> 32), uint32(h[0]) }

func (h heap) order() {
	for i := (len(h) - 2) / 4; i >= 0; i-- {
		h.down(i)
	}
}

func (h heap) replace(rank, at uint32) {
	h[0] = entry(rank, at)
	h.down(0)
}

func (h *heap) drop() {
	last := len(*h) - 1
	(*h)[0] = (*h)[last]
	*h = (*h)[:last]
	h.down(0)
}

func (h *heap) push(rank, at uint32) {
	*h = append(*h, entry(rank, at))
	up, i := *h, len(*h)-1
	for i > 0 && up[i] < up[(i-1)/4] {
		up[i], up[(i-1)/4] = up[(i-1)/4], up[i]
		i = (i - 1) / 4
	}
}

func (h heap) down(i int) {
	if i >= len(h) {
		return
	}
	moving := h[i]
	for {
		least := 4*i + 1
		if least >= len(h) {
			break
		}
		for child := least + 1; child < min(4*i+5, len(h)); child++ {
			if h[child] < h[least] {
				least = child
			}
		}
		if moving <= h[least] {
			break
		}
		h[i], i = h[least], least
	}
	h[i] = moving
}
