package view

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/poimen-memory/mem/harness/render/internal/layout"
	"github.com/poimen-memory/mem/harness/result/paired"
	"github.com/poimen-memory/mem/harness/stat"
)

// ComparisonTable reads like benchstat's: a difference is shown where it is significant,
// and ~ where it is not. A level that is the same in all lines is given in common instead.
func ComparisonTable(list []paired.Comparison) (t layout.Table, common []string) {
	text := func(head string, key bool, of func(paired.Comparison) string) {
		t = append(t, layout.Column{Head: head, Key: key, Right: !key, Cells: layout.Each(list, of)})
	}
	text("metric", true, func(c paired.Comparison) string { return c.Metric })
	switch levels := layout.Each(list, comparedLevel); {
	case AllEqual(levels) && list[0].Level == 0:
	case AllEqual(levels):
		common = []string{"level " + levels[0]}
	default:
		text("level", true, comparedLevel)
	}
	if slices.ContainsFunc(list, func(c paired.Comparison) bool { return c.Group != "" }) {
		text("queries of", true, func(c paired.Comparison) string { return cmp.Or(c.Group, "all") })
	}
	text("old → new", true, func(c paired.Comparison) string { return c.Baseline + " → " + c.Model })
	text("old", false, func(c paired.Comparison) string { return FormatRate(c.A) })
	text("new", false, func(c paired.Comparison) string { return FormatRate(c.B) })
	text("delta", false, delta)
	text("95 % interval", false, bounds)
	text("p", false, func(c paired.Comparison) string { return chance(c.PHolm) })
	text("finds", false, detectable)
	text("queries", false, func(c paired.Comparison) string { return strconv.Itoa(c.Queries) })
	if slices.ContainsFunc(list, func(c paired.Comparison) bool { return c.Margin != nil }) {
		text("margin", true, margin)
	}
	return t, common
}

// comparedLevel is empty where two levels are compared.
func comparedLevel(c paired.Comparison) string {
	if c.Level == 0 {
		return ""
	}
	return c.Level.String()
}

// GateLines say what a gate against regressions found, and what it could have found: a gate
// that passes with few queries says little.
func GateLines(list []paired.Comparison) (lines []string) {
	for _, c := range list {
		of := c.Metric + " of " + c.Model
		if level := comparedLevel(c); level != "" {
			of += " at " + level
		}
		if c.Group != "" {
			of += ", " + c.Group
		}
		switch {
		case c.Regressed():
			lines = append(lines, fmt.Sprintf("regressed: %s by %.3f", of, math.Abs(*c.Difference)))
		case c.Better == stat.Neither:
		case c.Difference == nil || c.Detectable == nil:
			lines = append(lines, "cannot detect any loss: "+of)
		case !c.Significant():
			lines = append(lines, fmt.Sprintf("would detect a loss of %.2f with about 80 %%: %s", *c.Detectable, of))
		}
	}
	return lines
}

func delta(c paired.Comparison) string {
	switch {
	case c.Difference == nil:
		return Undefined
	case c.P != nil && !c.Significant():
		return "~"
	}
	return fmt.Sprintf("%+.3f", *c.Difference)
}

// detectable is the difference that would be found with 80 %, where none was.
func detectable(c paired.Comparison) string {
	switch {
	case c.Detectable == nil:
		return Undefined
	case c.Significant():
		return ""
	}
	return fmt.Sprintf("±%.3f", *c.Detectable)
}

// margin says whether the new side is worse by more than the margin.
func margin(c paired.Comparison) string {
	if c.Margin == nil {
		return Undefined
	}
	return fmt.Sprintf("%s by %v", c.Margin.Verdict, c.Margin.Margin)
}

func bounds(c paired.Comparison) string {
	if c.Lower == nil || c.Upper == nil {
		return Undefined
	}
	return fmt.Sprintf("[%+.3f, %+.3f]", *c.Lower, *c.Upper)
}

func chance(p *float64) string {
	if p == nil {
		return Undefined
	}
	return fmt.Sprintf("%.3g", *p)
}

// ComparedInWords is what the metrics of comparisons are.
func ComparedInWords(list []paired.Comparison) string {
	return InWords(slices.Compact(layout.Each(list, func(c paired.Comparison) string { return c.Metric })))
}

// ComparisonLegend says how to read a table of comparisons.
const ComparisonLegend = "delta: new − old, ~ where p > 0.05; interval: of its line alone; p: the least error at which the interval excludes 0, adjusted (Holm) for all lines; finds: the difference that so many queries would show with about 80 %."

// ComparisonNotes are what a comparison must not travel without, and what did not pair.
func ComparisonNotes(list []paired.Comparison) (notes Notes) {
	for _, c := range list {
		of := strings.TrimSpace(c.Metric + " of " + c.Model + " " + comparedLevel(c))
		if c.Reason != "" {
			notes.add(Undefined+": "+c.Reason, of)
		}
		for _, n := range c.Notes {
			notes.add(n, of)
		}
	}
	return append(notes, UnpairedNotes(list)...)
}

// UnpairedNotes gathers the cells that only one side has, once for all metrics of two sides that
// they are the same for.
func UnpairedNotes(list []paired.Comparison) (notes Notes) {
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
