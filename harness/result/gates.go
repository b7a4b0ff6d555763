package result

import (
	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/harness/stat/confidence"
)

// gateRows has a row for each model, level and exit setting of which there is a run.
func gateRows(s *summary) (rows []GateRow) {
	for _, m := range s.plan.Spec.Models {
		for _, level := range s.plan.Spec.Levels.Value {
			for _, exit := range s.plan.Spec.ExitGate.Value {
				if of := selected(s.runs, m.ID.Value, level, exit); len(of) > 0 {
					rows = append(rows, gateRow(of, unitOf(s)))
				}
			}
		}
	}
	return rows
}

// unitOf is what intervals hold for: that of the spec's decision.
func unitOf(s *summary) stat.Unit { return plan.Rule(s.plan.Spec.Decision).Unit }

func selected(runs []*runData, model string, level spec.Level, exit string) []*runData {
	return only(runs, func(d *runData) bool { return d.Model == model && d.Level == level && d.ExitGate == exit })
}

func only(runs []*runData, wanted func(*runData) bool) (list []*runData) {
	for _, d := range runs {
		if wanted(d) {
			list = append(list, d)
		}
	}
	return list
}

// gateRow is the row of runs that share model, level and exit setting.
func gateRow(runs []*runData, unit stat.Unit) GateRow {
	row := GateRow{
		Model: runs[0].Model, Level: runs[0].Level, ExitGate: runs[0].ExitGate,
		Metrics: stat.Collect(observations(runs)).Measure(unit), Queries: []QueryRow{},
	}
	index := map[string]int{}
	var sure []confidence.Turn
	for _, d := range runs {
		if d.Counts == nil {
			row.Excluded++
			continue
		}
		sure = append(sure, d.sure...)
		row.Counts = row.Counts.Add(*d.Counts)
		row.Hard.add(d)
		i, seen := index[d.Query]
		if !seen {
			i = len(row.Queries)
			index[d.Query], row.Queries = i, append(row.Queries, QueryRow{Query: d.Query})
		}
		row.Queries[i].Counts = row.Queries[i].Counts.Add(*d.Counts)
	}
	row.Confidence = confidence.Of(sure)
	return row
}

func (h *HardRow) add(d *runData) {
	for _, turn := range d.Hard {
		if turn <= len(d.turns) && d.turns[turn-1].Parsed { // the exit gate may have stopped before it
			h.Turns++
			h.Yes += count(d.turns[turn-1].Update)
		}
	}
}
