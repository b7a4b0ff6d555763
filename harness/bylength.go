package harness

import (
	"slices"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/stat"
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
func (row LengthRow) LengthName() string { return corpus.Length(row.Length) }

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
	return []string{"recall_committed", "specificity_strict", "exit_safe", "exit_timely", "first_try_parse", FinalMemory, Calls}
}

// Metric is the row's metric of that name; ok is false if it has none.
func (row DepthRow) Metric(name string) (e stat.Estimate, ok bool) {
	return metricNamed(row.Metrics, name)
}

// depthStep is how much of a text a DepthRow is about, in percent.
const depthStep = 20

// byLength has rows for the corpora whose lengths or depths were chosen to be compared, in
// the order of the spec, for each model, level and exit setting by length.
func (e *Experiment) byLength(runs []*done) (rows []LengthRow) {
	for _, c := range e.Spec.Corpora {
		l := newLadder(c, runs)
		if len(l.lengths) < 2 && !l.deep {
			continue
		}
		for _, m := range e.Spec.Models {
			for _, level := range e.Spec.Levels.Value {
				for _, exit := range e.Spec.ExitGate.Value {
					rows = l.appendRows(rows, selected(l.runs, m.ID.Value, level, exit))
				}
			}
		}
	}
	return rows
}

// ladder is the runs over one synthetic corpus, by length and depth.
type ladder struct {
	runs    []*done
	lengths []int // ascending
	deep    bool  // they stand at more than one depth
}

// newLadder is empty for a corpus of which the spec asks neither lengths nor a grid of depths.
func newLadder(c spec.Corpus, runs []*done) (l ladder) {
	if c.Synth == nil || !c.Synth.Lengths.Present() && c.Synth.Depth.Value != "grid" {
		return l
	}
	for _, d := range runs {
		if d.Corpus == c.ID.Value && d.Length > 0 { // an L2 run over memories has no length
			l.runs, l.lengths = append(l.runs, d), append(l.lengths, d.Length)
			l.deep = l.deep || d.part() != l.runs[0].part()
		}
	}
	slices.Sort(l.lengths)
	l.lengths = slices.Compact(l.lengths)
	return l
}

// part is the index of the part of the text in which a run's first needle stands.
func (d *done) part() int { return min(int(d.Depth)/depthStep, 100/depthStep-1) }

func (l ladder) appendRows(rows []LengthRow, runs []*done) []LengthRow {
	for _, length := range l.lengths {
		if of := only(runs, func(d *done) bool { return d.Length == length }); len(of) > 0 {
			rows = append(rows, l.row(of))
		}
	}
	return rows
}

func (l ladder) row(runs []*done) LengthRow {
	row := LengthRow{Corpus: runs[0].Corpus, Length: runs[0].Length, GateRow: gateRow(runs), Depths: []DepthRow{}}
	row.Metrics = append(row.Metrics, amounts(runs)...)
	for _, d := range counted(runs) {
		row.Calls += d.Calls
	}
	for part := 0; l.deep && part < 100/depthStep; part++ {
		row.Depths = append(row.Depths, depthRow(part, only(runs, func(d *done) bool { return d.part() == part })))
	}
	return row
}

func depthRow(part int, runs []*done) DepthRow {
	row := DepthRow{From: part * depthStep, To: (part + 1) * depthStep, Runs: len(counted(runs)), Metrics: mapped(runs)}
	row.Excluded = len(runs) - row.Runs
	for _, d := range counted(runs) {
		row.Evidence += len(d.Run.Evidence)
		for _, turn := range d.turns {
			row.Written += one(turn.Evidence && turn.Written)
		}
	}
	return row
}

// mapped is what is measured at a depth.
func mapped(runs []*done) (list []stat.Metric) {
	all := append(stat.Measure(observations(runs)), amounts(runs)...)
	for _, name := range Mapped() {
		e, _ := metricNamed(all, name)
		if len(runs) == 0 {
			e = stat.Estimate{Reason: "no sample"}
		}
		list = append(list, stat.Metric{Name: name, Estimate: e})
	}
	return list
}

func amounts(runs []*done) []stat.Metric {
	return []stat.Metric{
		{Name: FinalMemory, Estimate: mean(runs, func(d *done) int { return d.MemoryTokens })},
		{Name: Calls, Estimate: mean(runs, func(d *done) int { return d.Calls })},
	}
}

// mean is over complete runs.
func mean(runs []*done, of func(*done) int) stat.Estimate {
	index := map[string]int{}
	var queries []stat.Cluster
	for _, d := range counted(runs) {
		i, seen := index[d.Query]
		if !seen {
			i = len(queries)
			index[d.Query], queries = i, append(queries, stat.Cluster{})
		}
		queries[i].X += float64(of(d))
		queries[i].N++
	}
	e := stat.Mean(queries, "no complete runs")
	if e.Lower != nil {
		*e.Lower = max(0, *e.Lower) // no run has less
	}
	return e
}

// counted are the runs that ended: those with counts.
func counted(runs []*done) []*done {
	return only(runs, func(d *done) bool { return d.Counts != nil })
}
