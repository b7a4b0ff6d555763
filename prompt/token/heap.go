package token

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
