package render_test

import (
	"fmt"

	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/render/internal/rendertest"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/stat"
)

// broken is an experiment in which everything went wrong that can: failed and skipped
// checks, runs of every state, two levels, both exit settings, a long id.
func broken() *result.Result {
	r := &result.Result{
		Schema: result.SchemaVersion, Experiment: "hotpotqa", About: "Do gates hold on real paragraphs?",
		Spec: "experiments/hotpotqa.yaml", Tokenizer: "o200k_base",
		Budgets:  []check.BudgetTable{rendertest.BudgetTable("hotpot"), rendertest.BudgetTable("sessions")},
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

func gateRow(model string, level spec.Level, exit string, wrong int) result.GateRow {
	row := result.GateRow{Model: model, Level: level, ExitGate: exit, Counts: stat.Counts{
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

func addRuns(r *result.Result) {
	states := []record.State{record.Failed, record.Misconfigured, record.Incomplete, record.Interrupted, record.Skipped, record.Incomplete, record.Skipped}
	reasons := []string{
		"section is over budget: 5204 tokens, limit 5000", `experiments/scripts/short.yaml: no entry for turn 7`,
		`POST "http://127.0.0.1:9/v1/chat/completions": connection refused`, "not begun", "1 of 2 sessions left a memory, L2 needs two",
	}
	for i := range 40 {
		run := result.Run{Cell: plan.Cell{
			Name: fmt.Sprintf("hotpot/q%02d/L1/oracle/record", i), Corpus: "hotpot", Session: "hotpot",
			Query: fmt.Sprintf("q%02d", i), Level: 1, Model: "oracle", ExitGate: spec.Record, Trial: 1,
		}}
		if n := i % 10; n < len(states) {
			run.State, run.Reason = states[n], reasons[n%len(reasons)]
		} else {
			run.State, run.Counts = record.Complete, &stat.Counts{Runs: 1, Turns: 10}
			run.ChunksSeen = 10
		}
		r.Runs = append(r.Runs, run)
	}
}

func addChecks(r *result.Result) {
	at := func(line int) diag.Pos { return diag.Pos{File: r.Spec, Line: line, Col: 5} }
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
		if run.State != record.Complete {
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
