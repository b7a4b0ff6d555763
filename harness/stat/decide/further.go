package decide

import (
	"cmp"
	"fmt"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/harness/stat/cluster"
)

// Further is how many more queries (sessions under unit session), of the kind seen, would
// settle what is undecided, as far as can be told (docs/statistics.md). nil: not reachable, or
// for WithChance not printed, for the reason given.
type Further struct {
	IfRateHolds *int      `json:"if_rate_holds"`
	WithChance  *int      `json:"with_80_percent_chance"`
	AtBest      *float64  `json:"at_best,omitempty"` // chance that the rate is at least the threshold
	Reason      string    `json:"reason,omitempty"`
	Unit        stat.Unit `json:"unit,omitempty"`
}

// fromUnits is the number of units from which a chance is printed: below, it would come true
// in too few cases.
const fromUnits = 20

// String says it in words.
func (f Further) String() string {
	name := "more query"
	if f.Unit == stat.BySession {
		name = "more session"
	}
	text := "not reachable"
	if f.IfRateHolds != nil {
		text = diag.Count(*f.IfRateHolds, name) + " if the rate holds (about an even chance)"
	}
	if f.WithChance != nil {
		text += fmt.Sprintf("; %d: about 80 %% on average over the rates that fit what was seen; about 20 %% if the true rate is only 0.01 above the threshold", *f.WithChance)
	}
	if f.Reason != "" {
		text += ": " + f.Reason
	}
	return text
}

// further is the forecast of an INCONCLUSIVE claim, with what is missing counted as failures,
// as its lower bound is, at the error of the last look.
func (c *claim) further(r Rule) *Further {
	f := &Further{Unit: c.unit}
	if !c.Rate() {
		f.Reason = "nothing is forecast for a metric that is no rate"
		return f
	}
	seen := c.WithFailures().Seen(c.unit)
	if !seen.Defined() {
		f.Reason = "nothing can be forecast from fewer than 2 " + r.unitNames()
		return f
	}
	forecast := cluster.Forecast{Seen: seen, Threshold: c.threshold, Alpha: r.lastAlpha() / float64(max(1, r.Candidates))}
	units, ok := forecast.IfRateHolds()
	f.IfRateHolds = more(units, seen.Counted(), ok)
	f.AtBest = stat.Number(forecast.AtBest())
	units, ok = forecast.WithChance()
	switch {
	case seen.Counted() < fromUnits:
		f.Reason = fmt.Sprintf("a number for 80 %% is printed from %d %s on", fromUnits, r.unitNames())
	case !ok:
		f.Reason = fmt.Sprintf("no number up to %d gives 80 %%; at best the chance is %.2f", cluster.MaxUnits, *f.AtBest)
	default:
		f.WithChance = more(units, seen.Counted(), ok)
	}
	return f
}

func more(units, seen int, ok bool) *int {
	if !ok {
		return nil
	}
	units -= seen
	return &units
}

// slowest is what all undecided claims need together.
func slowest(claims []Judgment) *Further {
	var all *Further
	for _, j := range claims {
		switch {
		case j.Further == nil:
		case all == nil:
			f := *j.Further
			all = &f
		default:
			all.IfRateHolds = later(all.IfRateHolds, j.Further.IfRateHolds)
			all.WithChance = later(all.WithChance, j.Further.WithChance)
			all.AtBest = sooner(all.AtBest, j.Further.AtBest)
			all.Reason = cmp.Or(all.Reason, j.Further.Reason)
		}
	}
	return all
}

// later is the larger number, where nil is never.
func later(a, b *int) *int {
	if a == nil || b == nil {
		return nil
	}
	larger := max(*a, *b)
	return &larger
}

// sooner is the smaller chance, where nil is unknown.
func sooner(a, b *float64) *float64 {
	if a == nil || b == nil {
		return nil
	}
	smaller := min(*a, *b)
	return &smaller
}
