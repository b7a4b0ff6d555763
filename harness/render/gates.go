package render

import (
	"fmt"
	"math"
	"strconv"

	"github.com/poimen-memory/mem/harness"
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

const undefined = "–"

func balanced(c stat.Counts) string {
	if rate, ok := c.BalancedAccuracy(); ok {
		return fmt.Sprintf("%.2f", rate)
	}
	return undefined
}

func meanMemory(c stat.Counts) string {
	if c.Runs == 0 {
		return undefined
	}
	return strconv.Itoa(int(math.Round(float64(c.MemoryTokens) / float64(c.Runs))))
}

// legend says what the short headings mean.
func legend() []string {
	return []string{
		"turns: all, parsed at the first try, and failed: no reply parsed (neither ✓ nor ✗).",
		"evidence, other: update gate right ✓ and wrong ✗ on chunks with evidence and without.",
		"bal. acc: balanced accuracy of the update gate, the mean of both rates of ✓.",
		"exit gate: runs whose first `end` came before, on or after the last evidence chunk, or never.",
		"memory: chunks used, updates refused as over budget, mean final size in tokens.",
	}
}

// gateNotes are what a gate table leaves out, with the rows that each is about.
func gateNotes(rows []harness.GateRow) (notes tally) {
	for _, row := range rows {
		name := row.Model + " " + setting(row)
		if row.Excluded > 0 {
			notes.add(plural(row.Excluded, "run")+" not complete, in no count", name)
		}
		if h := row.Hard; h.Turns > 0 {
			notes.add(fmt.Sprintf("hard negatives, chunks that speak of another key: yes ✗ on %d of %d", h.Yes, h.Turns), name)
		}
		if c := row.Counts; c.NoEvidence > 0 {
			notes.add(fmt.Sprintf("%s without evidence, in no exit count (the gate opened in %d)", plural(c.NoEvidence, "run"), c.ExitNoEvidence), name)
		}
	}
	return notes
}

func model(r harness.GateRow) string   { return r.Model }
func level(r harness.GateRow) string   { return r.Level.String() }
func exit(r harness.GateRow) string    { return r.ExitGate }
func setting(r harness.GateRow) string { return level(r) + " " + exit(r) }

// gateTable has a row for each model, level and exit setting.
func gateTable(rows []harness.GateRow) (t table, common []string) {
	t, common = gateKeys(rows)
	return append(t, gateGroups(rows)...), common
}

// gateKeys says what each row is of. A level or exit setting that is the same in all rows
// is given in common instead.
func gateKeys(rows []harness.GateRow) (t table, common []string) {
	key := func(head string, of func(harness.GateRow) string) {
		t = append(t, column{head: head, key: true, cells: each(rows, of)})
	}
	key("model", model)
	oneLevel, oneExit := same(each(rows, level)), same(each(rows, exit))
	if oneLevel {
		common = append(common, "level "+level(rows[0]))
	}
	if oneExit {
		common = append(common, "exit gate: "+exit(rows[0]))
	}
	switch {
	case !oneLevel && !oneExit:
		key("level exit", setting)
	case !oneLevel:
		key("level", level)
	case !oneExit:
		key("exit", exit)
	}
	return t, common
}

func gateGroups(rows []harness.GateRow) (t table) {
	var columns []column
	all := measures()
	for i, m := range all {
		columns = append(columns, column{head: m.short, cells: each(rows, m.of)})
		if i+1 == len(all) || all[i+1].group != m.group {
			t, columns = append(t, group(m.group, columns...)), nil
		}
	}
	return t
}

func (m measure) of(r harness.GateRow) string { return m.value(r.Counts) }

func each[T any](list []T, of func(T) string) []string {
	texts := make([]string, len(list))
	for i, e := range list {
		texts[i] = of(e)
	}
	return texts
}

func same(texts []string) bool {
	for _, t := range texts {
		if t != texts[0] {
			return false
		}
	}
	return true
}
