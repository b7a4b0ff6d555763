package harness

import (
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/stat"
)

// gates has a row for each model, level and exit setting of which there is a run.
func (e *Experiment) gates(runs []*done) (rows []GateRow) {
	for _, m := range e.Spec.Models {
		for _, level := range e.Spec.Levels.Value {
			for _, exit := range e.Spec.ExitGate.Value {
				if of := selected(runs, m.ID.Value, level, exit); len(of) > 0 {
					rows = append(rows, gateRow(of))
				}
			}
		}
	}
	return rows
}

func selected(runs []*done, model string, level spec.Level, exit string) []*done {
	return only(runs, func(d *done) bool { return d.Model == model && d.Level == level && d.ExitGate == exit })
}

func only(runs []*done, wanted func(*done) bool) (list []*done) {
	for _, d := range runs {
		if wanted(d) {
			list = append(list, d)
		}
	}
	return list
}

// gateRow is the row of runs that share model, level and exit setting.
func gateRow(runs []*done) GateRow {
	row := GateRow{
		Model: runs[0].Model, Level: runs[0].Level, ExitGate: runs[0].ExitGate,
		Metrics: stat.Measure(observations(runs)), Queries: []QueryRow{},
	}
	index := map[string]int{}
	for _, d := range runs {
		if d.Counts == nil {
			row.Excluded++
			continue
		}
		row.Counts = row.Counts.Add(*d.Counts)
		row.Hard.add(d)
		i, seen := index[d.Query]
		if !seen {
			i = len(row.Queries)
			index[d.Query], row.Queries = i, append(row.Queries, QueryRow{Query: d.Query})
		}
		row.Queries[i].Counts = row.Queries[i].Counts.Add(*d.Counts)
	}
	return row
}

func (h *HardRow) add(d *done) {
	for _, turn := range d.Hard {
		if turn <= len(d.turns) && d.turns[turn-1].Parsed { // the exit gate may have stopped before it
			h.Turns++
			h.Yes += one(d.turns[turn-1].Update)
		}
	}
}
