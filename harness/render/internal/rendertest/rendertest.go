// Package rendertest holds the results that the tests of several formats show.
package rendertest

import (
	"github.com/poimen-memory/mem/gate"
	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/harness/stat/confidence"
)

// Passed is the smallest experiment: one run, nothing amiss.
func Passed() *result.Result {
	memory := "Redis of staging listens on 6380."
	counts := stat.Counts{
		Runs: 1, Turns: 3, FirstTry: 3, TruePos: 1, TrueNeg: 2, ChunksUsed: 1, MemoryTokens: 9, ExitOnTime: 1,
	}
	cell := plan.Cell{
		Name: "staging/port/L1/oracle/record", Corpus: "staging", Session: "staging", Query: "port",
		Level: 1, Model: "oracle", ExitGate: spec.Record, Trial: 1,
	}
	return &result.Result{
		Schema: result.SchemaVersion, Experiment: "first", Spec: "experiments/first.yaml", Tokenizer: "o200k_base",
		Checks: []check.Result{
			{Check: "budget", Subject: "staging", Status: check.Pass, Detail: "headroom 24511 tokens"},
			{Check: "retain", Subject: cell.Name, Status: check.Pass, Detail: "2 retaining turns, 3 comparisons of sent bytes"},
			{Check: "log", Subject: cell.Name, Status: check.Pass, Detail: "11 events"},
			{Check: "expect", Subject: "model=oracle", Status: check.Pass, Detail: "1 runs as expected", Pos: diag.Pos{File: "experiments/first.yaml", Line: 9, Col: 5}},
		},
		Gates:   []result.GateRow{{Model: "oracle", Level: 1, ExitGate: spec.Record, Counts: counts}},
		Budgets: []check.BudgetTable{BudgetTable("staging")},
		Runs: []result.Run{{
			Cell: cell, State: record.Complete, Counts: &counts,
			Facts: check.Facts{ChunksSeen: 3, ChunksUsed: 1, FinalMemory: &memory, MemoryTokens: 9, Calls: 3, Exits: 1, StoppedBy: "source_end"},
		}},
	}
}

func BudgetTable(corpus string) check.BudgetTable {
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

// Metric is an estimate of a metric; bounds are two numbers or none.
func Metric(metric string, units int, value float64, bounds ...float64) stat.Metric {
	m := stat.Metric{Name: metric, Estimate: stat.Estimate{Value: &value, Queries: units, Sessions: units, X: value * 8, N: 8}}
	if len(bounds) == 2 {
		m.Lower, m.Upper = &bounds[0], &bounds[1]
	}
	return m
}

func UndefinedMetric(metric, reason string) stat.Metric {
	return stat.Metric{Name: metric, Estimate: stat.Estimate{Reason: reason}}
}

// WithLengths is two lengths and two depths of a model, every number another.
func WithLengths(model, corpus string) *result.Result {
	row := func(length, calls int, metrics []stat.Metric, depths ...result.DepthRow) result.LengthRow {
		return result.LengthRow{Corpus: corpus, Length: length, Calls: calls, Depths: depths,
			GateRow: result.GateRow{Model: model, Level: 1, ExitGate: "record", Metrics: metrics, Counts: stat.Counts{Runs: 2}}}
	}
	depth := func(from, to, evidence, written int, metrics ...stat.Metric) result.DepthRow {
		return result.DepthRow{From: from, To: to, Evidence: evidence, Written: written, Metrics: metrics}
	}
	none := UndefinedMetric("recall_committed", "no sample")
	r := &result.Result{Schema: result.SchemaVersion, Experiment: "x", ByLength: []result.LengthRow{
		row(8192, 5, []stat.Metric{Metric("recall_committed", 12, 0.75, 0.41, 0.93), Metric("final_memory", 2, 15, 3, 27), Metric("calls", 2, 2.5)},
			depth(0, 50, 4, 3, Metric("recall_committed", 2, 0.625, 0.11, 0.97), Metric("final_memory", 2, 100), Metric("calls", 2, 2.5)),
			depth(50, 100, 0, 0, none, UndefinedMetric("final_memory", "no sample"), UndefinedMetric("calls", "no sample"))),
		row(32768, 0, []stat.Metric{Metric("recall_committed", 3, 0.25, 0.02, 0.64), UndefinedMetric("final_memory", "no complete runs"), UndefinedMetric("calls", "no complete runs")},
			depth(0, 50, 0, 0, Metric("recall_committed", 1, 0.125)),
			depth(50, 100, 9, 1, Metric("recall_committed", 7, 0, 0, 0.31))),
	}}
	r.Budget.Memory = 1024
	return r
}

// Answered is an experiment whose every count of answers is another number.
func Answered() *result.Result {
	half, low, high := 0.5, 0.25, 0.75
	r := Passed()
	r.Answers = []result.AnswerRow{{
		Model: "oracle", Level: 1, ExitGate: "record", Runs: 17, NoAnswer: 2, Unreferenced: []string{"why", "when"},
		Metrics: []stat.Metric{
			{Name: "sub_em", Estimate: stat.Estimate{Value: &half, Lower: &low, Upper: &high, Queries: 12, N: 15, X: 7.5}},
			{Name: "answer_em", Estimate: stat.Estimate{Value: &low, Queries: 12, N: 15}},
			{Name: "answer_f1", Estimate: stat.Estimate{Reason: "no answers"}},
		},
		Gates: stat.AnswerTable{Both: 5, GatesOnly: 4, AnswerOnly: 3, Neither: 1, NoEvidence: 6},
	}}
	r.Runs[0].Answer = &result.Answer{Failures: []gate.Kind{gate.Length, gate.BlankAnswer}, References: []string{"6380"}}
	return r
}

// Tagged is a model on two kinds of question; the tag's text is of others.
func Tagged() *result.Result {
	row := func(value string, metrics ...stat.Metric) result.TagRow {
		return result.TagRow{Tag: "kind <b>\x1b[31m", Value: value, Model: "oracle", Level: 1, ExitGate: spec.Record, Metrics: metrics}
	}
	r := Passed()
	r.ByTag = []result.TagRow{
		row("multi-hop", Metric("recall_committed", 12, 0.75, 0.41, 0.93), UndefinedMetric("exit_useful", "no runs with evidence")),
		row("<i>single|hop</i>", Metric("recall_committed", 3, 0.25, 0.02, 0.64), Metric("exit_useful", 2, 0.5, 0.01, 0.99)),
		{Tag: "language", Value: "en", Model: "oracle", Level: 1, ExitGate: spec.Record, Metrics: []stat.Metric{Metric("recall_committed", 15, 0.625, 0.5, 0.75)}},
	}
	return r
}

// Sure is a model that was asked how sure it was of its gates; not: one that was not.
func Sure(asked bool) *result.Result {
	r := Passed()
	p := func(v float64) *float64 { return &v }
	if asked {
		r.Gates[0].Confidence = confidence.Of([]confidence.Turn{
			{Yes: p(0.1), End: p(0.2)}, {Yes: p(0.9), End: p(0.7), Evidence: true, Due: true}, {Yes: p(0.4), End: p(0.8), Due: true},
			{Yes: p(0.3), End: p(0.1), Evidence: true}, {Yes: p(0.2), End: p(0.3)}, {Missing: "the server sent no log probabilities"},
		})
	}
	return r
}
