package stat

import (
	"cmp"
	"fmt"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"
)

const (
	maxQueries       = 10_000 // that are ever proposed in all
	projectionChance = 0.80   // of the careful projection
)

// Further is how many more queries, of the kind seen, would probably settle what is
// undecided (METRICS section 3). nil: not reachable, for the reason given.
type Further struct {
	IfRateHolds *int   `json:"if_rate_holds"`
	WithChance  *int   `json:"with_80_percent_probability"`
	Reason      string `json:"reason,omitempty"`
}

// String says it in words.
func (f Further) String() string {
	switch {
	case f.IfRateHolds == nil:
		return "not reachable: " + f.Reason
	case f.WithChance == nil:
		return plural(*f.IfRateHolds, "more query", "more queries") + " if the rate holds; with 80 % probability not reachable: " + f.Reason
	}
	return fmt.Sprintf("%s if the rate holds, %d with 80 %% probability", plural(*f.IfRateHolds, "more query", "more queries"), *f.WithChance)
}

func (f finding) further() *Further {
	switch {
	case f.Interval != byClusters:
		return &Further{Reason: "nothing is projected for a metric that is no rate"}
	case !f.Defined():
		return &Further{Reason: "nothing can be projected from fewer than 2 queries"}
	case f.Rate() < f.Threshold:
		return &Further{Reason: fmt.Sprintf("the rate %.3f is below %v", f.Rate(), f.Threshold)}
	}
	more := Further{IfRateHolds: f.more(0), WithChance: f.more(distuv.UnitNormal.Quantile(projectionChance))}
	if more.IfRateHolds == nil || more.WithChance == nil {
		more.Reason = fmt.Sprintf("it would take over %d queries", maxQueries)
	}
	return &more
}

// more is the number of queries to add until the criterion is GO, the rate z standard
// errors under that seen.
func (f finding) more(z float64) *int {
	total, ok := f.Project(f.Threshold, alpha, z)
	if !ok {
		return nil
	}
	more := max(total, MinQueries) - f.Queries
	return &more
}

// Project is the smallest number of queries in all, above those seen and up to 10,000,
// with which the lower bound at alpha would reach the threshold: N and the variance grow
// with the queries, M, K and D0 stay, and the rate is z standard errors (of that many
// queries) under the one seen.
func (p Proportion) Project(threshold, alpha, z float64) (queries int, ok bool) {
	if !p.Defined() || p.Rate() < threshold || p.Queries >= maxQueries {
		return 0, false
	}
	// The bound only rises with the queries, so that the smallest number can be searched.
	more := sort.Search(maxQueries-p.Queries, func(i int) bool {
		return p.scaled(p.Queries+1+i, z).reaches(threshold, alpha)
	})
	queries = p.Queries + 1 + more
	return queries, queries <= maxQueries
}

// slowest is what all undecided criteria need together.
func slowest(criteria []Judgment) *Further {
	var all *Further
	for _, j := range criteria {
		switch {
		case j.Further == nil:
		case all == nil:
			f := *j.Further
			all = &f
		default:
			all.IfRateHolds = later(all.IfRateHolds, j.Further.IfRateHolds)
			all.WithChance = later(all.WithChance, j.Further.WithChance)
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
