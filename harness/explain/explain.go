// Package explain traces a metric of a result to the queries, turns and counts behind it.
package explain

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/harness/stat"
)

// Explanation is what is behind one metric of a result: its formula, and for each model
// and exit setting its counts by query, its levels side by side.
type Explanation struct {
	stat.Definition
	Counted string // "turn" or "run": what counts for it
	Parts   []Part
}

// Part is a metric of one model with one exit setting.
type Part struct {
	Model, Exit string
	Levels      []string
	Whole       []stat.Estimate // one a level
	Queries     []Query
	Turns       []Turn // that count for the metric, by query
}

// Turn is one that counts for the metric; Number is 0 where the run counts and no turn stands for it.
type Turn struct {
	Query, Run string
	Number     int
	stat.Score
	Against bool   // it makes the metric worse; of one that only describes, it counts at all
	Said    string // what the turn is: "evidence, said no"
}

// Query is one query's estimate at each level; nil where it has no run.
type Query struct {
	Query  string
	Levels []*stat.Estimate
}

// Metric traces a metric to the queries and counts behind it. It counts from the runs, as
// result.ReadRuns reads them from the logs, and it is an error if a sum is not what the result
// says. The name of a metric that there is none of is an error too.
func Metric(r *result.Result, runs []stat.Run, metric string) (Explanation, error) {
	def, known := stat.Define(metric)
	if !known {
		return Explanation{}, errors.New(diag.OneOf(metric, metricNames()) + " (see mem help metrics)")
	}
	e := Explanation{Definition: def, Counted: counted(def)}
	for _, row := range r.Gates {
		was, ok := row.Metric(metric)
		whole, err := stat.Collect(filter(runs, row.Model, row.Level.String(), row.ExitGate, "")).MeasureOne(metric, was.Unit)
		if err != nil {
			return e, err
		}
		if ok && !same(was, whole) {
			return e, fmt.Errorf("%s of %s at %s is %s in summary.json and %s by the logs: the folder is not as it was written", metric, row.Model, row.Level, was, whole)
		}
		part := e.part(row.Model, row.ExitGate)
		part.Levels, part.Whole = append(part.Levels, row.Level.String()), append(part.Whole, whole)
	}
	names := runNames(r)
	for i := range e.Parts {
		e.Parts[i].byQuery(metric, runs)
		if err := e.Parts[i].trace(metric, runs, names); err != nil {
			return e, err
		}
	}
	return e, nil
}

// counted is what counts for a metric.
func counted(d stat.Definition) string {
	switch d.Name { // turns that are not paired between models
	case "precision", "f1", "mcc", "balanced_accuracy", "balanced_accuracy_strict", "flip_rate", "exit_flip_rate", "retain_violations":
		return "turn"
	}
	if s, err := stat.NewScorer(d.Name); err == nil && s.PerTurn {
		return "turn"
	}
	return "run"
}

// runNames are those of result.ReadRuns, in its order.
func runNames(r *result.Result) (names []string) {
	for _, run := range r.Runs {
		if run.State != record.Skipped {
			names = append(names, run.Name)
		}
	}
	return names
}

// trace adds the turns that count.
func (p *Part) trace(metric string, runs []stat.Run, names []string) error {
	for _, q := range p.Queries {
		var of []stat.Run
		var named []string
		for i, r := range runs {
			if r.Query == q.Query && r.Model == p.Model && r.Exit == p.Exit && slices.Contains(p.Levels, r.Level) {
				of, named = append(of, r), append(named, names[i])
			}
		}
		list, err := stat.Trace(metric, of)
		if err != nil {
			return err
		}
		for _, t := range list {
			p.Turns = append(p.Turns, Turn{Query: q.Query, Run: named[t.Run], Number: t.Turn, Score: t.Score, Against: t.Against, Said: said(metric, of[t.Run], t)})
		}
	}
	return nil
}

// said is what a turn is, in words; of a run as a whole, what it counts.
func said(metric string, r stat.Run, t stat.Traced) string {
	if t.Turn == 0 {
		return fmt.Sprintf("the run counts %.3g of %.3g", t.X, t.N)
	}
	turn := r.Turns[t.Turn-1]
	words := "no evidence"
	if turn.Evidence {
		words = "evidence"
	}
	switch {
	case !turn.Parsed:
		return words + ", no reply parsed"
	case turn.OverBudget:
		words += ", said yes, over budget"
	case turn.Update:
		words += ", said yes"
	default:
		words += ", said no"
	}
	switch d, _ := stat.NewScorer(metric); {
	case turn.Exit:
		words += ", said end"
	case strings.HasPrefix(metric, "exit_") && !d.PerTurn && metric != "exit_flip_rate":
		words += "; no turn said end"
	}
	if !turn.FirstTry {
		words += ", not at the first try"
	}
	return words
}

func metricNames() (names []string) {
	for _, d := range stat.Definitions() {
		names = append(names, d.Name)
	}
	return names
}

func same(a, b stat.Estimate) bool {
	equal := func(a, b *float64) bool { return a == b || a != nil && b != nil && *a == *b }
	return equal(a.Value, b.Value) && a.X == b.X && a.N == b.N && a.Queries == b.Queries
}

// part is that of a model and exit setting, new if there is none yet.
func (e *Explanation) part(model, exit string) *Part {
	i := slices.IndexFunc(e.Parts, func(p Part) bool { return p.Model == model && p.Exit == exit })
	if i < 0 {
		i = len(e.Parts)
		e.Parts = append(e.Parts, Part{Model: model, Exit: exit})
	}
	return &e.Parts[i]
}

func (p *Part) byQuery(metric string, runs []stat.Run) {
	for _, query := range queriesOf(filter(runs, p.Model, "", p.Exit, "")) {
		row := Query{Query: query}
		for _, level := range p.Levels {
			var of *stat.Estimate
			if those := filter(runs, p.Model, level, p.Exit, query); len(those) > 0 {
				one, _ := stat.Collect(those).MeasureOne(metric, stat.ByQuery) // the name is known
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
