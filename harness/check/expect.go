package check

import (
	"fmt"
	"math"
	"strings"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/spec/yamlpos"
)

// Facts is what a run came to, as its log and journal tell it.
type Facts struct {
	ChunksSeen     int     `json:"chunks_seen"`
	ChunksUsed     int     `json:"chunks_used"`
	FinalMemory    *string `json:"final_memory"` // nil: none
	MemoryTokens   int     `json:"final_memory_tokens"`
	Calls          int     `json:"calls"`
	Exits          int     `json:"exits"` // gate events that said end
	BudgetExceeded int     `json:"budget_exceeded"`
	ParseFailed    int     `json:"parse_failed"`
	StoppedBy      string  `json:"stopped_by,omitempty"`
}

// Judged is a run that an expectation may select.
type Judged struct {
	Name, Model, Query, Corpus, Session string
	Level                               spec.Level
	ExitGate                            string
	Trial                               int
	Ended                               bool
	Facts                               Facts
	SubEM                               *float64 // of the answer; nil: there is nothing to score it by
}

// Expect holds every run that a row of the spec selects against it. A row that selects
// no run that ended is a skip.
func Expect(e *spec.Expect, runs []Judged) Result {
	r := expect(e, runs)
	r.Pos = e.At.Pos
	return r
}

func expect(e *spec.Expect, runs []Judged) Result {
	var wrong []string
	judged := 0
	for _, run := range runs {
		if !run.Ended || !selects(e, run) {
			continue
		}
		judged++
		for _, miss := range append(misses(e, run.Facts), subEMMiss(e.SubEM, run.SubEM)...) {
			wrong = append(wrong, run.Name+": "+miss)
		}
	}
	subject := selector(e)
	switch {
	case judged == 0:
		return Skipped("expect", subject, "no run that it selects has ended")
	case len(wrong) == 1:
		return fail("expect", subject, "%s", wrong[0])
	case len(wrong) > 1:
		return fail("expect", subject, "%s (and %d more)", wrong[0], len(wrong)-1)
	}
	return pass("expect", subject, "%s as expected", diag.Count(judged, "run"))
}

func selects(e *spec.Expect, run Judged) bool {
	named := func(want, got string) bool { return want == "" || want == got }
	model, variant := spec.SplitModel(run.Model)
	return (named(e.Model.Value, run.Model) || named(e.Model.Value, model)) && named(e.Variant.Value, variant) && named(e.Query.Value, run.Query) &&
		(named(e.Corpus.Value, run.Corpus) || named(e.Corpus.Value, run.Session)) &&
		named(e.ExitGate.Value, run.ExitGate) &&
		(!e.Level.Present() || e.Level.Value == run.Level) &&
		(!e.Trial.Present() || e.Trial.Value == run.Trial)
}

// selector names a row by what it selects.
func selector(e *spec.Expect) string {
	var parts []string
	add := func(name, value string, given bool) {
		if given {
			parts = append(parts, name+"="+value)
		}
	}
	add("model", e.Model.Value, e.Model.Present())
	add("variant", e.Variant.Value, e.Variant.Present())
	add("query", e.Query.Value, e.Query.Present())
	add("corpus", e.Corpus.Value, e.Corpus.Present())
	add("level", e.Level.Value.String(), e.Level.Present())
	add("exit_gate", e.ExitGate.Value, e.ExitGate.Present())
	add("trial", fmt.Sprint(e.Trial.Value), e.Trial.Present())
	if parts == nil {
		return "all runs"
	}
	return strings.Join(parts, " ")
}

func misses(e *spec.Expect, f Facts) (wrong []string) {
	number := func(name string, present bool, want, got int) {
		if present && want != got {
			wrong = append(wrong, fmt.Sprintf("%s is %d, want %d", name, got, want))
		}
	}
	number("chunks_seen", e.ChunksSeen.Present(), e.ChunksSeen.Value, f.ChunksSeen)
	number("chunks_used", e.ChunksUsed.Present(), e.ChunksUsed.Value, f.ChunksUsed)
	number("calls", e.Calls.Present(), e.Calls.Value, f.Calls)
	number("exits", e.Exits.Present(), e.Exits.Value, f.Exits)
	number("budget_exceeded", e.BudgetExceeded.Present(), e.BudgetExceeded.Value, f.BudgetExceeded)
	number("parse_failed", e.ParseFailed.Present(), e.ParseFailed.Value, f.ParseFailed)
	if e.StoppedBy.Present() && e.StoppedBy.Value != f.StoppedBy {
		wrong = append(wrong, fmt.Sprintf("stopped_by is %q, want %q", f.StoppedBy, e.StoppedBy.Value))
	}
	if e.FinalMemory.Present() {
		wrong = append(wrong, memoryMiss(e.FinalMemory.Value, f.FinalMemory)...)
	}
	return wrong
}

func subEMMiss(want yamlpos.At[float64], got *float64) []string {
	const near = 1e-9 // of a share of several references
	switch {
	case !want.Present():
		return nil
	case got == nil:
		return []string{fmt.Sprintf("sub_em is undefined, want %g: the query has no answers", want.Value)}
	case math.Abs(*got-want.Value) > near:
		return []string{fmt.Sprintf("sub_em is %g, want %g", *got, want.Value)}
	}
	return nil
}

func memoryMiss(want spec.Memory, got *string) []string {
	switch {
	case want.None && got == nil:
		return nil
	case want.None:
		return []string{fmt.Sprintf("final_memory is %s, want none", around(*got, 0))}
	case got == nil:
		return []string{fmt.Sprintf("final_memory is none, want %s", around(want.Text, 0))}
	case want.Text != *got:
		return []string{"final_memory differs: " + firstDifference(want.Text, *got)}
	}
	return nil
}
