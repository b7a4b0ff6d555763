package stat

import (
	"cmp"
	"strconv"
	"strings"
)

// CompareTagValues orders values that begin with a number by it (8k before 16k, 0–20 % before
// 80–100 %), others as text after them, and queries without the tag last.
func CompareTagValues(a, b string) int {
	x, isX := number(a)
	y, isY := number(b)
	return cmp.Or(cmp.Compare(oneIf(a == NoTag), oneIf(b == NoTag)), cmp.Compare(oneIf(!isX), oneIf(!isY)),
		cmp.Compare(x, y), cmp.Compare(a, b))
}

// number is what a value begins with; k and m are those of lengths.
func number(value string) (n float64, ok bool) {
	digits := value[:len(value)-len(strings.TrimLeft(value, "0123456789."))]
	n, err := strconv.ParseFloat(digits, 64)
	switch value[len(digits):] {
	case "k":
		n *= 1 << 10
	case "m":
		n *= 1 << 20
	}
	return n, err == nil
}
