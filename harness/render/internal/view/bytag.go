package view

import (
	"slices"
	"strconv"
	"strings"

	"github.com/poimen-memory/mem/harness/render/internal/layout"
	"github.com/poimen-memory/mem/harness/result"
)

// RowsOf are the rows of one tag.
func RowsOf(rows []result.TagRow, tag string) (list []result.TagRow) {
	for _, r := range rows {
		if r.Tag == tag {
			list = append(list, r)
		}
	}
	return list
}

// TagTable shows gates by the values of one tag.
func TagTable(rows []result.TagRow) (t layout.Table, common []string) {
	gates := make([]result.GateRow, len(rows))
	for i, r := range rows {
		gates[i] = result.GateRow{Model: r.Model, Level: r.Level, ExitGate: r.ExitGate}
	}
	t, common = gateKeys(gates)
	t = append(t,
		layout.Column{Head: "value", Key: true, Cells: layout.Each(rows, func(r result.TagRow) string { return r.Value })},
		layout.Column{Head: "queries", Right: true, Cells: layout.Each(rows, mostQueries)},
	)
	for _, name := range measuredIn(rows) {
		t = append(t, layout.Column{Head: strings.Replace(name, "_", "\n", 1), Right: true, Cells: layout.Each(rows, func(r result.TagRow) string {
			return FormatInterval(Estimate(r, name))
		})})
	}
	return t, common
}

// mostQueries is the number of the row's queries: the most that any of its metrics has.
func mostQueries(r result.TagRow) string {
	n := 0
	for _, m := range r.Metrics {
		n = max(n, m.Queries)
	}
	return strconv.Itoa(n)
}

// measuredIn are the metrics that any row has, in their order.
func measuredIn(rows []result.TagRow) (names []string) {
	for _, r := range rows {
		for _, m := range r.Metrics {
			if !slices.Contains(names, m.Name) {
				names = append(names, m.Name)
			}
		}
	}
	return names
}

// TagLegend is what the metrics of a TagTable are.
func TagLegend(rows []result.TagRow) string { return InWords(measuredIn(rows)) }
