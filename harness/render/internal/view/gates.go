package view

import (
	"fmt"
	"math"
	"strconv"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/render/internal/layout"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/harness/stat"
)

// measure is one number of a GateRow: its heading short, below its group's, and in full.
type measure struct {
	group, short, full string
	value              func(stat.Counts) string
}

// measures are all that a gate table shows, in its order.
func measures() []measure {
	count := func(get func(stat.Counts) int) func(stat.Counts) string {
		return func(c stat.Counts) string { return strconv.Itoa(get(c)) }
	}
	return []measure{
		{"turns", "all", "turns", count(func(c stat.Counts) int { return c.Turns })},
		{"turns", "1st", "parsed at first try", count(func(c stat.Counts) int { return c.FirstTry })},
		{"turns", "fail", "parse failed", count(stat.Counts.ParseFailed)},
		{"evidence", "✓", "evidence: yes ✓", count(func(c stat.Counts) int { return c.TruePos })},
		{"evidence", "✗", "evidence: no ✗", count(func(c stat.Counts) int { return c.FalseNeg })},
		{"other", "✓", "other: no ✓", count(func(c stat.Counts) int { return c.TrueNeg })},
		{"other", "✗", "other: yes ✗", count(func(c stat.Counts) int { return c.FalsePos })},
		{"bal.", "acc", "balanced accuracy", balanced},
		{"exit gate", "early", "exit early", count(func(c stat.Counts) int { return c.ExitEarly })},
		{"exit gate", "on", "exit on time", count(func(c stat.Counts) int { return c.ExitOnTime })},
		{"exit gate", "late", "exit late", count(func(c stat.Counts) int { return c.ExitLate })},
		{"exit gate", "never", "exit never", count(func(c stat.Counts) int { return c.ExitNever })},
		{"memory", "used", "chunks used", count(func(c stat.Counts) int { return c.ChunksUsed })},
		{"memory", "over", "over budget", count(func(c stat.Counts) int { return c.OverBudget })},
		{"memory", "size", "mean final memory, tokens", meanMemory},
	}
}

const Undefined = "–"

func balanced(c stat.Counts) string {
	if rate, ok := c.BalancedAccuracy(); ok {
		return fmt.Sprintf("%.2f", rate)
	}
	return Undefined
}

func meanMemory(c stat.Counts) string {
	if c.Runs == 0 {
		return Undefined
	}
	return strconv.Itoa(int(math.Round(float64(c.MemoryTokens) / float64(c.Runs))))
}

// GateLegend says what the short headings mean.
func GateLegend() []string {
	return []string{
		"turns: all, parsed at the first try, and failed: no reply parsed (neither ✓ nor ✗).",
		"evidence, other: update gate right ✓ and wrong ✗ on chunks with evidence and without.",
		"bal. acc: balanced accuracy of the update gate, the mean of both rates of ✓.",
		"exit gate: runs whose first `end` came before, on or after the last evidence chunk, or never.",
		"memory: chunks used, updates refused as over budget, mean final size in tokens.",
	}
}

// GateNotes are what a gate table leaves out, with the rows that each is about.
func GateNotes(rows []result.GateRow) (notes Notes) {
	for _, row := range rows {
		name := row.Model + " " + Setting(row)
		if row.Excluded > 0 {
			notes.add(diag.Count(row.Excluded, "run")+" not complete, in no count", name)
		}
		if h := row.Hard; h.Turns > 0 {
			notes.add(fmt.Sprintf("hard negatives, chunks that speak of another key: yes ✗ on %d of %d", h.Yes, h.Turns), name)
		}
		if c := row.Counts; c.NoEvidence > 0 {
			notes.add(fmt.Sprintf("%s without evidence, in no exit count (the gate opened in %d)", diag.Count(c.NoEvidence, "run"), c.ExitNoEvidence), name)
		}
	}
	return notes
}

func model(r result.GateRow) string    { return r.Model }
func level(r result.GateRow) string    { return r.Level.String() }
func exitGate(r result.GateRow) string { return r.ExitGate }
func Setting(r result.GateRow) string  { return level(r) + " " + exitGate(r) }

// GateTable has a row for each model, level and exit setting.
func GateTable(rows []result.GateRow) (t layout.Table, common []string) {
	t, common = gateKeys(rows)
	return append(t, gateGroups(rows)...), common
}

// gateKeys says what each row is of. A level or exit setting that is the same in all rows
// is given in common instead.
func gateKeys(rows []result.GateRow) (t layout.Table, common []string) {
	key := func(head string, of func(result.GateRow) string) {
		t = append(t, layout.Column{Head: head, Key: true, Cells: layout.Each(rows, of)})
	}
	key("model", model)
	oneLevel, oneExit := AllEqual(layout.Each(rows, level)), AllEqual(layout.Each(rows, exitGate))
	if oneLevel {
		common = append(common, "level "+level(rows[0]))
	}
	if oneExit {
		common = append(common, "exit gate: "+exitGate(rows[0]))
	}
	switch {
	case !oneLevel && !oneExit:
		key("level exit", Setting)
	case !oneLevel:
		key("level", level)
	case !oneExit:
		key("exit", exitGate)
	}
	return t, common
}

func gateGroups(rows []result.GateRow) (t layout.Table) {
	var columns []layout.Column
	all := measures()
	for i, m := range all {
		columns = append(columns, layout.Column{Head: m.short, Cells: layout.Each(rows, m.of)})
		if i+1 == len(all) || all[i+1].group != m.group {
			t, columns = append(t, layout.Group(m.group, columns...)), nil
		}
	}
	return t
}

func (m measure) of(r result.GateRow) string { return m.value(r.Counts) }

func AllEqual(texts []string) bool {
	for _, t := range texts {
		if t != texts[0] {
			return false
		}
	}
	return true
}

// FullGateTable is GateTable with headings that need no legend.
func FullGateTable(rows []result.GateRow) layout.Table {
	t := layout.Table{
		{Head: "model", Cells: layout.Each(rows, model)}, {Head: "level", Cells: layout.Each(rows, level)}, {Head: "exit gate", Cells: layout.Each(rows, exitGate)},
		{Head: "runs", Right: true, Cells: layout.Each(rows, func(r result.GateRow) string { return strconv.Itoa(r.Counts.Runs) })},
		{Head: "not ended", Right: true, Cells: layout.Each(rows, func(r result.GateRow) string { return strconv.Itoa(r.Excluded) })},
	}
	for _, m := range measures() {
		t = append(t, layout.Column{Head: m.full, Right: true, Cells: layout.Each(rows, m.of)})
	}
	return t
}
