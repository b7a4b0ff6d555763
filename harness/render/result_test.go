package render_test

import (
	"fmt"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/spec/yamlpos"
	"github.com/poimen-memory/mem/harness/stat"
)

// passed is the smallest experiment: one run, nothing amiss.
func passed() *harness.Result {
	memory := "Redis of staging listens on 6380."
	counts := stat.Counts{
		Runs: 1, Turns: 3, FirstTry: 3, TruePos: 1, TrueNeg: 2, ChunksUsed: 1, MemoryTokens: 9, ExitOnTime: 1,
	}
	cell := harness.Cell{
		Name: "staging/port/L1/oracle/record", Corpus: "staging", Session: "staging", Query: "port",
		Level: 1, Model: "oracle", ExitGate: spec.Record, Trial: 1,
	}
	return &harness.Result{
		Schema: harness.SchemaVersion, Experiment: "first", Spec: "experiments/first.yaml", Tokenizer: "o200k_base",
		Checks: []check.Result{
			{Check: "budget", Subject: "staging", Status: check.Pass, Detail: "headroom 24511 tokens"},
			{Check: "retain", Subject: cell.Name, Status: check.Pass, Detail: "2 retaining turns, 3 comparisons of sent bytes"},
			{Check: "log", Subject: cell.Name, Status: check.Pass, Detail: "11 events"},
			{Check: "expect", Subject: "model=oracle", Status: check.Pass, Detail: "1 runs as expected", Pos: yamlpos.Pos{File: "experiments/first.yaml", Line: 9, Col: 5}},
		},
		Gates:   []harness.GateRow{{Model: "oracle", Level: 1, ExitGate: spec.Record, Counts: counts}},
		Budgets: []check.BudgetTable{budgetTable("staging")},
		Runs: []harness.Run{{
			Cell: cell, State: harness.Complete, Counts: &counts,
			Facts: check.Facts{ChunksSeen: 3, ChunksUsed: 1, FinalMemory: &memory, MemoryTokens: 9, Calls: 3, Exits: 1, StoppedBy: "source_end"},
		}},
	}
}

func budgetTable(corpus string) check.BudgetTable {
	return check.BudgetTable{
		Corpus: corpus, Tokenizer: "o200k_base", Percentile: 95, Headroom: 24511, AtMax: 24377,
		Rows: []check.BudgetRow{
			{Component: "template", P50: 301, At: 301, P95: 301, P99: 301, Max: 301, Limit: 400},
			{Component: "problem", P50: 18, At: 31, P95: 31, P99: 33, Max: 33, Limit: 256},
			{Component: "memory", P50: 4, At: 611, P95: 611, P99: 1001, Max: 1020, Limit: 1024},
			{Component: "section", P50: 4702, At: 4851, P95: 4851, P99: 4977, Max: 4985, Limit: 5000},
			{Component: "prompt", P50: 5044, At: 5702, P95: 5702, P99: 5911, Max: 6002, Limit: 30720},
		},
	}
}

// broken is an experiment in which everything went wrong that can: failed and skipped
// checks, runs of every state, two levels, both exit settings, a long id.
func broken() *harness.Result {
	r := &harness.Result{
		Schema: harness.SchemaVersion, Experiment: "hotpotqa", About: "Do gates hold on real paragraphs?",
		Spec: "experiments/hotpotqa.yaml", Tokenizer: "o200k_base",
		Budgets:  []check.BudgetTable{budgetTable("hotpot"), budgetTable("sessions")},
		Warnings: []string{"corpus hotpot/5a8b57f25542995d1e6f1371: 2 gate tags left as text"},
	}
	for i, model := range []string{"oracle", "noisy_oracle", "always_update", "a-model-with-a-name-that-never-seems-to-end-at-all-v2"} {
		for _, level := range []spec.Level{1, 2} {
			for j, exit := range []string{spec.Record, spec.Enforce} {
				r.Gates = append(r.Gates, gateRow(model, level, exit, i+j))
			}
		}
	}
	addRuns(r)
	addChecks(r)
	return r
}

func gateRow(model string, level spec.Level, exit string, wrong int) harness.GateRow {
	row := harness.GateRow{Model: model, Level: level, ExitGate: exit, Counts: stat.Counts{
		Runs: 50, Turns: 498, FirstTry: 490 - wrong, TruePos: 120 - 7*wrong, FalseNeg: 7 * wrong,
		TrueNeg: 370 - 31*wrong, FalsePos: 31 * wrong, FailedPos: 1, FailedNeg: 7, OverBudget: wrong,
		ChunksUsed: 120 + 23*wrong, MemoryTokens: 50*417 + 12, ExitEarly: wrong, ExitOnTime: 45 - 2*wrong,
		ExitLate: 1, ExitNever: 2 + wrong, NoEvidence: 2, ExitNoEvidence: wrong % 2,
	}}
	if wrong == 4 {
		row.Excluded = 3
		row.Counts.TruePos, row.Counts.FalseNeg = 0, 0
	}
	return row
}

func addRuns(r *harness.Result) {
	states := []harness.State{harness.Failed, harness.Misconfigured, harness.Incomplete, harness.Interrupted, harness.Skipped, harness.Incomplete, harness.Skipped}
	reasons := []string{
		"section is over budget: 5204 tokens, limit 5000", `experiments/scripts/short.yaml: no entry for turn 7`,
		`POST "http://127.0.0.1:9/v1/chat/completions": connection refused`, "not begun", "1 of 2 sessions left a memory, L2 needs two",
	}
	for i := range 40 {
		run := harness.Run{Cell: harness.Cell{
			Name: fmt.Sprintf("hotpot/q%02d/L1/oracle/record", i), Corpus: "hotpot", Session: "hotpot",
			Query: fmt.Sprintf("q%02d", i), Level: 1, Model: "oracle", ExitGate: spec.Record, Trial: 1,
		}}
		if n := i % 10; n < len(states) {
			run.State, run.Reason = states[n], reasons[n%len(reasons)]
		} else {
			run.State, run.Counts = harness.Complete, &stat.Counts{Runs: 1, Turns: 10}
			run.ChunksSeen = 10
		}
		r.Runs = append(r.Runs, run)
	}
}

func addChecks(r *harness.Result) {
	at := func(line int) yamlpos.Pos { return yamlpos.Pos{File: r.Spec, Line: line, Col: 5} }
	r.Checks = []check.Result{
		{
			Check: "golden", Subject: "expected/prompt-t1.txt", Status: check.Fail, Pos: at(21),
			Detail: `the prompt differs from the file at byte 62 want "a problem, a", got "a problem; a" (1204 and 1204 bytes); if that is meant: mem golden update experiments/hotpotqa.yaml --reason "…"`,
			Diff:   "diff expected/prompt-t1.txt prompt\n--- expected/prompt-t1.txt\n+++ prompt\n@@ -1,3 +1,3 @@\n-You are presented with a problem, a section\n+You are presented with a problem; a section··\n \n",
		},
		{Check: "budget", Subject: "hotpot", Status: check.Pass},
	}
	for _, run := range r.Runs {
		retain := check.Result{Check: "retain", Subject: run.Name, Status: check.Pass, Detail: "9 retaining turns"}
		log := check.Result{Check: "log", Subject: run.Name, Status: check.Pass}
		if run.State != harness.Complete {
			retain.Status, retain.Detail = check.Skip, "the run sent no prompt"
		}
		r.Checks = append(r.Checks, retain, log)
	}
	r.Checks[14].Status = check.Fail
	r.Checks[14].Detail = `turn 4: the sent memory differs at byte 11 want " ", got its end (12 and 11 bytes)`
	r.Checks = append(r.Checks,
		check.Result{Check: "expect", Subject: "model=oracle exit_gate=enforce", Status: check.Fail, Pos: at(40), Detail: "hotpot/q07/L1/oracle/enforce: chunks_used is 3, want 2 (and 4 more)"},
		check.Result{Check: "expect", Subject: "model=lexical", Status: check.Skip, Pos: at(41), Detail: "no run that it selects has ended"},
	)
}
