package decide

import (
	"fmt"
	"slices"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/stat"
)

// Weakest is the group with the lowest value of a criterion's metric.
type Weakest struct {
	stat.Group
	Below bool `json:"below"` // the value is below the criterion's threshold
}

func (w Weakest) warning(c Criterion) string {
	return fmt.Sprintf("%s is %.3f where %s is %s, below %v: the verdict is about this mix of questions",
		c.Metric, *w.Estimate.Value, w.Tag, w.Value, c.Threshold)
}

// weakest is the group of at least 2 queries with the lowest value, over all tags; nil for a
// claim on groups, or if no tag divides the queries.
func weakest(s *stat.Sample, c claim) (least *Weakest, err error) {
	if c.By != "" {
		return nil, nil
	}
	for _, tag := range s.Tags() {
		groups, err := s.By(tag, c.Metric, c.unit)
		if err != nil {
			return nil, err
		}
		for _, g := range groups {
			if g.Estimate.Value == nil || g.Estimate.Queries < 2 || len(groups) < 2 {
				continue
			}
			if least == nil || *g.Estimate.Value < *least.Estimate.Value {
				least = &Weakest{g, *g.Estimate.Value < c.Threshold}
			}
		}
	}
	return least, nil
}

// tagged says which criteria are judged by a tag that no query has.
func tagged(s *stat.Sample, rule Rule) error {
	for _, c := range rule.criteria() {
		if tags := s.Tags(); c.By != "" && !slices.Contains(tags, c.By) {
			return fmt.Errorf("criterion %s: by %s: no query has that tag; the tags are %q", c.Metric, c.By, tags)
		}
	}
	return nil
}

// scope is what a verdict holds for, where that is not new questions on new sessions.
func scope(s *stat.Sample, unit stat.Unit) string {
	switch unit {
	case stat.ByQuery:
		return "on " + these(s.Units(stat.BySession), "session")
	case stat.BySession:
		return "for " + these(s.Units(stat.ByQuery), "query")
	}
	return ""
}

func these(n int, noun string) string {
	if n == 1 {
		return "this " + diag.Count(n, noun)
	}
	return "these " + diag.Count(n, noun)
}
