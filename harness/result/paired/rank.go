package paired

import (
	"cmp"
	"slices"

	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/stat"
)

// Ranking is one metric of several sides, the best first.
type Ranking struct {
	Metric string
	Levels []spec.Level
	Rows   []RankingRow
}

// RankingRow is one side's estimates, one a level.
type RankingRow struct {
	Name   string
	Levels []Ranked
}

// Ranked is an estimate. Best: it is the best of its level, and significantly so against
// each of the others.
type Ranked struct {
	stat.Estimate
	Best bool
}

// Rank orders sides by a metric at the first level at which any has runs. pairs are their
// comparisons, in any metrics.
func Rank(sides []Side, metric string, unit stat.Unit, pairs []Comparison) (Ranking, error) {
	r := Ranking{Metric: metric}
	for _, level := range []spec.Level{1, 2} {
		if slices.ContainsFunc(sides, func(s Side) bool { return len(s.at(level)) > 0 }) {
			r.Levels = append(r.Levels, level)
		}
	}
	for _, s := range sides {
		row := RankingRow{Name: s.Name}
		for _, level := range r.Levels {
			e, err := stat.Collect(s.at(level)).MeasureOne(metric, unit)
			if err != nil {
				return r, err
			}
			row.Levels = append(row.Levels, Ranked{e, leads(s.Name, len(sides), metric, level, pairs)})
		}
		r.Rows = append(r.Rows, row)
	}
	def, _ := stat.Define(metric)
	slices.SortStableFunc(r.Rows, func(a, b RankingRow) int { return better(def.Better, a.Levels[0], b.Levels[0]) })
	return r, nil
}

// leads says whether a side is significantly better than each other one.
func leads(name string, sides int, metric string, level spec.Level, pairs []Comparison) bool {
	won := 0
	for _, c := range pairs {
		if c.Metric != metric || c.Level != level || c.Difference == nil || !c.Significant() {
			continue
		}
		up := (*c.Difference > 0) == (c.Better == stat.Higher)
		if c.Model == name && up || c.Baseline == name && !up {
			won++
		}
	}
	return won == sides-1
}

// better orders estimates, the best first and the undefined last.
func better(way stat.Better, a, b Ranked) int {
	switch {
	case a.Value == nil && b.Value == nil:
		return 0
	case a.Value == nil:
		return 1
	case b.Value == nil:
		return -1
	case way == stat.Lower:
		return cmp.Compare(*a.Value, *b.Value)
	}
	return cmp.Compare(*b.Value, *a.Value)
}
