package render

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/stat"
)

// Explanation shows what is behind a metric: its formula, and for each model its counts by
// query, the levels side by side.
func (t Terminal) Explanation(w io.Writer, e harness.Explanation) error {
	p := page{Terminal: t}
	p.heading(e.Name + " = " + e.Formula)
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
			for _, n := range append(reasons(whole), whole.Notes...) {
				p.paragraph("! ", part.Levels[i]+": "+n)
			}
		}
		if part.Levels[len(part.Levels)-1] == "L2" {
			p.paragraph("! ", propagated)
		}
	}
	return p.flush(w)
}

// explanationTable has the whole on its first line, then the queries.
func explanationTable(part harness.Explained) table {
	query := column{head: "query", key: true, cells: []string{fmt.Sprintf("all %d", len(part.Queries))}}
	for _, q := range part.Queries {
		query.cells = append(query.cells, q.Query)
	}
	t := table{query}
	for i, level := range part.Levels {
		rate := column{head: level, right: true, cells: []string{interval(part.Whole[i])}}
		counts := column{head: "counts", right: true, cells: []string{share(part.Whole[i])}}
		for _, q := range part.Queries {
			of := stat.Estimate{}
			if q.Levels[i] != nil {
				of = *q.Levels[i]
			}
			rate.cells, counts.cells = append(rate.cells, figure(of.Value)), append(counts.cells, share(of))
		}
		t = append(t, rate, counts)
	}
	return t
}

// Comparisons shows a table of comparisons; forced are the reasons for which they should
// not have been made.
func (t Terminal) Comparisons(w io.Writer, list []harness.Comparison, forced []string) error {
	p := page{Terminal: t}
	for _, f := range forced {
		p.paragraph("! ", "forced: "+f)
	}
	p.comparisons(list)
	return p.flush(w)
}

// Rankings shows metrics of several sides, and what did not pair.
func (t Terminal) Rankings(w io.Writer, list []harness.Ranking, pairs []harness.Comparison, forced []string) error {
	p := page{Terminal: t}
	for _, f := range forced {
		p.paragraph("! ", "forced: "+f)
	}
	for _, r := range list {
		p.section(r.Metric)
		p.table(rankingTable(r))
	}
	p.paragraph("  ", "*: better than each of the others, sign-flip test over queries, p ≤ 0.05 adjusted (Holm) for all pairs.")
	p.notes(drops(pairs))
	return p.flush(w)
}

func rankingTable(r harness.Ranking) table {
	t := table{{head: "model", key: true, cells: each(r.Rows, func(row harness.RankingRow) string { return row.Name })}}
	for i, level := range r.Levels {
		t = append(t,
			column{head: level.String(), right: true, cells: each(r.Rows, func(row harness.RankingRow) string {
				if row.Levels[i].Best {
					return interval(row.Levels[i].Estimate) + " *"
				}
				return interval(row.Levels[i].Estimate) + "  "
			})},
			column{head: "queries", right: true, cells: each(r.Rows, func(row harness.RankingRow) string { return strconv.Itoa(row.Levels[i].Units) })},
		)
	}
	return t
}

// Outlook shows what it would take to decide, and the power curve.
func (t Terminal) Outlook(w io.Writer, experiment string, o harness.Outlook) error {
	p := page{Terminal: t}
	p.heading(fmt.Sprintf("%s: what it takes to decide with a chance of %g %%", experiment, 100*o.Chance))
	p.table(assumptionTable(o.Assume))
	p.line("")
	p.table(outlookTable(o))
	p.paragraph("  ", fmt.Sprintf("the spec has %s; calls and tokens are of one model at one level, at most, without retries; counted with %s.", queries(o.Queries), o.Tokenizer))
	p.section(fmt.Sprintf("Power with %s of each query", plural(o.Trials, "trial")))
	p.curve(o.Curve)
	p.paragraph("  ", "█ GO   ▒ NO-GO   · undecided")
	return p.flush(w)
}

func queries(n int) string {
	if n == 1 {
		return "1 query"
	}
	return fmt.Sprintf("%d queries", n)
}

func assumptionTable(list []stat.Assumption) table {
	text := func(head string, of func(stat.Assumption) string) column {
		return column{head: head, right: true, cells: each(list, of)}
	}
	decimal := func(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }
	return table{
		{head: "criterion", key: true, cells: each(list, func(a stat.Assumption) string { return a.Metric })},
		text("want", func(a stat.Assumption) string { return "≥ " + decimal(a.Threshold) }),
		text("assumed rate", func(a stat.Assumption) string { return decimal(a.Rate) }),
		text("correlation", func(a stat.Assumption) string { return decimal(a.ICC) }),
		text("a query counts", func(a stat.Assumption) string { return strconv.Itoa(a.PerTrial) }),
	}
}

func outlookTable(o harness.Outlook) table {
	text := func(head string, of func(harness.OutlookRow) string) column {
		return column{head: head, right: true, cells: each(o.Rows, of)}
	}
	percent := func(v float64) string { return fmt.Sprintf("%.0f %%", 100*v) }
	t := table{
		{head: "trials", key: true, cells: each(o.Rows, func(r harness.OutlookRow) string { return strconv.Itoa(r.Trials) })},
		text("queries", func(r harness.OutlookRow) string {
			if !r.Decided {
				return "> " + strconv.Itoa(o.Most)
			}
			return strconv.Itoa(r.Power.Queries)
		}),
		text("GO", func(r harness.OutlookRow) string { return percent(r.Power.Go) }),
		text("NO-GO", func(r harness.OutlookRow) string { return percent(r.Power.NoGo) }),
		text("calls", func(r harness.OutlookRow) string { return strconv.Itoa(r.Cost.Calls) }),
		text("prompt tokens", func(r harness.OutlookRow) string { return strconv.Itoa(r.Cost.Prompt) }),
		text("reply tokens", func(r harness.OutlookRow) string { return strconv.Itoa(r.Cost.Completion) }),
	}
	if len(o.Rows) > 0 && o.Rows[0].Cost.Unpriced == 0 {
		t = append(t, text("USD", func(r harness.OutlookRow) string { return fmt.Sprintf("%.2f", r.Cost.USD) }))
	}
	return t
}

// curve draws each number of queries as a bar.
func (p *page) curve(curve []stat.Power) {
	const bar = 50
	for _, at := range curve {
		yes := int(at.Go*bar + 0.5)
		no := min(int(at.NoGo*bar+0.5), bar-yes)
		p.line(fmt.Sprintf("%7s  %s%s%s %3.0f %%", strconv.Itoa(at.Queries),
			strings.Repeat("█", yes), strings.Repeat("▒", no), strings.Repeat("·", bar-yes-no), 100*at.Decided()))
	}
}
