package render

import (
	"fmt"
	"strconv"

	"github.com/poimen-memory/mem/harness"
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
	add("calls\na run", func(r harness.LengthRow) string { return perRun(r.Calls, r.Counts.Runs) })
	add("memory\ntokens", func(r harness.LengthRow) string { return meanMemory(r.Counts) })
	return t, common
}

func perRun(n, runs int) string {
	if runs == 0 {
		return undefined
	}
	return fmt.Sprintf("%.1f", float64(n)/float64(runs))
}

// depthTable shows, by length and depth, how much of the evidence was written: the heat
// map of needles as numbers.
func depthTable(rows []harness.LengthRow) table {
	t, _ := lengthKeys(rows)
	for i, d := range rows[0].Depths {
		t = append(t, column{head: fmt.Sprintf("%d–%d %%", d.From, d.To), right: true, cells: each(rows, func(r harness.LengthRow) string {
			if r.Depths[i].Evidence == 0 {
				return undefined
			}
			return fmt.Sprintf("%d/%d", r.Depths[i].Written, r.Depths[i].Evidence)
		})})
	}
	return t
}
