package result

import (
	"slices"

	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/harness/synth"
)

// LengthRow is a GateRow over the samples of one length of a synthetic corpus. Its metrics
// end with FinalMemory and Calls.
type LengthRow struct {
	Corpus string `json:"corpus"`
	Length int    `json:"length"` // tokens of a session, at most
	Calls  int    `json:"calls"`  // of all its complete runs
	GateRow
	Depths []DepthRow `json:"depths"` // parts of the text; none where all samples of the corpus stand in one
}

// LengthName is the length as specs write it: 8k is 8192 tokens.
func (row LengthRow) LengthName() string { return synth.Length(row.Length) }

// DepthRow is the runs of a LengthRow whose first needle that is asked for stands in one
// part of the text. All turns of a run count there, wherever its other needles stand.
type DepthRow struct {
	From     int           `json:"from_percent"`
	To       int           `json:"to_percent"`
	Evidence int           `json:"evidence"` // turns on evidence of complete runs, those after an enforced exit included
	Written  int           `json:"written"`  // of them, how many said yes and changed the memory
	Runs     int           `json:"runs"`     // complete
	Excluded int           `json:"excluded_runs"`
	Metrics  []stat.Metric `json:"metrics"` // those of Mapped
}

// What a LengthRow and a DepthRow measure beside the metrics of stat: means over complete
// runs, with an interval over queries.
const (
	FinalMemory = "final_memory" // tokens
	Calls       = "calls"
)

// Mapped are the metrics that are measured at each depth, in the order of their importance.
func Mapped() []string {
	return []string{"recall_committed", "specificity_strict", "exit_useful", "exit_timely", "first_try_parse", FinalMemory, Calls}
}

// Metric is the row's metric of that name; ok is false if it has none.
func (row DepthRow) Metric(name string) (e stat.Estimate, ok bool) {
	return metricNamed(row.Metrics, name)
}

// depthStep is how much of a text a DepthRow is about, in percent.
const depthStep = 20

// lengthRows has rows for the corpora whose lengths or depths were chosen to be compared, in
// the order of the spec, for each model, level and exit setting by length.
func lengthRows(s *summary) (rows []LengthRow) {
	for _, c := range s.plan.Spec.Corpora {
		l := newLengthGrid(c, s.runs, unitOf(s))
		if len(l.lengths) < 2 && !l.deep {
			continue
		}
		for _, m := range s.plan.Spec.Models {
			for _, level := range s.plan.Spec.Levels.Value {
				for _, exit := range s.plan.Spec.ExitGate.Value {
					rows = l.appendRows(rows, selected(l.runs, m.ID.Value, level, exit))
				}
			}
		}
	}
	return rows
}

// lengthGrid is the runs over one synthetic corpus, by length and depth.
type lengthGrid struct {
	runs    []*runData
	lengths []int // ascending
	unit    stat.Unit
	deep    bool // they stand at more than one depth
}

// newLengthGrid is empty for a corpus of which the spec asks neither lengths nor a grid of depths.
func newLengthGrid(c spec.Corpus, runs []*runData, unit stat.Unit) (l lengthGrid) {
	l.unit = unit
	if c.Synth == nil || !c.Synth.Lengths.Present() && c.Synth.Depth.Value != "grid" {
		return l
	}
	for _, d := range runs {
		if d.Corpus == c.ID.Value && d.Length > 0 { // an L2 run over memories has no length
			l.runs, l.lengths = append(l.runs, d), append(l.lengths, d.Length)
			l.deep = l.deep || depthPart(d) != depthPart(l.runs[0])
		}
	}
	slices.Sort(l.lengths)
	l.lengths = slices.Compact(l.lengths)
	return l
}

// depthPart is the index of the part of the text in which a run's first needle stands.
func depthPart(d *runData) int { return min(int(d.Depth)/depthStep, 100/depthStep-1) }

func (l lengthGrid) appendRows(rows []LengthRow, runs []*runData) []LengthRow {
	for _, length := range l.lengths {
		if of := only(runs, func(d *runData) bool { return d.Length == length }); len(of) > 0 {
			rows = append(rows, l.row(of))
		}
	}
	return rows
}

func (l lengthGrid) row(runs []*runData) LengthRow {
	row := LengthRow{Corpus: runs[0].Corpus, Length: runs[0].Length, GateRow: gateRow(runs, l.unit), Depths: []DepthRow{}}
	row.Metrics = append(row.Metrics, amounts(runs)...)
	for _, d := range counted(runs) {
		row.Calls += d.Calls
	}
	for part := 0; l.deep && part < 100/depthStep; part++ {
		row.Depths = append(row.Depths, depthRow(l.unit, part, only(runs, func(d *runData) bool { return depthPart(d) == part })))
	}
	return row
}

func depthRow(unit stat.Unit, part int, runs []*runData) DepthRow {
	row := DepthRow{From: part * depthStep, To: (part + 1) * depthStep, Runs: len(counted(runs)), Metrics: mapped(runs, unit)}
	row.Excluded = len(runs) - row.Runs
	for _, d := range counted(runs) {
		row.Evidence += len(d.Run.Evidence)
		for _, turn := range d.turns {
			row.Written += count(turn.Evidence && turn.Written)
		}
	}
	return row
}

// mapped is what is measured at a depth.
func mapped(runs []*runData, unit stat.Unit) (list []stat.Metric) {
	all := append(stat.Collect(observations(runs)).Measure(unit), amounts(runs)...)
	for _, name := range Mapped() {
		e, _ := metricNamed(all, name)
		if len(runs) == 0 {
			e = stat.Estimate{Reason: "no sample"}
		}
		list = append(list, stat.Metric{Name: name, Estimate: e})
	}
	return list
}

func amounts(runs []*runData) []stat.Metric {
	return []stat.Metric{
		{Name: FinalMemory, Estimate: mean(runs, func(d *runData) int { return d.MemoryTokens })},
		{Name: Calls, Estimate: mean(runs, func(d *runData) int { return d.Calls })},
	}
}

// mean is over complete runs.
func mean(runs []*runData, of func(*runData) int) stat.Estimate {
	var cells []stat.Cell
	for _, d := range counted(runs) {
		run := observe(d.Run, nil)
		cells = append(cells, stat.Cell{Query: run.Query, Session: run.Session, X: float64(of(d)), N: 1, K: 1})
	}
	e := stat.Mean(cells, "no complete runs")
	if e.Lower != nil {
		*e.Lower = max(0, *e.Lower) // no run has less
	}
	return e
}

// counted are the runs that ended: those with counts.
func counted(runs []*runData) []*runData {
	return only(runs, func(d *runData) bool { return d.Counts != nil })
}
