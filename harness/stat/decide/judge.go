package decide

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/stat"
)

// claim is a criterion, or a criterion in a group.
type claim struct {
	stat.Counting
	Criterion
	group     string  // empty: the whole
	threshold float64 // of the claim, on the metric's own scale
	unit      stat.Unit
	look      Look

	lower, upper float64 // NaN: undefined
	verdict      Verdict
}

// small is the group of all that have fewer than stat.MinQueries units.
const small = "(small)"

// claims are the criterion on the whole and, if it is judged by a tag, on every group.
// Groups have names in ascending order.
func claims(m stat.Counting, c Criterion, unit stat.Unit, valueOf func(query string) string) []claim {
	whole := claim{Counting: m, Criterion: c, threshold: c.Threshold, unit: unit}
	list := []claim{whole}
	if c.By == "" {
		return list
	}
	groups := map[string]stat.Counting{}
	for _, p := range m.Split(valueOf) {
		part, name := p.Counting, p.Value
		if _, _, n := part.WithFailures().Sizes(unit); n < stat.MinQueries {
			name = small
		}
		if other, seen := groups[name]; seen {
			part = other.Join(part)
		}
		groups[name] = part
	}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		g := whole
		g.Counting, g.group, g.threshold = groups[name], name, c.floor()
		list = append(list, g)
	}
	return list
}

// judge sets bounds and verdict: GO if the lower bound at alphaGo reaches the threshold,
// NO-GO if the upper at alphaNoGo is below it (docs/statistics.md, rule 2).
func (c *claim) judge(alphaGo, alphaNoGo float64) {
	c.verdict, c.lower, c.upper = Inconclusive, math.NaN(), math.NaN()
	if alphaGo == 0 {
		return
	}
	c.lower, _ = c.WithFailures().Bounds(c.unit, alphaGo)
	_, c.upper = c.WithSuccesses().Bounds(c.unit, alphaNoGo)
	switch {
	case c.short():
	case c.lower >= c.threshold:
		c.verdict = Go
	case c.upper < c.threshold:
		c.verdict = NoGo
	}
}

// units is what "fewer than 10" counts; the queries of missing turns are among them.
func (c *claim) units() int {
	_, _, n := c.WithFailures().Sizes(c.unit)
	return n
}

func (c *claim) short() bool { return c.units() < stat.MinQueries }

// combine is the verdict on sound data (docs/statistics.md, rule 3).
func combine(claims []claim, planned bool) Verdict {
	goes := planned
	for _, c := range claims {
		if c.verdict == NoGo {
			return NoGo
		}
		goes = goes && c.verdict == Go
	}
	if goes {
		return Go
	}
	return Inconclusive
}

// because is the reason of the claim's verdict.
func (c *claim) because() string {
	switch {
	case math.IsNaN(c.WithFailures().Value()):
		return "undefined: " + c.Undefined()
	case c.look.Alpha == 0:
		return c.look.Note
	case c.short() && c.unit == stat.BySession:
		return fmt.Sprintf("%s, fewer than %d", diag.Count(c.units(), "session"), stat.MinQueries)
	case c.short():
		return fmt.Sprintf("%s, fewer than %d", diag.Count(c.units(), "query"), stat.MinQueries)
	case c.verdict == Go:
		return fmt.Sprintf("lower bound %.3f reaches %v", c.lower, c.threshold)
	case c.verdict == NoGo:
		return fmt.Sprintf("upper bound %.3f is below %v", c.upper, c.threshold)
	case math.IsNaN(c.lower):
		return "no interval"
	}
	return fmt.Sprintf("%v lies between the bounds %.3f and %.3f", c.threshold, c.lower, c.upper)
}

// name is that of the criterion, with its group.
func (c *claim) title() string {
	if c.group == "" {
		return c.Metric
	}
	return fmt.Sprintf("%s (%s: %s)", c.Metric, c.By, c.group)
}
