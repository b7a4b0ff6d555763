package render

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/forecast"
	"github.com/poimen-memory/mem/harness/render/internal/layout"
	"github.com/poimen-memory/mem/harness/render/internal/view"
)

// Plan shows an experiment's runs without running them, and what counted. Their names are never
// cut, for they are there to be copied. There may be a million: they are written as they come.
func Plan(w io.Writer, as Terminal, experiment, tokenizer string, runs iter.Seq[forecast.Planned]) error {
	p := screen{Terminal: as}
	sum, most := forecast.Sum(runs), ""
	if sum.Bound {
		most = "at most "
	}
	p.heading(fmt.Sprintf("%s: %s, %s%s, at most %s, counted with %s", experiment, diag.Count(sum.Runs, "run"), most, diag.Count(sum.Calls, "call"), diag.Count(sum.Prompt, "prompt token"), tokenizer))
	if err := p.flush(w); err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	planLines(runs, out)
	return out.Flush()
}

// planLines writes a table of runs. Its errors are out's.
func planLines(runs iter.Seq[forecast.Planned], out *bufio.Writer) {
	heads := []string{"calls", "prompt tokens", "run"}
	cells := func(r forecast.Planned) [3]string {
		return [3]string{atMost(r.Estimate), strconv.Itoa(r.Prompt), layout.Clean(r.Name)}
	}
	var widths [3]int
	for i, head := range heads {
		widths[i] = layout.Width(head)
	}
	for r := range runs {
		for i, cell := range cells(r) {
			widths[i] = max(widths[i], layout.Width(cell))
		}
	}
	line := func(calls, tokens, run string) {
		for i, cell := range [2]string{calls, tokens} {
			for range widths[i] - layout.Width(cell) {
				out.WriteByte(' ')
			}
			out.WriteString(cell)
			out.WriteString("  ")
		}
		out.WriteString(run)
		out.WriteByte('\n')
	}
	rule := func(i int) string { return strings.Repeat("─", widths[i]) }
	line(heads[0], heads[1], heads[2])
	line(rule(0), rule(1), rule(2))
	for r := range runs {
		c := cells(r)
		line(c[0], c[1], c[2])
	}
}

// Totals shows what runs would take by model, and all together, under a title.
func Totals(w io.Writer, as Terminal, title string, list iter.Seq[forecast.Planned]) error {
	p := screen{Terminal: as}
	rows := totals{}
	for _, t := range forecast.ByModel(list) {
		rows.add(t.Model, t.Estimate)
	}
	sum := forecast.Sum(list)
	rows.add("total", sum)
	p.heading(title)
	p.table(rows.table(sum.Unpriced < sum.Runs))
	p.paragraph("  ", "calls: one a chunk; ≤: at most, for an enforced exit gate stops early, and an L1 run may leave L2 nothing to read.")
	p.paragraph("  ", "prompt tokens: at most, with a full memory from the second turn on. completion tokens: at most, every reply as long as the budget's response.")
	p.paragraph("  ", fmt.Sprintf("A reply that does not parse is asked for again with the same prompt, at most twice: in the worst case all this %d times.", forecast.Retries))
	if 0 < sum.Unpriced && sum.Unpriced < sum.Runs {
		p.paragraph("  ", "cost: without "+diag.Count(sum.Unpriced, "run")+" of models that have no price in their spec.")
	}
	return p.flush(w)
}

// totals are the rows of a table of estimates.
type totals struct{ name, runs, calls, prompt, completion, cost layout.Column }

func (t *totals) add(name string, e forecast.Estimate) {
	t.name.Cells = append(t.name.Cells, name)
	t.runs.Cells = append(t.runs.Cells, strconv.Itoa(e.Runs))
	t.calls.Cells = append(t.calls.Cells, atMost(e))
	t.prompt.Cells = append(t.prompt.Cells, strconv.Itoa(e.Prompt))
	t.completion.Cells = append(t.completion.Cells, strconv.Itoa(e.Completion))
	cost := view.Undefined
	if e.Unpriced < e.Runs {
		cost = fmt.Sprintf("%.4f", e.USD)
	}
	t.cost.Cells = append(t.cost.Cells, cost)
}

func (t *totals) table(priced bool) layout.Table {
	head := func(c layout.Column, head string) layout.Column {
		c.Head, c.Right = head, true
		return c
	}
	t.name.Head, t.name.Key = "model", true
	all := layout.Table{t.name, head(t.runs, "runs"), head(t.calls, "calls"), head(t.prompt, "prompt tokens"), head(t.completion, "completion tokens")}
	if priced {
		all = append(all, head(t.cost, "cost, USD"))
	}
	return all
}

func atMost(e forecast.Estimate) string {
	if e.Bound {
		return "≤" + strconv.Itoa(e.Calls)
	}
	return strconv.Itoa(e.Calls)
}
