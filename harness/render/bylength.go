package render

import (
	"fmt"
	"strconv"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/stat"
)

// lengthKeys says what each row is of. Levels and exit settings that are the same in all
// rows are in common.
func lengthKeys(rows []harness.LengthRow) (t table, common []string) {
	gates := make([]harness.GateRow, len(rows))
	for i, r := range rows {
		gates[i] = r.GateRow
	}
	t, common = gateKeys(gates)
	return append(t,
		column{head: "corpus", key: true, cells: each(rows, func(r harness.LengthRow) string { return r.Corpus })},
		column{head: "length", right: true, cells: each(rows, func(r harness.LengthRow) string { return strconv.Itoa(r.Length) })},
	), common
}

// lengthTable shows gates by the length of synthetic sessions.
func lengthTable(rows []harness.LengthRow) (t table, common []string) {
	t, common = lengthKeys(rows)
	add := func(head string, of func(harness.LengthRow) string) {
		t = append(t, column{head: head, right: true, cells: each(rows, of)})
	}
	add("runs", func(r harness.LengthRow) string { return strconv.Itoa(r.Counts.Runs) })
	for _, m := range []struct{ name, head string }{
		{"recall_committed", "recall\ncommitted"}, {"specificity_strict", "specificity\nstrict"}, {"exit_safe", "exit\nsafe"},
	} {
		add(m.head, func(r harness.LengthRow) string {
			e, _ := r.Metric(m.name)
			return interval(e)
		})
	}
	amount := func(head, name, format string) {
		add(head, func(r harness.LengthRow) string {
			if e := estimate(r, name); e.Value != nil {
				return fmt.Sprintf(format, *e.Value)
			}
			return undefined
		})
	}
	amount("calls\na run", harness.Calls, "%.1f")
	amount("memory\ntokens", harness.FinalMemory, "%.0f")
	return t, common
}

// deep are the rows that tell depths apart.
func deep(rows []harness.LengthRow) (list []harness.LengthRow) {
	for _, r := range rows {
		if len(r.Depths) > 0 {
			list = append(list, r)
		}
	}
	return list
}

// depthTable shows, by length and depth, how much of the evidence was written: the heat
// map of needles as numbers. Each row has depths.
func depthTable(rows []harness.LengthRow) table {
	return byDepth(rows, func(d harness.DepthRow) string {
		if d.Evidence == 0 {
			return undefined
		}
		return fmt.Sprintf("%d/%d", d.Written, d.Evidence)
	})
}

// mapTable shows a metric by length and depth. Each row has depths.
func mapTable(rows []harness.LengthRow, metric string) table {
	return byDepth(rows, func(d harness.DepthRow) string { return brief(estimate(d, metric)) })
}

// byDepth has a column for each depth.
func byDepth(rows []harness.LengthRow, of func(harness.DepthRow) string) table {
	t, _ := lengthKeys(rows)
	for i, d := range rows[0].Depths {
		t = append(t, column{head: depthName(d), right: true, cells: each(rows, func(r harness.LengthRow) string {
			return of(depthAt(r, i))
		})})
	}
	return t
}

func depthName(d harness.DepthRow) string { return fmt.Sprintf("%d–%d %%", d.From, d.To) }

// depthAt has nothing measured where a row of a changed folder lacks the depth.
func depthAt(r harness.LengthRow, i int) (d harness.DepthRow) {
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
		return undefined
	case e.Lower == nil || e.Upper == nil:
		return fmt.Sprintf("%s (n %d)", number(*e.Value), e.Units)
	}
	return fmt.Sprintf("%s [%s, %s] (n %d)", number(*e.Value), number(*e.Lower), number(*e.Upper), e.Units)
}
