package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/check"
)

// kind is all results of one check.
type kind struct {
	Check                   string
	Passed, Failed, Skipped int
	why                     tally // of skips
}

// kinds are in the order in which the checks first appear.
func kinds(results []check.Result) []*kind {
	var list []*kind
	for _, r := range results {
		i := slices.IndexFunc(list, func(k *kind) bool { return k.Check == r.Check })
		if i < 0 {
			i = len(list)
			list = append(list, &kind{Check: r.Check})
		}
		list[i].add(r)
	}
	return list
}

func (k *kind) add(r check.Result) {
	switch r.Status {
	case check.Pass:
		k.Passed++
	case check.Fail:
		k.Failed++
	default:
		k.Skipped++
		k.why.add(r.Detail, r.Subject)
	}
}

func checkTable(results []check.Result) table {
	name, why := column{head: "check", key: true}, column{head: "why skipped", prose: true}
	passed, failed, skipped := column{head: "passed", right: true}, column{head: "failed", right: true}, column{head: "skipped", right: true}
	for _, k := range kinds(results) {
		name.cells = append(name.cells, k.Check)
		passed.cells = append(passed.cells, strconv.Itoa(k.Passed))
		failed.cells = append(failed.cells, strconv.Itoa(k.Failed))
		skipped.cells = append(skipped.cells, strconv.Itoa(k.Skipped))
		why.cells = append(why.cells, k.why.String())
	}
	t := table{name, passed, failed, skipped}
	if strings.Join(why.cells, "") != "" {
		t = append(t, why)
	}
	return t
}

func failures(results []check.Result) (list []check.Result) {
	for _, r := range results {
		if r.Status == check.Fail {
			list = append(list, r)
		}
	}
	return list
}

// tally gathers subjects under what is said of them, in order of appearance.
type tally []*tallied

type tallied struct {
	said     string
	subjects []string
}

func (t *tally) add(said, subject string) {
	for _, g := range *t {
		if g.said == said {
			g.subjects = append(g.subjects, subject)
			return
		}
	}
	*t = append(*t, &tallied{said, []string{subject}})
}

// String is what is said, each with how often if more than once; of many the first few.
func (t tally) String() string {
	const most = 3
	var parts []string
	for i, g := range t {
		if i == most {
			parts = append(parts, fmt.Sprintf("%d other reasons", len(t)-most))
			break
		}
		said := g.said
		if n := len(g.subjects); n > 1 {
			said += fmt.Sprintf(" (%d)", n)
		}
		parts = append(parts, said)
	}
	return strings.Join(parts, "; ")
}

// examples are the first few subjects, and how many more there are.
func (g *tallied) examples() []string {
	const most = 3
	if len(g.subjects) <= most+1 {
		return g.subjects
	}
	return append(slices.Clone(g.subjects[:most]), fmt.Sprintf("and %d more", len(g.subjects)-most))
}

// inState gathers the runs in a state by its reason.
func inState(runs []harness.Run, state harness.State) (t tally) {
	for _, run := range runs {
		if run.State != state {
			continue
		}
		said := string(state)
		if run.Reason != "" {
			said += ": " + run.Reason
		}
		t.add(said, run.Name)
	}
	return t
}

// broken are the states of runs that should have completed and did not, worst first.
func broken() []harness.State {
	return []harness.State{harness.Interrupted, harness.Misconfigured, harness.Incomplete, harness.Failed}
}
