package stat

import (
	"fmt"
	"math"
)

// Metric is a named estimate.
type Metric struct {
	Name string `json:"name"`
	Estimate
}

// Coverage is how much of what was planned is in the metrics, in runs and turns.
type Coverage struct {
	Runs       int `json:"runs"`
	Incomplete int `json:"incomplete"` // runs excluded whole
	Turns      int `json:"turns"`      // issued, those without a reply included
	Missing    int `json:"missing"`    // turns without a model reply
}

// Cover counts the coverage of runs.
func Cover(runs []Run) Coverage {
	c := Coverage{Runs: len(runs)}
	for _, r := range runs {
		c.Incomplete += one(r.Incomplete)
		c.Turns += r.issued()
		c.Missing += r.unanswered()
	}
	return c
}

// partition splits a list by key, in the order of first appearance.
func partition[T any, K comparable](list []T, key func(T) K) (parts [][]T) {
	index := map[K]int{}
	for _, v := range list {
		k := key(v)
		i, seen := index[k]
		if !seen {
			i = len(parts)
			index[k], parts = i, append(parts, nil)
		}
		parts[i] = append(parts[i], v)
	}
	return parts
}

// Measure is every metric of METRICS section 1 over the complete ones of runs, which share
// model, level and exit setting; pass_k for each k up to the number of trials.
func Measure(runs []Run) []Metric {
	s := newSample(runs)
	all := metrics()
	for k := range s.trials() {
		all = append(all, passMetric(k+1))
	}
	out := make([]Metric, len(all))
	for i, m := range all {
		out[i] = Metric{m.Name, m.measure(s).estimate()}
	}
	return out
}

// MeasureOne is one metric of runs; an error if there is none of that name.
func MeasureOne(name string, runs []Run) (Estimate, error) {
	m, ok := find(name)
	if !ok {
		return Estimate{}, unknownMetric(name)
	}
	return m.measure(newSample(runs)).estimate(), nil
}

// Mean is the mean over the runs of what they sum up to in their queries, which are the
// clusters, with the interval of METRICS section 2 for means: t on query means. none says
// why it is undefined without a run.
func Mean(queries []Cluster, none string) Estimate {
	m := metric{Definition: Definition{Interval: byMeans}, none: none}
	return m.pool(queries).estimate()
}

// sample is the complete runs, by query.
type sample struct {
	queries [][]scored
	ks      []float64 // trials of each query
	counts  Counts    // of all
}

func newSample(runs []Run) sample {
	var complete []scored
	var counts Counts
	for _, r := range runs {
		if !r.Incomplete {
			complete = append(complete, score(r))
			counts = counts.Add(Count(r))
		}
	}
	queries := partition(complete, func(s scored) string { return s.Query })
	s := sample{queries, make([]float64, len(queries)), counts}
	for i, q := range queries {
		trials := partition(q, func(s scored) int { return s.Trial })
		s.ks[i] = float64(len(trials))
	}
	return s
}

func (s sample) trials() int {
	most := 0.0
	for _, k := range s.ks {
		most = max(most, k)
	}
	return int(most)
}

func (s sample) runs() (all []scored) {
	for _, q := range s.queries {
		all = append(all, q...)
	}
	return all
}

// clusters are what each query contributes, in the sample's order.
func (m metric) clusters(s sample) []Cluster {
	list := make([]Cluster, len(s.queries))
	for i, q := range s.queries {
		x, n := m.sum(q)
		list[i] = Cluster{X: x, N: n, K: s.ks[i]}
		if m.cells != nil {
			list[i].K = 1 // a cell has used up its trials
		}
	}
	return list
}

func (m metric) sum(query []scored) (x, n float64) {
	if m.cells != nil {
		return m.cells(query)
	}
	for _, s := range query {
		m.each(s, func(_ int, dx, dn float64) { x, n = x+dx, n+dn })
	}
	return x, n
}

// each visits what a run contributes: cell by cell, where cell is the 1-based turn, or
// once with cell 0.
func (m metric) each(s scored, visit func(cell int, x, n float64)) {
	if m.run != nil {
		x, n := m.run(s)
		visit(0, x, n)
		return
	}
	for i := range s.Turns {
		x, n := m.turn(s, i)
		visit(i+1, x, n)
	}
}

// measured is a metric of a sample before a confidence level is chosen.
type measured struct {
	metric
	Proportion         // of its own clusters; of a composite, X and N are 0
	value      float64 // NaN: undefined
	bounds     func(alpha float64) (lower, upper float64)
	notes      []string
}

func (m metric) measure(s sample) measured {
	if m.composite != nil {
		return m.compose(s)
	}
	r := m.pool(m.clusters(s))
	if r.N > 0 && m.remark != nil {
		r.note(m.remark(s.runs()))
	}
	return r
}

// pool measures a metric from its clusters.
func (m metric) pool(clusters []Cluster) measured {
	r := measured{metric: m, Proportion: Pool(clusters), value: math.NaN()}
	if r.N > 0 {
		r.value = r.Rate()
		if m.pooled != nil {
			r.value = m.pooled(clusters)
		}
	}
	switch m.Interval {
	case byClusters:
		r.bounds = func(alpha float64) (float64, float64) { return r.Lower(alpha), r.Upper(alpha) }
	case byMeans:
		r.bounds = func(alpha float64) (float64, float64) { return meanBounds(clusters, alpha) }
		r.noteMeans(clusters)
	}
	return r
}

// noteMeans says so where a mean over runs or turns is not the mean of the queries' means,
// on which its interval is centred.
func (r *measured) noteMeans(clusters []Cluster) {
	if mean := average(queryMeans(clusters)); math.Abs(mean-r.value) > 1e-9 {
		r.note(fmt.Sprintf("the interval is that of the mean of query means, %.3f", mean))
	}
}

func (m metric) compose(s sample) measured {
	recall, _ := find(m.composite.recall)
	specificity, _ := find(m.composite.specificity)
	a, b := recall.clusters(s), specificity.clusters(s)
	r := measured{metric: m, value: math.NaN()}
	if v, ok := m.composite.count(s.counts); ok {
		r.value = v
	}
	r.Queries = fewest(Pool(a).Queries, Pool(b).Queries)
	r.bounds = func(alpha float64) (float64, float64) { return m.composite.mover(a, b, alpha) }
	return r
}

// fewest is the smaller number that is not 0.
func fewest(a, b int) int {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

func (r *measured) note(text string) {
	if text != "" {
		r.notes = append(r.notes, text)
	}
}

// estimate is the metric with a two-sided 95 % interval.
func (r measured) estimate() Estimate {
	const perSide = 0.025
	e := Estimate{Value: number(r.value), Units: r.Queries, X: *number(r.X), N: r.N, Notes: r.notes}
	if e.Value == nil {
		return Estimate{Units: r.Queries, Reason: r.none}
	}
	if r.bounds == nil {
		e.Notes = append(e.Notes, "descriptive: no interval")
		return e
	}
	lower, upper := r.bounds(perSide)
	e.Lower, e.Upper = number(lower), number(upper)
	if r.Interval == byClusters {
		e.ICC = defined(r.ICC())
	}
	e.Notes = append(e.Notes, e.warnings()...)
	return e
}

// warnings say what to think of the interval.
func (e Estimate) warnings() (notes []string) {
	switch {
	case e.Units < 2:
		notes = append(notes, plural(e.Units, "query", "queries")+": no interval below 2")
	case e.Lower == nil || e.Upper == nil:
		notes = append(notes, "no interval: one of the two rates is undefined or has a single query")
	case e.Units < MinQueries:
		notes = append(notes, fmt.Sprintf("%d queries: interval unreliable below %d", e.Units, MinQueries))
	}
	if e.ICC != nil && *e.ICC > HighICC {
		notes = append(notes, fmt.Sprintf("intra-query correlation %.2f, above %.2f: the interval may be too narrow", *e.ICC, HighICC))
	}
	return notes
}
