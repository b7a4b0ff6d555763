package render

import (
	"fmt"
	"io"
	"strconv"

	"github.com/poimen-memory/mem/harness"
)

// Plan shows an experiment's runs without running them, and what counted. Their names are never cut, for
// they are there to be copied.
func (t Terminal) Plan(w io.Writer, experiment, tokenizer string, plan []harness.Planned) error {
	p := page{Terminal: t}
	calls, tokens, run := column{head: "calls", right: true}, column{head: "prompt tokens", right: true}, column{head: "run"}
	for _, r := range plan {
		calls.cells = append(calls.cells, atMost(r.Estimate))
		tokens.cells = append(tokens.cells, strconv.Itoa(r.Prompt))
		run.cells = append(run.cells, r.Name)
	}
	sum, most := harness.Sum(plan), ""
	if sum.Bound {
		most = "at most "
	}
	p.heading(fmt.Sprintf("%s: %s, %s%s, at most %s, counted with %s", experiment, plural(sum.Runs, "run"), most, plural(sum.Calls, "call"), plural(sum.Prompt, "prompt token"), tokenizer))
	p.Width = 0
	p.table(table{calls, tokens, run})
	return p.flush(w)
}

// Totals shows what runs would take by model, and all together, under a title.
func (t Terminal) Totals(w io.Writer, title string, plan []harness.Planned) error {
	p := page{Terminal: t}
	rows := totals{}
	for _, t := range harness.ByModel(plan) {
		rows.add(t.Model, t.Estimate)
	}
	sum := harness.Sum(plan)
	rows.add("total", sum)
	p.heading(title)
	p.table(rows.table(sum.Unpriced < sum.Runs))
	p.paragraph("  ", "calls: one a chunk; ≤: at most, for an enforced exit gate stops early, and an L1 run may leave L2 nothing to read.")
	p.paragraph("  ", "prompt tokens: at most, with a full memory from the second turn on. completion tokens: at most, every reply as long as the budget's response.")
	p.paragraph("  ", fmt.Sprintf("A reply that does not parse is asked for again with the same prompt, at most twice: in the worst case all this %d times.", harness.Retries))
	if 0 < sum.Unpriced && sum.Unpriced < sum.Runs {
		p.paragraph("  ", "cost: without "+plural(sum.Unpriced, "run")+" of models that have no price in their spec.")
	}
	return p.flush(w)
}

// totals are the rows of a table of estimates.
type totals struct{ name, runs, calls, prompt, completion, cost column }

func (t *totals) add(name string, e harness.Estimate) {
	t.name.cells = append(t.name.cells, name)
	t.runs.cells = append(t.runs.cells, strconv.Itoa(e.Runs))
	t.calls.cells = append(t.calls.cells, atMost(e))
	t.prompt.cells = append(t.prompt.cells, strconv.Itoa(e.Prompt))
	t.completion.cells = append(t.completion.cells, strconv.Itoa(e.Completion))
	cost := undefined
	if e.Unpriced < e.Runs {
		cost = fmt.Sprintf("%.4f", e.USD)
	}
	t.cost.cells = append(t.cost.cells, cost)
}

func (t *totals) table(priced bool) table {
	head := func(c column, head string) column {
		c.head, c.right = head, true
		return c
	}
	t.name.head, t.name.key = "model", true
	all := table{t.name, head(t.runs, "runs"), head(t.calls, "calls"), head(t.prompt, "prompt tokens"), head(t.completion, "completion tokens")}
	if priced {
		all = append(all, head(t.cost, "cost, USD"))
	}
	return all
}

func atMost(e harness.Estimate) string {
	if e.Bound {
		return "≤" + strconv.Itoa(e.Calls)
	}
	return strconv.Itoa(e.Calls)
}
