package view

import (
	"fmt"
	"strconv"

	"github.com/poimen-memory/mem/harness/render/internal/layout"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/harness/stat"
)

// lengthKeys says what each row is of. Levels and exit settings that are the same in all
// rows are in common.
func lengthKeys(rows []result.LengthRow) (t layout.Table, common []string) {
	gates := make([]result.GateRow, len(rows))
	for i, r := range rows {
		gates[i] = r.GateRow
	}
	t, common = gateKeys(gates)
	return append(t,
		layout.Column{Head: "corpus", Key: true, Cells: layout.Each(rows, func(r result.LengthRow) string { return r.Corpus })},
		layout.Column{Head: "length", Right: true, Cells: layout.Each(rows, func(r result.LengthRow) string { return strconv.Itoa(r.Length) })},
	), common
}

// LengthTable shows gates by the length of synthetic sessions.
func LengthTable(rows []result.LengthRow) (t layout.Table, common []string) {
	t, common = lengthKeys(rows)
	add := func(head string, of func(result.LengthRow) string) {
		t = append(t, layout.Column{Head: head, Right: true, Cells: layout.Each(rows, of)})
	}
	add("runs", func(r result.LengthRow) string { return strconv.Itoa(r.Counts.Runs) })
	for _, m := range []struct{ name, head string }{
		{"recall_committed", "recall\ncommitted"}, {"specificity_strict", "specificity\nstrict"}, {"exit_useful", "exit\nuseful"},
	} {
		add(m.head, func(r result.LengthRow) string {
			e, _ := r.Metric(m.name)
			return FormatInterval(e)
		})
	}
	amount := func(head, name, format string) {
		add(head, func(r result.LengthRow) string {
			if e := Estimate(r, name); e.Value != nil {
				return fmt.Sprintf(format, *e.Value)
			}
			return Undefined
		})
	}
	amount("calls\na run", result.Calls, "%.1f")
	amount("memory\ntokens", result.FinalMemory, "%.0f")
	return t, common
}

// LengthLegend is what the metrics of LengthTable are.
func LengthLegend() string {
	return InWords([]string{"recall_committed", "specificity_strict", "exit_useful"})
}

// WithDepths are the rows that tell depths apart.
func WithDepths(rows []result.LengthRow) (list []result.LengthRow) {
	for _, r := range rows {
		if len(r.Depths) > 0 {
			list = append(list, r)
		}
	}
	return list
}

// EvidenceByDepth shows, by length and depth, how much of the evidence was written: the heat
// map of needles as numbers. Each row has depths.
func EvidenceByDepth(rows []result.LengthRow) layout.Table {
	return byDepth(rows, func(d result.DepthRow) string {
		if d.Evidence == 0 {
			return Undefined
		}
		return fmt.Sprintf("%d/%d", d.Written, d.Evidence)
	})
}

// MetricByDepth shows a metric by length and depth. Each row has depths.
func MetricByDepth(rows []result.LengthRow, metric string) layout.Table {
	return byDepth(rows, func(d result.DepthRow) string { return brief(Estimate(d, metric)) })
}

// byDepth has a column for each depth.
func byDepth(rows []result.LengthRow, of func(result.DepthRow) string) layout.Table {
	t, _ := lengthKeys(rows)
	for i, d := range rows[0].Depths {
		t = append(t, layout.Column{Head: DepthName(d), Right: true, Cells: layout.Each(rows, func(r result.LengthRow) string {
			return of(DepthAt(r, i))
		})})
	}
	return t
}

func DepthName(d result.DepthRow) string { return fmt.Sprintf("%d–%d %%", d.From, d.To) }

// DepthAt has nothing measured where a row of a changed folder lacks the depth.
func DepthAt(r result.LengthRow, i int) (d result.DepthRow) {
	if i < len(r.Depths) {
		d = r.Depths[i]
	}
	return d
}

// brief is an estimate with its interval and number of queries, as little as it must not
// be without.
func brief(e stat.Estimate) string {
	switch {
	case e.Value == nil:
		return Undefined
	case e.Lower == nil || e.Upper == nil:
		return fmt.Sprintf("%s (n %d)", FormatNumber(*e.Value), e.Queries)
	}
	return fmt.Sprintf("%s [%s, %s] (n %d)", FormatNumber(*e.Value), FormatNumber(*e.Lower), FormatNumber(*e.Upper), e.Queries)
}

// measured is a row with metrics.
type measured interface {
	Metric(name string) (e stat.Estimate, ok bool)
}

// Estimate is the row's metric of that name. The folder may be of a version that did not
// measure it: it is then undefined, and says so.
func Estimate(row measured, name string) stat.Estimate {
	e, ok := row.Metric(name)
	if !ok {
		e.Reason = "not measured"
	}
	return e
}
