package check_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/spec/yamlpos"
)

// at is a value as if a spec's line 7 had it.
func at[T any](v T) yamlpos.At[T] {
	return yamlpos.At[T]{Value: v, Place: diag.Place{Pos: diag.Pos{File: "s.yaml", Line: 7, Col: 3}}}
}

// TestExpectSelects: of two runs that differ in one thing, a selector of that thing takes
// one, and the wrong count of the other is not its business.
func TestExpectSelects(t *testing.T) {
	base := check.Judged{
		Name: "base", Model: "m", Query: "q", Corpus: "c", Session: "c/s", Level: 1, ExitGate: spec.Record, Trial: 1,
		Ended: true, Facts: check.Facts{ChunksSeen: 5},
	}
	for name, test := range map[string]struct {
		change func(*check.Judged) // of the other run
		row    spec.Expect         // selects base
	}{
		"model=m":          {func(r *check.Judged) { r.Model = "n" }, spec.Expect{Model: at("m")}},
		"query=q":          {func(r *check.Judged) { r.Query = "r" }, spec.Expect{Query: at("q")}},
		"corpus=c":         {func(r *check.Judged) { r.Corpus, r.Session = "d", "d/s" }, spec.Expect{Corpus: at("c")}},
		"corpus=c/s":       {func(r *check.Judged) { r.Session = "c/t" }, spec.Expect{Corpus: at("c/s")}},
		"level=L1":         {func(r *check.Judged) { r.Level = 2 }, spec.Expect{Level: at(spec.Level(1))}},
		"exit_gate=record": {func(r *check.Judged) { r.ExitGate = spec.Enforce }, spec.Expect{ExitGate: at(spec.Record)}},
		"trial=1":          {func(r *check.Judged) { r.Trial = 2 }, spec.Expect{Trial: at(1)}},
		"model=m trial=1":  {func(r *check.Judged) { r.Trial = 2 }, spec.Expect{Model: at("m"), Trial: at(1)}},
		"all runs":         {func(r *check.Judged) { r.Ended = false }, spec.Expect{}},
	} {
		other := base
		other.Name, other.Facts.ChunksSeen = "other", 4
		test.change(&other)
		runs := []check.Judged{other, base}
		row := test.row
		row.At, row.ChunksSeen = at(0).Place, at(5)
		wantResult(t, name, check.Expect(&row, runs), check.Result{Check: "expect", Subject: name, Status: check.Pass, Detail: "1 run as expected", Pos: row.At.Pos})
		row.ChunksSeen = at(6)
		wantResult(t, name, check.Expect(&row, runs), check.Result{Check: "expect", Subject: name, Status: check.Fail, Detail: "base: chunks_seen is 5, want 6", Pos: row.At.Pos})
		wantResult(t, name, check.Expect(&row, runs[:1]), check.Result{Check: "expect", Subject: name, Status: check.Skip, Detail: "no run that it selects has ended", Pos: row.At.Pos})
	}
}

// TestExpectTellsEachMiss: of a run of which every fact is another number, each field of a
// row takes its own and no other.
func TestExpectTellsEachMiss(t *testing.T) {
	memory, score := "kept", 0.5
	run := check.Judged{Name: "run", Ended: true, SubEM: &score, Facts: check.Facts{
		ChunksSeen: 1, ChunksUsed: 2, Calls: 3, Exits: 4, BudgetExceeded: 5, ParseFailed: 6, StoppedBy: "source_end", FinalMemory: &memory,
	}}
	none := run
	none.Facts.FinalMemory, none.SubEM = nil, nil
	text := func(s string) yamlpos.At[spec.Memory] { return at(spec.Memory{Text: s}) }
	for _, test := range []struct {
		run          check.Judged
		right, wrong spec.Expect
		says         string
	}{
		{run, spec.Expect{ChunksSeen: at(1)}, spec.Expect{ChunksSeen: at(0)}, "chunks_seen is 1, want 0"},
		{run, spec.Expect{ChunksUsed: at(2)}, spec.Expect{ChunksUsed: at(0)}, "chunks_used is 2, want 0"},
		{run, spec.Expect{Calls: at(3)}, spec.Expect{Calls: at(0)}, "calls is 3, want 0"},
		{run, spec.Expect{Exits: at(4)}, spec.Expect{Exits: at(0)}, "exits is 4, want 0"},
		{run, spec.Expect{BudgetExceeded: at(5)}, spec.Expect{BudgetExceeded: at(0)}, "budget_exceeded is 5, want 0"},
		{run, spec.Expect{ParseFailed: at(6)}, spec.Expect{ParseFailed: at(0)}, "parse_failed is 6, want 0"},
		{run, spec.Expect{StoppedBy: at("source_end")}, spec.Expect{StoppedBy: at("exit_gate")}, `stopped_by is "source_end", want "exit_gate"`},
		{run, spec.Expect{FinalMemory: text("kept")}, spec.Expect{FinalMemory: text("kepT")}, `final_memory differs: at byte 3 want "T", got "t" (4 and 4 bytes)`},
		{run, spec.Expect{}, spec.Expect{FinalMemory: text("kept, and more")}, `final_memory differs: at byte 4 want ", and more", got its end (14 and 4 bytes)`},
		{run, spec.Expect{}, spec.Expect{FinalMemory: text("k")}, `final_memory differs: at byte 1 want its end, got "ept" (1 and 4 bytes)`},
		{none, spec.Expect{}, spec.Expect{FinalMemory: text("0123456789012345678901234")}, `final_memory is none, want "012345678901234567890123"`},
		{none, spec.Expect{FinalMemory: at(spec.Memory{None: true})}, spec.Expect{FinalMemory: text("kept")}, `final_memory is none, want "kept"`},
		{run, spec.Expect{}, spec.Expect{FinalMemory: at(spec.Memory{None: true})}, `final_memory is "kept", want none`},
		{run, spec.Expect{SubEM: at(0.5)}, spec.Expect{SubEM: at(0.4)}, "sub_em is 0.5, want 0.4"},
		{run, spec.Expect{SubEM: at(0.5 + 1e-12)}, spec.Expect{SubEM: at(0.5 + 1e-6)}, "sub_em is 0.5, want 0.500001"},
		{none, spec.Expect{}, spec.Expect{SubEM: at(0.0)}, "sub_em is undefined, want 0: the query has no answers"},
		{run, spec.Expect{ChunksSeen: at(1), Calls: at(3)}, spec.Expect{ChunksSeen: at(0), Calls: at(0), SubEM: at(1.0)}, "chunks_seen is 1, want 0 (and 2 more)"},
	} {
		two := []check.Judged{test.run, test.run}
		wantResult(t, test.says, check.Expect(&test.right, two), check.Result{Check: "expect", Subject: "all runs", Status: check.Pass, Detail: "2 runs as expected"})
		wantResult(t, test.says, check.Expect(&test.wrong, two[:1]), check.Result{Check: "expect", Subject: "all runs", Status: check.Fail, Detail: "run: " + test.says})
	}
}

func wantResult(t *testing.T, name string, got, want check.Result) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %+v\nwant %+v", name, got, want)
	}
}

// TestTokenizerDrift: the overhead of a chat template is no drift, and drift is none of it.
func TestTokenizerDrift(t *testing.T) {
	counts := func(server func(ours int) int, ours ...int) (list []check.Count) {
		for _, n := range ours {
			list = append(list, check.Count{Ours: n, Server: server(n)})
		}
		return list
	}
	of := func(overhead, percent int) func(int) int {
		return func(ours int) int { return ours + ours*percent/100 + overhead }
	}
	for name, test := range map[string]struct {
		counts []check.Count
		want   check.Drift
		status check.Status
		says   string
	}{
		"none":            {nil, check.Drift{}, check.Skip, "the server reports no prompt_tokens"},
		"overhead alone":  {counts(of(7, 0), 100, 200, 300), check.Drift{Prompts: 3, Overhead: 7}, check.Pass, "words under-counts 0.0 % at p95, 0.0 % at most (3 prompts, 7 tokens of chat template taken off)"},
		"drift alone":     {counts(of(0, 10), 100, 200, 300), check.Drift{Prompts: 3, P50: 0.1, P95: 0.1, Max: 0.1}, check.Fail, "words under-counts 10.0 % at p95, 10.0 % at most (3 prompts, 0 tokens of chat template taken off): want at most 5.0 % at p95, or the tokenizer of the model"},
		"as allowed":      {counts(of(0, 5), 100, 200, 300), check.Drift{Prompts: 3, P50: 0.05, P95: 0.05, Max: 0.05}, check.Pass, "under-counts 5.0 %"},
		"both":            {counts(of(7, 10), 100, 200, 300), check.Drift{Prompts: 3, Overhead: 7, P50: 0.1, P95: 0.1, Max: 0.1}, check.Fail, "under-counts 10.0 %"},
		"we count more":   {counts(of(0, -10), 100, 200, 300), check.Drift{Prompts: 3, P50: -0.1, P95: -0.1, Max: -0.1}, check.Pass, "under-counts -10.0 %"},
		"less than none":  {counts(of(-20, 0), 100, 200), check.Drift{Prompts: 2, P50: -0.2, P95: -0.1, Max: -0.1}, check.Pass, ""},
		"bounded":         {counts(of(84, 0), 100, 200), check.Drift{Prompts: 2, Overhead: 64, P50: 0.1, P95: 0.2, Max: 0.2}, check.Fail, ""},
		"one size":        {counts(of(7, 0), 100, 100), check.Drift{Prompts: 2, P50: 0.07, P95: 0.07, Max: 0.07}, check.Fail, ""},
		"rounded":         {[]check.Count{{Ours: 100, Server: 107}, {Ours: 200, Server: 207}, {Ours: 300, Server: 306}}, check.Drift{Prompts: 3, Overhead: 8, P50: -2.0 / 300, P95: -0.005, Max: -0.005}, check.Pass, ""}, // 7.67
		"percentiles":     {slices.Concat(counts(of(0, 0), many(99, 1000)...), counts(of(0, 1), many(91, 1000)...), counts(of(0, 20), many(10, 1000)...)), check.Drift{Prompts: 200, P50: 0.01, P95: 0.01, Max: 0.2}, check.Pass, "words under-counts 1.0 % at p95, 20.0 % at most"},
		"an empty prompt": {counts(of(1, 0), 0), check.Drift{Prompts: 1, P50: 1, P95: 1, Max: 1}, check.Fail, ""},
	} {
		test.want.Model, test.want.Tokenizer = "m", "words"
		d := check.MeasureDrift("m", "words", test.counts)
		if d != test.want {
			t.Errorf("%s: drift\n got %+v\nwant %+v", name, d, test.want)
		}
		where := at(0).Pos
		r := check.Tokenizer(d, 0.05, where)
		if r.Check != "tokenizer" || r.Subject != "m" || r.Status != test.status || !strings.Contains(r.Detail, test.says) || r.Pos != where {
			t.Errorf("%s: %+v, want %s about %q", name, r, test.status, test.says)
		}
	}
}
