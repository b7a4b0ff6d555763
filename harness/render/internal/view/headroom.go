package view

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/render/internal/layout"
)

// BudgetTable has a column for the spec's percentile where it is none of the usual ones.
func BudgetTable(b check.BudgetTable) layout.Table {
	percentiles := map[int]func(check.BudgetRow) int{
		b.Percentile: func(r check.BudgetRow) int { return r.At },
		50:           func(r check.BudgetRow) int { return r.P50 },
		95:           func(r check.BudgetRow) int { return r.P95 },
		99:           func(r check.BudgetRow) int { return r.P99 },
	}
	t := layout.Table{{Head: "component", Key: true, Cells: layout.Each(b.Rows, func(r check.BudgetRow) string { return string(r.Component) })}}
	number := func(head string, of func(check.BudgetRow) int) {
		cells := layout.Each(b.Rows, func(r check.BudgetRow) string { return strconv.Itoa(of(r)) })
		t = append(t, layout.Column{Head: head, Right: true, Cells: cells})
	}
	for _, p := range slices.Sorted(maps.Keys(percentiles)) {
		number(fmt.Sprintf("p%d", p), percentiles[p])
	}
	number("max", func(r check.BudgetRow) int { return r.Max })
	number("limit", func(r check.BudgetRow) int { return r.Limit })
	return t
}

func Headroom(b check.BudgetTable) string {
	return fmt.Sprintf("%d tokens free at the p%d chunk, %d at the largest", b.Headroom, b.Percentile, b.AtMax)
}
