package stat

import (
	"fmt"
)

// Score is what one turn, or one run, counts for a metric: X of N.
type Score struct{ X, N float64 }

// Scorer scores runs turn by turn or run by run, for a comparison.
type Scorer struct {
	Definition
	PerTurn bool // false: a run has one score
	metric  metric
}

// NewScorer is the scorer of a metric; an error if there is none of that name or it cannot
// be compared.
func NewScorer(name string) (Scorer, error) {
	m, ok := find(name)
	switch {
	case !ok:
		return Scorer{}, UnknownMetric(name)
	case m.Unpaired != "":
		return Scorer{}, fmt.Errorf("%s cannot be compared: %s", name, m.Unpaired)
	}
	return Scorer{m.Definition, m.perTurn, m}, nil
}

// Comparable are the names of the metrics that can be compared.
func Comparable() (names []string) {
	for _, d := range Definitions() {
		if d.Unpaired == "" {
			names = append(names, d.Name)
		}
	}
	return names
}

// Scores are those of every scorer for a run, by scorer and turn.
func Scores(scorers []Scorer, r Run) [][]Score {
	scores := make([][]Score, len(scorers))
	for i, s := range scorers {
		if s.PerTurn {
			scores[i] = make([]Score, len(r.Turns))
		}
	}
	first := r.firstExit()
	for t, turn := range r.Turns {
		var f facts
		f.addTurn(turn, first > 0 && t >= first)
		for i, s := range scorers {
			if s.PerTurn {
				scores[i][t] = s.metric.score(&f)
			}
		}
	}
	f := r.facts()
	for i, s := range scorers {
		if !s.PerTurn {
			scores[i] = []Score{s.metric.score(&f)}
		}
	}
	return scores
}

func (m metric) score(f *facts) Score { return Score{f.sum(m.x), f.sum(m.n)} }

// Scale is the width of the metric's range: a difference of shares times it is a difference
// on the metric's own scale.
func (d Definition) Scale() float64 { return d.High - d.Low }

// Value is a share within 0 and 1 on the metric's own scale.
func (d Definition) Value(share float64) float64 { return d.scaled(share) }
