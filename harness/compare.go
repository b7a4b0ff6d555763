package harness

import (
	"errors"

	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/spec/yamlpos"
	"github.com/poimen-memory/mem/harness/stat"
)

// Comparison is one metric of a model against a baseline at one level, on the cells that
// both have scored.
type Comparison struct {
	Baseline string     `json:"baseline"` // A of the numbers
	Model    string     `json:"model"`    // B of the numbers
	Level    spec.Level `json:"level"`
	stat.Comparison
}

// Side is one side of comparisons: runs of one model with one exit setting.
type Side struct {
	Name string
	Runs []stat.Run
}

// Pairing is two sides that are compared: New against Old.
type Pairing struct{ Old, New Side }

// ComparePairs compares each pairing in each metric at each level that it has runs of. The
// p-values are adjusted for all of it being claimed at once.
func ComparePairs(pairs []Pairing, metrics []string) (table []Comparison, err error) {
	for _, metric := range metrics {
		for _, level := range []spec.Level{1, 2} {
			for _, p := range pairs {
				a, b := p.Old.at(level), p.New.at(level)
				if len(a)+len(b) == 0 {
					continue
				}
				c, err := stat.Compare(a, b, metric, stat.Flips{})
				if err != nil {
					return nil, err
				}
				table = append(table, Comparison{p.Old.Name, p.New.Name, level, c})
			}
		}
	}
	adjust(table)
	return table, nil
}

func adjust(table []Comparison) {
	claims := make([]stat.Comparison, len(table))
	for i, c := range table {
		claims[i] = c.Comparison
	}
	stat.AdjustHolm(claims)
	for i, c := range claims {
		table[i].Comparison = c
	}
}

func (s Side) at(level spec.Level) (runs []stat.Run) {
	for _, r := range s.Runs {
		if r.Level == level.String() {
			runs = append(runs, r)
		}
	}
	return runs
}

// compare is the spec's comparison with its baselines. A model of which nothing ran is on
// no side.
func (e *Experiment) compare(runs []*done) ([]Comparison, error) {
	c := e.Spec.Compare
	if c == nil {
		return nil, nil
	}
	var baselines, others []Side
	for _, m := range e.Spec.Models {
		side := Side{Name: m.ID.Value, Runs: recorded(runs, m.ID.Value)}
		switch {
		case len(side.Runs) == 0:
		case names(c.Baselines, m.ID.Value):
			baselines = append(baselines, side)
		default:
			others = append(others, side)
		}
	}
	var pairs []Pairing
	for _, old := range baselines {
		for _, other := range others {
			pairs = append(pairs, Pairing{old, other})
		}
	}
	return ComparePairs(pairs, e.compared())
}

func recorded(runs []*done, model string) []stat.Run {
	var of []*done
	for _, d := range runs {
		if d.Model == model && d.ExitGate == spec.Record {
			of = append(of, d)
		}
	}
	return observations(of)
}

// compared are the metrics of the spec's comparison.
func (e *Experiment) compared() (metrics []string) {
	for _, m := range e.Spec.Compare.Metrics {
		metrics = append(metrics, m.Value)
	}
	if metrics == nil {
		return DecisionMetrics()
	}
	return metrics
}

// DecisionMetrics are those of the shipped criteria.
func DecisionMetrics() (names []string) {
	for _, c := range stat.DefaultCriteria() {
		names = append(names, c.Metric)
	}
	return names
}

func (e *Experiment) checkCompare() (errs yamlpos.Errors) {
	if e.Spec.Compare == nil {
		return nil
	}
	for _, m := range e.Spec.Compare.Metrics {
		if err := CheckComparable(m.Value); err != nil {
			errs = append(errs, m.Errorf("%v", err))
		}
	}
	return errs
}

// CheckComparable says what is wrong with the name of a metric to compare.
func CheckComparable(metric string) error {
	if _, known := stat.Define(metric); !known {
		return errors.New(yamlpos.OneOf(metric, comparables()))
	}
	_, err := stat.Compare(nil, nil, metric, stat.Flips{})
	return err
}

func comparables() (names []string) {
	for _, d := range stat.Definitions() {
		if _, err := stat.Compare(nil, nil, d.Name, stat.Flips{}); err == nil {
			names = append(names, d.Name)
		}
	}
	return names
}
