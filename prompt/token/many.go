package token

// many merges pieces of any length in n log n. Parts are a linked list by their first
// byte, and a heap has the pairs that merge. An entry is out of date when its rank is no
// longer that of its part; a part's old rank never comes back, for the part only grows.
type many struct {
	ids   []uint32
	ranks []uint32 // what a part and the one after it merge to, or none
	next  []uint32
	prev  []uint32
	heap  heap
}

// count does what that of few does.
func (m *many) count(v *vocab, piece []byte) int {
	m.start(v, piece)
	parts := len(piece)
	for len(m.heap) > 0 {
		rank, at := m.heap.top()
		if m.ranks[at] != rank {
			m.heap.drop()
			continue
		}
		m.join(v, rank, at)
		parts--
	}
	return parts
}

// start makes one part of each byte, and a heap of their pairs.
func (m *many) start(v *vocab, piece []byte) {
	m.resize(len(piece))
	last := len(piece) - 1
	for i, b := range piece {
		m.ids[i], m.next[i], m.prev[i], m.ranks[i] = v.bytes[b], uint32(i+1), uint32(i-1), none
		if i == last {
			break
		}
		if rank := v.twos[int(b)<<8|int(piece[i+1])]; rank != none {
			m.ranks[i] = rank
			m.heap = append(m.heap, entry(rank, uint32(i)))
		}
	}
	m.heap.order()
}

func (m *many) resize(n int) {
	if cap(m.ids) < n {
		m.ids, m.ranks = make([]uint32, n), make([]uint32, n)
		m.next, m.prev = make([]uint32, n), make([]uint32, n)
		m.heap = make(heap, 0, n)
	}
	m.ids, m.ranks, m.next, m.prev, m.heap = m.ids[:n], m.ranks[:n], m.next[:n], m.prev[:n], m.heap[:0]
}

// join merges part at with the one after it, to the token of that rank, which is on top
// of the heap.
func (m *many) join(v *vocab, rank, at uint32) {
	gone := m.next[at]
	after := m.next[gone]
	m.ids[at], m.next[at] = rank, after
	m.ranks[at], m.ranks[gone] = none, none
	if int(after) < len(m.ids) {
		m.prev[after] = at
		m.ranks[at] = v.pairs.merge(rank, m.ids[after])
	}
	if m.ranks[at] != none {
		m.heap.replace(m.ranks[at], at)
	} else {
		m.heap.drop()
	}
	if at > 0 {
		before := m.prev[at]
		m.ranks[before] = v.pairs.merge(m.ids[before], rank)
		if m.ranks[before] != none {
			m.heap.push(m.ranks[before], before)
		}
	}
}
