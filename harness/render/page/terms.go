package page

import (
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/harness/stat/glossary"
)

// entry is a metric in words; without a label where the glossary does not have it.
func entry(metric string) glossary.Entry {
	if e, ok := glossary.Find(metric); ok {
		return e
	}
	return glossary.Entry{Name: metric}
}

// entries are those of the metrics that a page shows, each once.
func entries(r *result.Result) (list []glossary.Entry) {
	seen := map[string]bool{}
	add := func(metrics ...stat.Metric) {
		for _, m := range metrics {
			if e := entry(m.Name); e.Label != "" && !seen[m.Name] {
				seen[m.Name], list = true, append(list, e)
			}
		}
	}
	for _, row := range r.Gates {
		add(row.Metrics...)
	}
	for _, row := range r.Answers {
		add(row.Metrics...)
	}
	for _, row := range r.ByTag {
		add(row.Metrics...)
	}
	for _, d := range r.Decisions {
		for _, j := range d.Criteria {
			add(stat.Metric{Name: j.Metric})
		}
	}
	return list
}
