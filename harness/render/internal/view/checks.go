package view

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/render/internal/layout"
	"github.com/poimen-memory/mem/harness/result"
)

// CheckCount counts the results of one check.
type CheckCount struct {
	Check                   string
	Passed, Failed, Skipped int
	skipReasons             Notes
}

// CountChecks counts results by check, in the order in which the checks first appear.
func CountChecks(results []check.Result) []*CheckCount {
	var list []*CheckCount
	for _, r := range results {
		i := slices.IndexFunc(list, func(k *CheckCount) bool { return k.Check == r.Check })
		if i < 0 {
			i = len(list)
			list = append(list, &CheckCount{Check: r.Check})
		}
		list[i].add(r)
	}
	return list
}

func (k *CheckCount) add(r check.Result) {
	switch r.Status {
	case check.Pass:
		k.Passed++
	case check.Fail:
		k.Failed++
	default:
		k.Skipped++
		k.skipReasons.add(r.Detail, r.Subject)
	}
}

func CheckTable(results []check.Result) layout.Table {
	name, why := layout.Column{Head: "check", Key: true}, layout.Column{Head: "why skipped", Prose: true}
	passed, failed, skipped := layout.Column{Head: "passed", Right: true}, layout.Column{Head: "failed", Right: true}, layout.Column{Head: "skipped", Right: true}
	for _, k := range CountChecks(results) {
		name.Cells = append(name.Cells, k.Check)
		passed.Cells = append(passed.Cells, strconv.Itoa(k.Passed))
		failed.Cells = append(failed.Cells, strconv.Itoa(k.Failed))
		skipped.Cells = append(skipped.Cells, strconv.Itoa(k.Skipped))
		why.Cells = append(why.Cells, k.skipReasons.String())
	}
	t := layout.Table{name, passed, failed, skipped}
	if strings.Join(why.Cells, "") != "" {
		t = append(t, why)
	}
	return t
}

func Failures(results []check.Result) (list []check.Result) {
	for _, r := range results {
		if r.Status == check.Fail {
			list = append(list, r)
		}
	}
	return list
}

// Notes gathers subjects under what is said of them, in order of appearance.
type Notes []*Note

type Note struct {
	Text     string
	Subjects []string
}

func (t *Notes) add(said, subject string) {
	for _, g := range *t {
		if g.Text == said {
			g.Subjects = append(g.Subjects, subject)
			return
		}
	}
	*t = append(*t, &Note{said, []string{subject}})
}

// String is what is said, each with how often if more than once; of many the first few.
func (t Notes) String() string {
	const most = 3
	var parts []string
	for i, g := range t {
		if i == most {
			parts = append(parts, fmt.Sprintf("%d other reasons", len(t)-most))
			break
		}
		said := g.Text
		if n := len(g.Subjects); n > 1 {
			said += fmt.Sprintf(" (%d)", n)
		}
		parts = append(parts, said)
	}
	return strings.Join(parts, "; ")
}

// Examples are the first few subjects, and how many more there are.
func (g *Note) Examples() []string {
	const most = 3
	if len(g.Subjects) <= most+1 {
		return g.Subjects
	}
	return append(slices.Clone(g.Subjects[:most]), fmt.Sprintf("and %d more", len(g.Subjects)-most))
}

// RunsByReason gathers the runs in a state by its reason.
func RunsByReason(runs []result.Run, state record.State) (t Notes) {
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

// UnfinishedStates are the states of runs that should have completed and did not, worst first.
func UnfinishedStates() []record.State {
	return []record.State{record.Interrupted, record.Misconfigured, record.Incomplete, record.Failed}
}
