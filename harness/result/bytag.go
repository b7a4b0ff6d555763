package result

import (
	"slices"

	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/stat"
)

// TagRow is what the gates of one model did, at one level and exit setting, on the queries with
// one value of a tag.
type TagRow struct {
	Tag      string        `json:"tag"`
	Value    string        `json:"value"`
	Model    string        `json:"model"`
	Level    spec.Level    `json:"level"`
	ExitGate string        `json:"exit_gate"`
	Metrics  []stat.Metric `json:"metrics"`
}

// Metric is the row's metric of that name; ok is false if it has none.
func (row TagRow) Metric(name string) (e stat.Estimate, ok bool) {
	return metricNamed(row.Metrics, name)
}

// tagRows has rows for each tag, for each gate row by value. A tag that does not divide the
// queries, or that is another for each of them, has none.
func tagRows(s *summary) (rows []TagRow, err error) {
	names := tagMetrics(s)
	for _, tag := range s.plan.Dividing() {
		for _, m := range s.plan.Spec.Models {
			for _, level := range s.plan.Spec.Levels.Value {
				for _, exit := range s.plan.Spec.ExitGate.Value {
					of, err := rowsBy(tag, names, selected(s.runs, m.ID.Value, level, exit), unitOf(s))
					if err != nil {
						return nil, err
					}
					rows = append(rows, of...)
				}
			}
		}
	}
	return rows, nil
}

// tagMetrics are the metrics of a TagRow: those of the shipped criteria, of the spec's own, and
// of answers where any are asked for.
func tagMetrics(s *summary) []string {
	names := plan.DecisionMetrics()
	for _, c := range plan.Rule(s.plan.Spec.Decision).Criteria {
		if !slices.Contains(names, c.Metric) {
			names = append(names, c.Metric)
		}
	}
	if s.plan.Answers != nil && !slices.Contains(names, "sub_em") {
		names = append(names, "sub_em")
	}
	return names
}

func rowsBy(tag string, metrics []string, runs []*runData, unit stat.Unit) (rows []TagRow, err error) {
	observed := observations(runs)
	if len(observed) == 0 {
		return nil, nil
	}
	sample, index := stat.Collect(observed), map[string]int{}
	for _, name := range metrics {
		groups, err := sample.By(tag, name, unit)
		if err != nil {
			return nil, err
		}
		for _, g := range groups {
			i, seen := index[g.Value]
			if !seen {
				i = len(rows)
				index[g.Value] = i
				rows = append(rows, TagRow{Tag: tag, Value: g.Value, Model: runs[0].Model, Level: runs[0].Level, ExitGate: runs[0].ExitGate})
			}
			rows[i].Metrics = append(rows[i].Metrics, stat.Metric{Name: name, Estimate: g.Estimate})
		}
	}
	slices.SortStableFunc(rows, func(a, b TagRow) int { return stat.CompareTagValues(a.Value, b.Value) })
	return rows, nil
}
