package harness_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/prompt"
)

// TestMemoriesHaveABudgetToo: what L2 reads is no corpus, and is held to the same limits.
func TestMemoriesHaveABudgetToo(t *testing.T) {
	r := evaluated(t, "agent-session")
	tables := map[string]check.BudgetTable{}
	for _, table := range r.Budgets {
		tables[table.Corpus] = table
	}
	table, ok := tables["L1 memories"]
	if !ok {
		t.Fatalf("tables are of %v, want one of the L1 memories", slices.Collect(maps.Keys(tables)))
	}
	most := 0
	for _, run := range r.Runs {
		if run.Level == 1 && run.ExitGate == spec.Record {
			most = max(most, run.MemoryTokens)
		}
	}
	for _, row := range table.Rows {
		switch row.Component {
		case prompt.Section: // a memory with its role before it
			if row.Max <= most || row.Max > most+10 {
				t.Errorf("the largest section has %d tokens, the largest L1 memory %d", row.Max, most)
			}
		default:
			if row.Max == 0 {
				t.Errorf("%s is empty", row.Component)
			}
		}
	}
	if !slices.ContainsFunc(r.Checks, func(c check.Result) bool {
		return c.Check == "budget" && c.Subject == "L1 memories" && c.Status == check.Pass
	}) {
		t.Error("no check of it")
	}
}
