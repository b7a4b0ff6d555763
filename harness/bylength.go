package harness

import (
	"slices"

	"github.com/poimen-memory/mem/harness/spec"
)

// LengthRow is a GateRow over the samples of one length of a synthetic corpus.
type LengthRow struct {
	Corpus string `json:"corpus"`
	Length int    `json:"length"` // tokens of a session, at most
	Calls  int    `json:"calls"`  // of all its complete runs
	GateRow
	Depths []DepthRow `json:"depths"` // the parts of the text in which a sample's first needle stands
}

// DepthRow is the turns on evidence in complete runs whose first needle stands in one
// part of the text: how often the gate said yes and the memory was written.
type DepthRow struct {
	From     int `json:"from_percent"`
	To       int `json:"to_percent"`
	Evidence int `json:"evidence"`
	Written  int `json:"written"`
}

// depthStep is how much of a text a DepthRow is about, in percent.
const depthStep = 20

// byLength has rows for the corpora with a ladder of lengths, in the order of the spec,
// for each model, level and exit setting by length.
func (e *Experiment) byLength(runs []*done) (rows []LengthRow) {
	for _, c := range e.Spec.Corpora {
		if c.Synth == nil || !c.Synth.Lengths.Present() {
			continue
		}
		lengths := slices.Sorted(slices.Values(c.Synth.Lengths.Value))
		for _, m := range e.Spec.Models {
			for _, level := range e.Spec.Levels.Value {
				for _, exit := range e.Spec.ExitGate.Value {
					of := selected(runs, m.ID.Value, level, exit)
					for _, l := range lengths {
						rows = appendLength(rows, of, c.ID.Value, l)
					}
				}
			}
		}
	}
	return rows
}

func appendLength(rows []LengthRow, runs []*done, corpus string, length spec.Length) []LengthRow {
	var of []*done
	for _, d := range runs {
		if d.Corpus == corpus && d.Length == int(length) {
			of = append(of, d)
		}
	}
	if len(of) == 0 {
		return rows
	}
	row := LengthRow{Corpus: corpus, Length: int(length), GateRow: gateRow(of), Depths: []DepthRow{}}
	for from := 0; from < 100; from += depthStep {
		row.Depths = append(row.Depths, DepthRow{From: from, To: from + depthStep})
	}
	for _, d := range of {
		if d.Counts != nil {
			row.Calls += d.Calls
			row.Depths[min(int(d.Depth)/depthStep, len(row.Depths)-1)].add(d)
		}
	}
	return append(rows, row)
}

func (r *DepthRow) add(d *done) {
	r.Evidence += len(d.Run.Evidence)
	for _, turn := range d.turns {
		r.Written += one(turn.Evidence && turn.Written)
	}
}
