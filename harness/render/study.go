package render

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/explain"
	"github.com/poimen-memory/mem/harness/forecast"
	"github.com/poimen-memory/mem/harness/render/internal/layout"
	"github.com/poimen-memory/mem/harness/render/internal/view"
	"github.com/poimen-memory/mem/harness/result/paired"
	"github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/harness/stat/glossary"
	"github.com/poimen-memory/mem/harness/stat/power"
)

// Explanation shows what is behind a metric: its formula, and for each model its counts by
// query, the levels side by side.
func Explanation(w io.Writer, as Terminal, e explain.Explanation) error {
	p := screen{Terminal: as}
	p.heading(e.Name + " = " + e.Formula)
	if entry, ok := glossary.Find(e.Name); ok {
		p.paragraph("  ", entry.Label+": "+entry.Meaning)
	}
	if e.Better != stat.Neither {
		p.paragraph("  ", string(e.Better)+" is better")
	}
	if e.Interval != "" {
		p.paragraph("  ", "interval: "+e.Interval)
	}
	for _, part := range e.Parts {
		p.section(part.Model + ", exit gate: " + part.Exit)
		p.table(explanationTable(part))
		for i, whole := range part.Whole {
			for _, n := range view.EstimateNotes(whole) {
				p.paragraph("! ", part.Levels[i]+": "+n)
			}
		}
		if part.Levels[len(part.Levels)-1] == "L2" {
			p.paragraph("! ", view.PropagatedLabels)
		}
		traced(&p, e, part.Turns)
	}
	return p.flush(w)
}

// mostTraced is how many turns of a part are listed, unless all is wanted.
const mostTraced = 20

// traced lists the turns that count against a metric, with the command that shows each; if
// verbose, all that count.
func traced(p *screen, e explain.Explanation, turns []explain.Turn) {
	listed := slices.DeleteFunc(slices.Clone(turns), func(t explain.Turn) bool { return !t.Against && p.Detail != Verbose })
	if len(turns) == 0 {
		return
	}
	against := " count against it"
	if e.Better == stat.Neither {
		against = " count"
	}
	against = fmt.Sprintf("%d of %s", countAgainst(turns), diag.Count(len(turns), e.Counted)) + against
	p.line("")
	p.paragraph("  ", against+map[bool]string{true: ":", false: ""}[len(listed) > 0])
	dir := "DIR"
	if p.Folder != "" {
		dir = ShellWord(filepath.ToSlash(p.Folder))
	}
	for i, t := range listed {
		if i == mostTraced && p.Detail != Verbose {
			p.paragraph("  ", diag.Count(len(listed)-i, "more "+e.Counted)+" with -v")
			return
		}
		command := "mem show " + dir + " " + ShellWord(t.Run)
		if t.Number > 0 {
			command += " --turn " + strconv.Itoa(t.Number)
		}
		mark := map[bool]string{true: p.red("✗"), false: p.green("✓")}[t.Against]
		if e.Better == stat.Neither {
			mark = "·"
		}
		p.item(mark, t.Query+": "+t.Said, []string{command})
	}
}

func countAgainst(turns []explain.Turn) (n int) {
	for _, t := range turns {
		if t.Against {
			n++
		}
	}
	return n
}

// explanationTable has the whole on its first line, then the queries.
func explanationTable(part explain.Part) layout.Table {
	query := layout.Column{Head: "query", Key: true, Cells: []string{fmt.Sprintf("all %d", len(part.Queries))}}
	for _, q := range part.Queries {
		query.Cells = append(query.Cells, q.Query)
	}
	t := layout.Table{query}
	for i, level := range part.Levels {
		rate := layout.Column{Head: level, Right: true, Cells: []string{view.FormatInterval(part.Whole[i])}}
		counts := layout.Column{Head: "counts", Right: true, Cells: []string{view.FormatCounts(part.Whole[i])}}
		for _, q := range part.Queries {
			of := stat.Estimate{}
			if q.Levels[i] != nil {
				of = *q.Levels[i]
			}
			rate.Cells, counts.Cells = append(rate.Cells, view.FormatRate(of.Value)), append(counts.Cells, view.FormatCounts(of))
		}
		t = append(t, rate, counts)
	}
	return t
}

// Comparisons shows a table of comparisons; notes are in what else the sides differ.
func Comparisons(w io.Writer, as Terminal, list []paired.Comparison, notes []string) error {
	p := screen{Terminal: as}
	for _, note := range notes {
		p.paragraph("! ", note)
	}
	p.comparisons(list)
	return p.flush(w)
}

// Gate shows what a gate against regressions found, and what it could have found.
func Gate(w io.Writer, as Terminal, list []paired.Comparison, regressed bool) error {
	p := screen{Terminal: as}
	p.line("")
	p.heading("Gate against regressions: " + map[bool]string{true: "FAILED", false: "passed"}[regressed])
	for _, line := range view.GateLines(list) {
		p.paragraph("  ", line)
	}
	return p.flush(w)
}

// Rankings shows metrics of several sides, and what did not pair.
func Rankings(w io.Writer, as Terminal, list []paired.Ranking, pairs []paired.Comparison, notes []string) error {
	p := screen{Terminal: as}
	for _, note := range notes {
		p.paragraph("! ", note)
	}
	for _, r := range list {
		p.section(view.InWords([]string{r.Metric}))
		p.table(rankingTable(r))
	}
	p.paragraph("  ", "*: better than each of the others, p ≤ 0.05 of the paired intervals, adjusted (Holm) for all pairs.")
	p.notes(view.UnpairedNotes(pairs))
	return p.flush(w)
}

func rankingTable(r paired.Ranking) layout.Table {
	t := layout.Table{{Head: "model", Key: true, Cells: layout.Each(r.Rows, func(row paired.RankingRow) string { return row.Name })}}
	for i, level := range r.Levels {
		t = append(t,
			layout.Column{Head: level.String(), Right: true, Cells: layout.Each(r.Rows, func(row paired.RankingRow) string {
				if row.Levels[i].Best {
					return view.FormatInterval(row.Levels[i].Estimate) + " *"
				}
				return view.FormatInterval(row.Levels[i].Estimate) + "  "
			})},
			layout.Column{Head: "queries", Right: true, Cells: layout.Each(r.Rows, func(row paired.RankingRow) string { return strconv.Itoa(row.Levels[i].Queries) })},
		)
	}
	return t
}

// Outlook shows what it would take to decide, and the power curve.
func Outlook(w io.Writer, as Terminal, experiment string, o forecast.Outlook) error {
	p := screen{Terminal: as}
	p.heading(fmt.Sprintf("%s: what it takes to decide with a chance of %g %%", experiment, 100*o.Chance))
	p.table(assumptionTable(o.Assume))
	p.line("")
	p.table(outlookTable(o))
	p.paragraph("  ", fmt.Sprintf("the spec has %s; calls and tokens are of one model at one level, at most, without retries; counted with %s.", diag.Count(o.Queries, "query"), o.Tokenizer))
	p.section(fmt.Sprintf("Power with %s of each query", diag.Count(o.Trials, "trial")))
	for _, at := range o.Curve {
		p.line(powerBar(at))
	}
	p.paragraph("  ", "█ GO   ▒ NO-GO   · undecided")
	return p.flush(w)
}

func assumptionTable(list []power.Assumption) layout.Table {
	text := func(head string, of func(power.Assumption) string) layout.Column {
		return layout.Column{Head: head, Right: true, Cells: layout.Each(list, of)}
	}
	decimal := func(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }
	return layout.Table{
		{Head: "criterion", Key: true, Cells: layout.Each(list, func(a power.Assumption) string { return a.Metric })},
		text("want", func(a power.Assumption) string { return "≥ " + decimal(a.Threshold) }),
		text("assumed rate", func(a power.Assumption) string { return decimal(a.Rate) }),
		text("correlation", func(a power.Assumption) string { return decimal(a.ICC) }),
		text("a query counts", func(a power.Assumption) string { return strconv.Itoa(a.PerTrial) }),
	}
}

func outlookTable(o forecast.Outlook) layout.Table {
	text := func(head string, of func(forecast.OutlookRow) string) layout.Column {
		return layout.Column{Head: head, Right: true, Cells: layout.Each(o.Rows, of)}
	}
	percent := func(v float64) string { return fmt.Sprintf("%.0f %%", 100*v) }
	t := layout.Table{
		{Head: "trials", Key: true, Cells: layout.Each(o.Rows, func(r forecast.OutlookRow) string { return strconv.Itoa(r.Trials) })},
		text("queries", func(r forecast.OutlookRow) string {
			if !r.Decided {
				return "> " + strconv.Itoa(o.Most)
			}
			return strconv.Itoa(r.Power.Queries)
		}),
		text("GO", func(r forecast.OutlookRow) string { return percent(r.Power.Go) }),
		text("NO-GO", func(r forecast.OutlookRow) string { return percent(r.Power.NoGo) }),
		text("calls", func(r forecast.OutlookRow) string { return strconv.Itoa(r.Cost.Calls) }),
		text("prompt tokens", func(r forecast.OutlookRow) string { return strconv.Itoa(r.Cost.Prompt) }),
		text("reply tokens", func(r forecast.OutlookRow) string { return strconv.Itoa(r.Cost.Completion) }),
	}
	if len(o.Rows) > 0 && o.Rows[0].Cost.Unpriced == 0 {
		t = append(t, text("USD", func(r forecast.OutlookRow) string { return fmt.Sprintf("%.2f", r.Cost.USD) }))
	}
	return t
}

// powerBar draws the power with one number of queries.
func powerBar(at power.Power) string {
	const width = 50
	yes := int(at.Go*width + 0.5)
	no := min(int(at.NoGo*width+0.5), width-yes)
	return fmt.Sprintf("%7d  %s%s%s %3.0f %%", at.Queries,
		strings.Repeat("█", yes), strings.Repeat("▒", no), strings.Repeat("·", width-yes-no), 100*at.Decided())
}
