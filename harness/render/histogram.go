package render

import (
	"strconv"
	"strings"

	"github.com/poimen-memory/mem/harness/dist"
)

// longestBar is in columns of the terminal.
const longestBar = 30

// Histogram has a row for each bin: its numbers, with their unit, how often they occur, and
// a bar as long as its share of the largest. Without bins there are no columns.
func Histogram(numbers, occur string, bins []dist.Bin, unit string) []Column {
	if len(bins) == 0 {
		return nil
	}
	most := 1
	for _, b := range bins {
		most = max(most, b.Count)
	}
	t := []Column{{Head: numbers, Right: true}, {Head: occur, Right: true}, {}}
	for _, b := range bins {
		from := strconv.Itoa(b.From)
		if b.To > b.From {
			from += "–" + strconv.Itoa(b.To)
		}
		t[0].Cells = append(t[0].Cells, from+unit)
		t[1].Cells = append(t[1].Cells, strconv.Itoa(b.Count))
		t[2].Cells = append(t[2].Cells, strings.Repeat("█", (b.Count*longestBar+most-1)/most))
	}
	return t
}
