// Package dist describes distributions of numbers, such as the sizes of chunks in tokens.
package dist

import "slices"

// Percentile is the nearest-rank percentile p, 1 to 100, of sorted numbers; 0 if there are
// none.
func Percentile[T int | float64](sorted []T, p int) T {
	if len(sorted) == 0 {
		return 0
	}
	rank := (p*len(sorted) + 99) / 100
	return sorted[max(rank, 1)-1]
}

// Sum is the sum of numbers.
func Sum(numbers []int) (sum int) {
	for _, n := range numbers {
		sum += n
	}
	return sum
}

// Bin counts the numbers From to To, both included.
type Bin struct{ From, To, Count int }

// maxBins is how many bins a distribution has at most.
const maxBins = 10

// Bins are at most ten bins of equal width: 1, 2 or 5 times a power of ten. The first and the
// last are not empty. Numbers are at least 0.
func Bins(numbers []int) []Bin {
	if len(numbers) == 0 {
		return nil
	}
	low, high := slices.Min(numbers), slices.Max(numbers)
	width := binWidth(low, high)
	first := low / width
	bins := make([]Bin, high/width-first+1)
	for i := range bins {
		bins[i].From = (first + i) * width
		bins[i].To = bins[i].From + width - 1
	}
	for _, n := range numbers {
		bins[n/width-first].Count++
	}
	return bins
}

func binWidth(low, high int) int {
	for ten := 1; ; ten *= 10 {
		for _, width := range []int{ten, 2 * ten, 5 * ten} {
			if high/width-low/width < maxBins {
				return width
			}
		}
	}
}
