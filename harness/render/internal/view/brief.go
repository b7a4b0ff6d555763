package view

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/render/internal/layout"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/harness/stat/decide"
	"github.com/poimen-memory/mem/harness/stat/glossary"
)

// Mark is the sign of a verdict, which colour only repeats.
func Mark(v decide.Verdict) string {
	switch v {
	case decide.Go:
		return "✓"
	case decide.NoGo, decide.Invalid:
		return "✗"
	}
	return "?"
}

// DecisionTitle is a decision in one line: the verdict with its scope, and what it is about.
func DecisionTitle(d result.Decision) string {
	verdict := d.String()
	if d.Skipped != "" {
		verdict = "not judged"
	}
	return fmt.Sprintf("%-8s  %s  %s · %s", verdict, d.ID, d.Model, d.Level)
}

// DecisionSample says how many questions a decision rests on; empty if nothing was decided.
func DecisionSample(d result.Decision) string {
	var queries, sessions int
	for _, j := range d.Criteria {
		queries, sessions = max(queries, j.Estimate.Queries), max(sessions, j.Estimate.Sessions)
	}
	if queries == 0 {
		return ""
	}
	return diag.Count(queries, "question") + " on " + diag.Count(sessions, "session")
}

// Claim is a criterion of a decision in words.
type Claim struct {
	Verdict decide.Verdict
	Label   string // what the metric means, and the group that it is judged in
	Rate    string // "32 %"
	Bounds  string // "(20–50)"
	Needs   string // "needs 85 %"
	More    string // "about 94 more questions", of an undecided one
}

// Claims are the criteria of a decision, the worst verdict first.
func Claims(d result.Decision) (list []Claim) {
	judged := slices.Clone(d.Criteria)
	rank := []decide.Verdict{decide.NoGo, decide.Inconclusive, decide.Go}
	slices.SortStableFunc(judged, func(a, b decide.Judgment) int {
		return slices.Index(rank, a.Verdict) - slices.Index(rank, b.Verdict)
	})
	for _, j := range judged {
		list = append(list, newClaim(j))
	}
	return list
}

func newClaim(j decide.Judgment) Claim {
	c := Claim{Verdict: j.Verdict, Label: glossary.Label(j.Metric), Rate: inPercent(j.Estimate.Value, j.Claimed, " %"), Needs: "needs " + inPercent(&j.Claimed, j.Claimed, " %")}
	if j.Group != "" {
		c.Label += ", " + j.By + " " + j.Group
	}
	if j.Lower != nil && j.Upper != nil {
		c.Bounds = "(" + inPercent(j.Lower, j.Claimed, "") + "–" + inPercent(j.Upper, j.Claimed, "") + ")"
	}
	if f := j.Further; f != nil && f.IfRateHolds != nil {
		unit := "more question"
		if f.Unit == stat.BySession {
			unit = "more session"
		}
		c.More = "about " + diag.Count(*f.IfRateHolds, unit)
	}
	return c
}

// inPercent is a share in percent with as many decimals, up to 3, as tell it from the threshold:
// what misses 85 % by a little is not shown as 85.
func inPercent(v *float64, threshold float64, unit string) string {
	if v == nil {
		return Undefined
	}
	decimals := 0
	for ; decimals < 3; decimals++ {
		scale := math.Pow10(decimals + 2)
		if *v == threshold && math.Abs(math.Round(*v*scale)-*v*scale) < 1e-6 || *v != threshold && math.Round(*v*scale) != math.Round(threshold*scale) {
			break
		}
	}
	return strconv.FormatFloat(100**v, 'f', decimals, 64) + unit
}

// WorstRun is the run to look at first; ok is false if nothing is wrong with any.
func WorstRun(runs []result.Run) (worst result.Run, ok bool) {
	bad := 0
	for _, r := range runs {
		if r.State != record.Skipped && r.Badness() > bad {
			worst, bad = r, r.Badness()
		}
	}
	return worst, bad > 0
}

// ShortName is the shortest head of a run's name, up to a slash, that is in no other run's name.
func ShortName(runs []result.Run, name string) string {
	parts := strings.Split(name, "/")
	for n := 1; n < len(parts); n++ {
		head := strings.Join(parts[:n], "/")
		if !slices.ContainsFunc(runs, func(r result.Run) bool {
			return r.Name != name && strings.Contains("/"+r.Name+"/", "/"+head+"/")
		}) {
			return head
		}
	}
	return name
}

// BriefNotes are what a verdict must not be shown without: why, where criteria do not say it, what it
// does not hold for, missing turns, the weakest group, and how many wrong labels it bears.
func BriefNotes(d result.Decision) (notes []string) {
	bounded := func(j decide.Judgment) bool { return j.Lower != nil && j.Upper != nil }
	if d.Verdict == decide.Invalid || !slices.ContainsFunc(d.Criteria, bounded) {
		notes = append(notes, d.Reason)
	}
	for _, n := range d.Notes {
		if n != d.Reason || len(notes) == 0 {
			notes = append(notes, n)
		}
	}
	if d.Labels != nil {
		notes = append(notes, d.Labels.String())
	}
	if weakest := weakestGroups(d); weakest != "" {
		notes = append(notes, weakest)
	}
	return notes
}

// BriefTable has a row for each gate row of which a run is complete, at most that many, with the
// shipped metrics; rows is how many there are.
func BriefTable(r *result.Result, most int) (t layout.Table, rows int, common []string) {
	list := slices.DeleteFunc(slices.Clone(r.Gates), func(g result.GateRow) bool { return g.Counts.Runs == 0 || len(g.Metrics) == 0 })
	rows = len(list)
	if rows == 0 {
		return nil, 0, nil
	}
	list = list[:min(rows, most)]
	t, common = gateKeys(list)
	for _, name := range plan.DecisionMetrics() {
		t = append(t, layout.Column{Head: twoLines(glossary.Label(name)), Right: true, Cells: layout.Each(list, func(g result.GateRow) string {
			e, _ := g.Metric(name)
			return briefRate(e)
		})})
	}
	return t, rows, common
}

// BriefLegend says what the marks of a BriefTable mean, as far as it has any.
func BriefLegend(t layout.Table) (lines []string) {
	has := func(mark string) bool {
		return slices.ContainsFunc(t, func(c layout.Column) bool {
			return !c.Key && slices.ContainsFunc(c.Cells, func(cell string) bool { return strings.Contains(cell, mark) })
		})
	}
	if has("(") {
		lines = append(lines, "in percent, with 95 % intervals")
	}
	if has("*") {
		lines = append(lines, "* for new questions on these sessions, not for other sessions")
	}
	if has("/") {
		lines = append(lines, "n/m: counts, of too few questions for an interval")
	}
	return lines
}

// briefRate is a rate with its interval, or with its counts where it has none.
func briefRate(e stat.Estimate) string {
	switch these := e.TheseSessions; {
	case e.Value == nil:
		return Undefined
	case e.Lower != nil && e.Upper != nil:
		return fmt.Sprintf("%.0f (%.0f–%.0f)", 100**e.Value, 100**e.Lower, 100**e.Upper)
	case these != nil && these.Lower != nil && these.Upper != nil:
		return fmt.Sprintf("%.0f (%.0f–%.0f)*", 100**e.Value, 100**these.Lower, 100**these.Upper)
	}
	return FormatCounts(e)
}

// twoLines breaks a heading near its middle.
func twoLines(s string) string {
	best := -1
	for i, r := range s {
		if r == ' ' && (best < 0 || max(i, len(s)-i) < max(best, len(s)-best)) {
			best = i
		}
	}
	if best < 0 {
		return s
	}
	return s[:best] + "\n" + s[best+1:]
}
