package view

import (
	"fmt"
	"strings"

	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/render/internal/layout"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/harness/stat/decide"
)

// Sentence is what results came to, in one line.
type Sentence struct {
	subject string
	Exit    int
	Verdict string
	parts   []string
}

func (s Sentence) String() string {
	return s.subject + ": " + s.Verdict + " — " + strings.Join(s.parts, ", ")
}

// NewSentence summarizes any number of experiments. That of one begins with its name.
func NewSentence(rs ...*result.Result) Sentence {
	s := Sentence{Exit: result.Exit(rs...)}
	s.Verdict = verdict(s.Exit)
	if len(rs) == 1 {
		s.subject = layout.Clean(Title(rs[0]))
	} else {
		s.subject = diag.Count(len(rs), "experiment")
		s.parts = notPassed(rs)
	}
	s.parts = append(s.parts, decided(rs)...)
	s.parts = append(s.parts, checked(rs)...)
	s.parts = append(s.parts, ran(rs)...)
	return s
}

// Title is an experiment's name, with a mark if none of its prompts is the paper's.
func Title(r *result.Result) string {
	if others := OtherPrompts(r); others != nil && len(others) >= len(r.Variants) {
		return r.Experiment + " (not the paper's prompt)"
	}
	return r.Experiment
}

// OtherPrompts says which prompts are sent that are not the paper's; nil: none.
func OtherPrompts(r *result.Result) (list []string) {
	for _, v := range r.Variants {
		if v.Prompt.Note != "" {
			list = append(list, "variant "+v.ID+": "+v.Prompt.Note)
		}
	}
	if r.Variants == nil && r.Prompt.Note != "" {
		return []string{r.Prompt.Note}
	}
	return list
}

// decided counts the verdicts of decisions, the worst first.
func decided(rs []*result.Result) (parts []string) {
	count, skipped := map[decide.Verdict]int{}, 0
	for _, r := range rs {
		for _, d := range r.Decisions {
			count[d.Verdict]++
			if d.Skipped != "" {
				skipped++
			}
		}
	}
	for _, v := range []decide.Verdict{decide.Invalid, decide.NoGo, decide.Inconclusive, decide.Go} {
		if n := count[v]; n > 0 {
			parts = append(parts, diag.Count(n, "decision")+" "+string(v))
		}
	}
	if skipped > 0 {
		parts = append(parts, diag.Count(skipped, "decision")+" not judged")
	}
	return parts
}

func verdict(exit int) string {
	switch exit {
	case 0:
		return "passed"
	case 2:
		return "NOT JUDGED"
	case 3:
		return "INCOMPLETE"
	case 4:
		return "UNDECIDED"
	case 130:
		return "INTERRUPTED"
	}
	return "FAILED"
}

// notPassed says which experiments did not pass, the names of the first few.
func notPassed(rs []*result.Result) []string {
	const most = 3
	var names []string
	for _, r := range rs {
		if result.Exit(r) != 0 {
			names = append(names, layout.Clean(r.Experiment))
		}
	}
	switch {
	case names == nil:
		return nil
	case len(names) > most:
		return []string{fmt.Sprintf("%d not passed (%s, …)", len(names), strings.Join(names[:most], ", "))}
	}
	return []string{fmt.Sprintf("%d not passed (%s)", len(names), strings.Join(names, ", "))}
}

func checked(rs []*result.Result) []string {
	count := func(status check.Status) (n int) {
		for _, r := range rs {
			n += r.Checked(status)
		}
		return n
	}
	passed, failed, skipped := count(check.Pass), count(check.Fail), count(check.Skip)
	var parts []string
	switch {
	case failed > 0:
		parts = append(parts, fmt.Sprintf("%d of %s failed", failed, diag.Count(passed+failed, "check")))
	case passed > 0:
		parts = append(parts, diag.Count(passed, "check")+" passed")
	default:
		parts = append(parts, "no check judged")
	}
	if skipped > 0 {
		parts = append(parts, fmt.Sprintf("%d skipped", skipped))
	}
	return parts
}

// ran says first which runs did not complete.
func ran(rs []*result.Result) []string {
	states, turns := map[record.State]int{}, 0
	for _, r := range rs {
		for _, run := range r.Runs {
			states[run.State]++
			turns += run.ChunksSeen
		}
	}
	var parts []string
	for _, state := range append(UnfinishedStates(), record.Skipped) {
		if n := states[state]; n > 0 {
			parts = append(parts, diag.Count(n, "run")+" "+string(state))
		}
	}
	switch n := states[record.Complete]; {
	case n > 0 && parts == nil:
		return []string{diag.Count(n, "run"), diag.Count(turns, "turn")}
	case n > 0:
		return append(parts, diag.Count(n, "run")+" complete", diag.Count(turns, "turn"))
	}
	return append(parts, "no run complete")
}
