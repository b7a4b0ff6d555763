// Package paired compares sides of an evaluation: runs of one model, level or exit setting with
// those of another, on the queries and sessions that both have, and ranks more than two.
package paired

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/harness/stat/compare"
)

// Comparison is one metric of a model against a baseline at one level, on the cells that
// both have scored.
type Comparison struct {
	Baseline string     `json:"baseline"`        // A of the numbers
	Model    string     `json:"model"`           // B of the numbers
	Level    spec.Level `json:"level"`           // 0: the sides are two levels
	Group    string     `json:"group,omitempty"` // tag and value of the queries; "": all
	*compare.Comparison
}

// Side is one side of comparisons: runs of one model with one exit setting.
type Side struct {
	Name string
	Runs []stat.Run
}

// Pair is two sides that are compared: New against Old.
type Pair struct {
	Old, New Side
	Levels   bool   // the sides are levels; else levels are compared each by itself
	Group    string // of the queries, as in Comparison
}

// Compare compares each pairing in each metric at each level that it has runs of. The
// p-values are adjusted for all of it being claimed at once.
func Compare(pairs []Pair, metrics []string, cfg compare.Config) (table []Comparison, err error) {
	byMetric := make([][]Comparison, len(metrics))
	var claims []*compare.Comparison
	for _, level := range []spec.Level{0, 1, 2} {
		for _, p := range pairs {
			a, b := p.at(level)
			if len(a)+len(b) == 0 {
				continue
			}
			between := compare.Runs
			if p.Levels {
				between = compare.Levels
			}
			results, err := between(a, b, metrics, cfg)
			if err != nil {
				return nil, err
			}
			claims = append(claims, results...)
			for i, c := range results {
				byMetric[i] = append(byMetric[i], Comparison{p.Old.Name, p.New.Name, level, p.Group, c})
			}
		}
	}
	compare.AdjustHolm(claims)
	return slices.Concat(byMetric...), nil
}

// at is what is compared at a level; at 0, what is not compared by levels.
func (p Pair) at(level spec.Level) (a, b []stat.Run) {
	switch {
	case p.Levels != (level == 0):
		return nil, nil
	case p.Levels:
		return p.Old.Runs, p.New.Runs
	}
	return p.Old.at(level), p.New.at(level)
}

// Grouped adds to each pairing those of the queries with one value of a tag. The error is a
// tag that no query has.
func Grouped(pairs []Pair, tags []string) ([]Pair, error) {
	all := pairs
	for _, tag := range tags {
		known := map[string]bool{}
		for _, p := range pairs {
			values := map[string]bool{}
			for _, r := range slices.Concat(p.Old.Runs, p.New.Runs) {
				for name := range r.Tags {
					known[name] = true
				}
				values[cmp.Or(r.Tags[tag], stat.NoTag)] = true
			}
			for _, value := range slices.SortedFunc(maps.Keys(values), stat.CompareTagValues) {
				all = append(all, Pair{p.Old.tagged(tag, value), p.New.tagged(tag, value), p.Levels, tag + " " + value})
			}
		}
		if !known[tag] {
			return nil, errors.New(diag.OneOf(tag, slices.Sorted(maps.Keys(known))))
		}
	}
	return all, nil
}

func (s Side) tagged(tag, value string) Side {
	of := Side{Name: s.Name}
	for _, r := range s.Runs {
		if cmp.Or(r.Tags[tag], stat.NoTag) == value {
			of.Runs = append(of.Runs, r)
		}
	}
	return of
}

func (s Side) at(level spec.Level) (runs []stat.Run) {
	for _, r := range s.Runs {
		if r.Level == level.String() {
			runs = append(runs, r)
		}
	}
	return runs
}

// All are the pairings of each side with each that comes after it.
func All(sides []Side) (pairs []Pair) {
	for i, old := range sides {
		for _, other := range sides[i+1:] {
			pairs = append(pairs, Pair{Old: old, New: other})
		}
	}
	return pairs
}
