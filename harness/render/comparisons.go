package render

import (
	"fmt"
	"strconv"

	"github.com/poimen-memory/mem/harness"
)

// comparisonTable reads like benchstat's: a difference is shown where it is significant,
// and ~ where it is not. A level that is the same in all lines is given in common instead.
func comparisonTable(list []harness.Comparison) (t table, common []string) {
	text := func(head string, key bool, of func(harness.Comparison) string) {
		t = append(t, column{head: head, key: key, right: !key, cells: each(list, of)})
	}
	level := func(c harness.Comparison) string { return c.Level.String() }
	text("metric", true, func(c harness.Comparison) string { return c.Metric })
	if same(each(list, level)) {
		common = []string{"level " + level(list[0])}
	} else {
		text("level", true, level)
	}
	text("old → new", true, func(c harness.Comparison) string { return c.Baseline + " → " + c.Model })
	text("old", false, func(c harness.Comparison) string { return figure(c.A) })
	text("new", false, func(c harness.Comparison) string { return figure(c.B) })
	text("delta", false, delta)
	text("95 % interval", false, bounds)
	text("p", false, func(c harness.Comparison) string { return chance(c.PHolm) })
	text("queries", false, func(c harness.Comparison) string { return strconv.Itoa(c.Units) })
	return t, common
}

func delta(c harness.Comparison) string {
	switch {
	case c.Difference == nil:
		return undefined
	case !c.Significant():
		return "~"
	}
	return fmt.Sprintf("%+.3f", *c.Difference)
}

func bounds(c harness.Comparison) string {
	if c.Lower == nil || c.Upper == nil {
		return undefined
	}
	return fmt.Sprintf("[%+.3f, %+.3f]", *c.Lower, *c.Upper)
}

func chance(p *float64) string {
	if p == nil {
		return undefined
	}
	return fmt.Sprintf("%.3g", *p)
}

// comparisonLegend says how to read a table of comparisons.
const comparisonLegend = "delta: mean over queries of new − old, ~ where p > 0.05; p: sign-flip test over queries, adjusted (Holm) for all lines; interval: of its line alone."

// comparisonNotes are what a comparison must not travel without, and what did not pair.
func comparisonNotes(list []harness.Comparison) (notes tally) {
	for _, c := range list {
		of := c.Metric + " of " + c.Model + " " + c.Level.String()
		if c.Reason != "" {
			notes.add(undefined+": "+c.Reason, of)
		}
		for _, n := range c.Notes {
			notes.add(n, of)
		}
	}
	return append(notes, drops(list)...)
}

// drops gathers the cells that only one side has, once for all metrics of two sides that
// they are the same for.
func drops(list []harness.Comparison) (notes tally) {
	seen := map[string]bool{}
	for _, c := range list {
		for _, d := range c.Drops {
			cell := fmt.Sprintf("%s/%s/%s/t%d", d.Corpus, d.Query, d.Level, d.Trial)
			if len(d.Turns) > 0 {
				cell += fmt.Sprintf(" %s turns %v", c.Metric, d.Turns)
			}
			said := fmt.Sprintf("%s → %s: not paired, %s", c.Baseline, c.Model, d.Why)
			if key := said + "\n" + cell; !seen[key] {
				seen[key] = true
				notes.add(said, cell)
			}
		}
	}
	return notes
}
