package harness

import (
	"errors"
	"fmt"
	"slices"

	"github.com/poimen-memory/mem/harness/spec/yamlpos"
	"github.com/poimen-memory/mem/harness/stat"
)

// Explanation is what is behind one metric of a result: its formula, and for each model
// and exit setting its counts by query, its levels side by side.
type Explanation struct {
	stat.Definition
	Parts []Explained
}

// Explained is a metric of one model with one exit setting.
type Explained struct {
	Model, Exit string
	Levels      []string
	Whole       []stat.Estimate // one a level
	Queries     []ExplainedQuery
}

// ExplainedQuery is one query's estimate at each level; nil where it has no run.
type ExplainedQuery struct {
	Query  string
	Levels []*stat.Estimate
}

// Explain traces a metric to the queries and counts behind it. It counts from the runs, as
// ReadRuns reads them from the logs, and it is an error if a sum is not what the result
// says. The name of a metric that there is none of is an error too.
func Explain(r *Result, runs []stat.Run, metric string) (Explanation, error) {
	def, known := stat.Define(metric)
	if !known {
		return Explanation{}, errors.New(yamlpos.OneOf(metric, metricNames()))
	}
	e := Explanation{Definition: def}
	for _, row := range r.Gates {
		whole, err := stat.MeasureOne(metric, filter(runs, row.Model, row.Level.String(), row.ExitGate, ""))
		if err != nil {
			return e, err
		}
		if was, ok := row.Metric(metric); ok && !same(was, whole) {
			return e, fmt.Errorf("%s of %s at %s is %s in summary.json and %s by the logs: the folder is not as it was written", metric, row.Model, row.Level, was, whole)
		}
		part := e.part(row.Model, row.ExitGate)
		part.Levels, part.Whole = append(part.Levels, row.Level.String()), append(part.Whole, whole)
	}
	for i := range e.Parts {
		e.Parts[i].byQuery(metric, runs)
	}
	return e, nil
}

func metricNames() (names []string) {
	for _, d := range stat.Definitions() {
		names = append(names, d.Name)
	}
	return names
}

func same(a, b stat.Estimate) bool {
	equal := func(a, b *float64) bool { return a == b || a != nil && b != nil && *a == *b }
	return equal(a.Value, b.Value) && a.X == b.X && a.N == b.N && a.Units == b.Units
}

// part is that of a model and exit setting, new if there is none yet.
func (e *Explanation) part(model, exit string) *Explained {
	i := slices.IndexFunc(e.Parts, func(p Explained) bool { return p.Model == model && p.Exit == exit })
	if i < 0 {
		i = len(e.Parts)
		e.Parts = append(e.Parts, Explained{Model: model, Exit: exit})
	}
	return &e.Parts[i]
}

func (p *Explained) byQuery(metric string, runs []stat.Run) {
	for _, query := range queriesOf(filter(runs, p.Model, "", p.Exit, "")) {
		row := ExplainedQuery{Query: query}
		for _, level := range p.Levels {
			var of *stat.Estimate
			if those := filter(runs, p.Model, level, p.Exit, query); len(those) > 0 {
				one, _ := stat.MeasureOne(metric, those) // the name is known
				of = &one
			}
			row.Levels = append(row.Levels, of)
		}
		p.Queries = append(p.Queries, row)
	}
}

// filter keeps the runs of what is named; an empty name is any.
func filter(runs []stat.Run, model, level, exit, query string) (list []stat.Run) {
	is := func(want, got string) bool { return want == "" || want == got }
	for _, r := range runs {
		if is(model, r.Model) && is(level, r.Level) && is(exit, r.Exit) && is(query, r.Query) {
			list = append(list, r)
		}
	}
	return list
}

func queriesOf(runs []stat.Run) (names []string) {
	seen := map[string]bool{}
	for _, r := range runs {
		if !seen[r.Query] {
			seen[r.Query], names = true, append(names, r.Query)
		}
	}
	return names
}
