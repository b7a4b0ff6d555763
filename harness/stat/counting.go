package stat

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/poimen-memory/mem/harness/stat/cluster"
)

// Counting is a metric with its cells, before unit and error are chosen.
type Counting struct {
	metric
	rate   cluster.Rate // of a composite: recall
	second cluster.Rate // of a composite: specificity
	notes  []string
}

// CountCells is a metric whose cells were counted elsewhere; an error if there is no rate
// and no bounded mean of that name.
func CountCells(name string, cells []Cell) (Counting, error) {
	m, ok := find(name)
	switch {
	case !ok:
		return Counting{}, UnknownMetric(name)
	case m.composite != nil:
		return Counting{}, fmt.Errorf("%s is made of two rates: want its runs, not its cells", name)
	}
	return Counting{metric: m, rate: cluster.NewRate(cells)}, nil
}

// Undefined says why there is no value.
func (m Counting) Undefined() string { return m.none }

// Seen is the pooled rate; of a composite, its recall.
func (m Counting) Seen(unit Unit) cluster.Proportion { return m.rate.At(unit) }

// Queries are the names of the queries, with repetitions.
func (m Counting) Queries() (names []string) {
	for _, c := range slices.Concat(m.rate.Cells, m.second.Cells) {
		names = append(names, c.Query)
	}
	return names
}

// Value is on the metric's own scale; NaN: undefined.
func (m Counting) Value() float64 {
	switch {
	case m.composite != nil:
		return m.composite.value(m.rate.At(ByQuery), m.second.At(ByQuery))
	case m.Name == "memory_slope":
		return cluster.Average(cluster.QueryMeans(m.rate.Cells))
	case m.Name == "retain_violations" && m.rate.At(ByQuery).N > 0:
		return m.rate.At(ByQuery).X
	}
	return m.scaled(m.rate.At(ByQuery).Rate())
}

// Bounds are on the metric's own scale, at alpha per side; what is missing is not imputed.
func (m Counting) Bounds(unit Unit, alpha float64) (lower, upper float64) {
	switch m.Interval {
	case byClusters:
		p := m.rate.At(unit)
		return m.scaled(p.Lower(alpha)), m.scaled(p.Upper(alpha))
	case byMOVER:
		return cluster.MOVER(m.composite.at, m.rate, m.second, unit, alpha)
	case byMeans:
		return cluster.MeanBounds(m.rate.Cells, alpha)
	}
	return math.NaN(), math.NaN()
}

// Sizes are the queries and sessions behind the value, and which of them "fewer than 10"
// counts: of a composite, the fewer of its two rates.
func (m Counting) Sizes(unit Unit) (queries, sessions, counted int) {
	p := m.rate.At(unit)
	if m.composite == nil {
		return p.Queries(), p.Sessions(), p.Counted()
	}
	s := m.second.At(unit)
	return min(p.Queries(), s.Queries()), min(p.Sessions(), s.Sessions()), min(p.Counted(), s.Counted())
}

// Part is a metric on the queries of one group.
type Part struct {
	Value string
	Counting
}

// Split divides the queries into groups, in ascending order of their names. A group without
// observations, missing ones included, is left out.
func (m Counting) Split(valueOf func(query string) string) []Part {
	groups := map[string]*[2][]Cell{}
	for i, cells := range [][]Cell{m.rate.Cells, m.second.Cells} {
		for _, c := range cells {
			if c.N+c.Missing == 0 {
				continue
			}
			value := valueOf(c.Query)
			if groups[value] == nil {
				groups[value] = &[2][]Cell{}
			}
			groups[value][i] = append(groups[value][i], c)
		}
	}
	parts := make([]Part, 0, len(groups))
	for _, value := range slices.Sorted(maps.Keys(groups)) {
		part := m
		part.rate, part.second = cluster.NewRate(groups[value][0]), cluster.NewRate(groups[value][1])
		parts = append(parts, Part{value, part})
	}
	return parts
}

// Join has the queries of both.
func (m Counting) Join(other Counting) Counting {
	other.rate = cluster.NewRate(slices.Concat(m.rate.Cells, other.rate.Cells))
	other.second = cluster.NewRate(slices.Concat(m.second.Cells, other.second.Cells))
	return other
}

// WithFailures counts what is missing as failures; WithSuccesses as successes.
func (m Counting) WithFailures() Counting  { return m.imputed(0) }
func (m Counting) WithSuccesses() Counting { return m.imputed(1) }

func (m Counting) imputed(each float64) Counting {
	m.rate, m.second = m.rate.Imputed(each), m.second.Imputed(each)
	return m
}
