package render

import (
	"fmt"
	"strings"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/stat"
)

// sentence is what results came to, in one line.
type sentence struct {
	of      string
	exit    int
	verdict string
	parts   []string
}

func (s sentence) String() string {
	return s.of + ": " + s.verdict + " — " + strings.Join(s.parts, ", ")
}

// total is the sentence over any number of experiments; of one it is that one's own.
func total(rs ...*harness.Result) sentence {
	s := sentence{exit: harness.Exit(rs...)}
	s.verdict = verdict(s.exit)
	if len(rs) == 1 {
		s.of = clean(titled(rs[0]))
	} else {
		s.of = plural(len(rs), "experiment")
		s.parts = notPassed(rs)
	}
	s.parts = append(s.parts, decided(rs)...)
	s.parts = append(s.parts, checked(rs)...)
	s.parts = append(s.parts, ran(rs)...)
	return s
}

// titled is an experiment's name, with a mark if its prompt is not the paper's.
func titled(r *harness.Result) string {
	if r.Prompt.Note != "" {
		return r.Experiment + " (not the paper's prompt)"
	}
	return r.Experiment
}

// decided counts the verdicts of decisions, the worst first.
func decided(rs []*harness.Result) (parts []string) {
	count := map[stat.Verdict]int{}
	for _, r := range rs {
		for _, d := range r.Decisions {
			count[d.Verdict]++
		}
	}
	for _, v := range []stat.Verdict{stat.Invalid, stat.NoGo, stat.Inconclusive, stat.Go} {
		if n := count[v]; n > 0 {
			parts = append(parts, plural(n, "decision")+" "+string(v))
		}
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
func notPassed(rs []*harness.Result) []string {
	const most = 3
	var names []string
	for _, r := range rs {
		if harness.Exit(r) != 0 {
			names = append(names, clean(r.Experiment))
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

func checked(rs []*harness.Result) []string {
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
		parts = append(parts, fmt.Sprintf("%d of %s failed", failed, plural(passed+failed, "check")))
	case passed > 0:
		parts = append(parts, plural(passed, "check")+" passed")
	default:
		parts = append(parts, "no check judged")
	}
	if skipped > 0 {
		parts = append(parts, fmt.Sprintf("%d skipped", skipped))
	}
	return parts
}

// ran says first which runs did not complete.
func ran(rs []*harness.Result) []string {
	states, turns := map[harness.State]int{}, 0
	for _, r := range rs {
		for _, run := range r.Runs {
			states[run.State]++
			turns += run.ChunksSeen
		}
	}
	var parts []string
	for _, state := range append(broken(), harness.Skipped) {
		if n := states[state]; n > 0 {
			parts = append(parts, plural(n, "run")+" "+string(state))
		}
	}
	switch n := states[harness.Complete]; {
	case n > 0 && parts == nil:
		return []string{plural(n, "run"), plural(turns, "turn")}
	case n > 0:
		return append(parts, plural(n, "run")+" complete", plural(turns, "turn"))
	}
	return append(parts, "no run complete")
}
