package result

import (
	"cmp"
	"slices"

	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/result/paired"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/spec/yamlpos"
	"github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/harness/stat/compare"
)

// comparisons is the spec's comparison with its baselines. A model of which nothing ran is on
// no side.
func comparisons(s *summary) ([]paired.Comparison, error) {
	c := s.plan.Spec.Compare
	if c == nil {
		return nil, nil
	}
	var baselines, others []paired.Side
	for _, m := range s.plan.Spec.Models {
		side := paired.Side{Name: m.ID.Value, Runs: recorded(s.runs, m.ID.Value)}
		switch {
		case len(side.Runs) == 0:
		case isBaseline(c.Baselines, m.ID.Value):
			baselines = append(baselines, side)
		default:
			others = append(others, side)
		}
	}
	var pairs []paired.Pair
	for _, old := range baselines {
		for _, other := range others {
			pairs = append(pairs, paired.Pair{Old: old, New: other})
		}
	}
	return paired.Compare(pairs, plan.ComparedMetrics(s.plan.Spec), compare.Config{Unit: cmp.Or(stat.Unit(c.Unit.Value), unitOf(s))})
}

func recorded(runs []*runData, model string) []stat.Run {
	var of []*runData
	for _, d := range runs {
		if d.Model == model && d.ExitGate == spec.Record {
			of = append(of, d)
		}
	}
	return observations(of)
}

func isBaseline(baselines []yamlpos.At[string], id string) bool {
	return slices.ContainsFunc(baselines, func(b yamlpos.At[string]) bool { return b.Value == id })
}
