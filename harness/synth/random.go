package synth

import "math/bits"

// random is SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). It is written out here so that
// a seed means the same corpus on every machine and with every version of Go.
type random uint64

func (r *random) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below is a number from 0 to n-1. Its bias, n in 2⁶⁴, is not to be measured.
func (r *random) below(n int) int {
	high, _ := bits.Mul64(r.next(), uint64(n))
	return int(high)
}

func (r *random) pick(list []string) string { return list[r.below(len(list))] }

// shuffle is the first k of the numbers 0 to n-1 in a random order.
func (r *random) shuffle(n, k int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	for i := range k {
		j := i + r.below(n-i)
		list[i], list[j] = list[j], list[i]
	}
	return list[:k]
}

// of is a stream of its own for a part of what r is for, such as one record.
func (r random) of(parts ...int) random {
	for _, p := range parts {
		r ^= random(uint64(p))
		r = random(r.next())
	}
	return r
}
