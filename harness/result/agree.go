package result

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/record"
)

// disagreement says in what a record was made under other circumstances than the plan has;
// "" if it may be judged by it. Labels, answers and thresholds are no such circumstance,
// except to a model that was told them.
func (t *runFold) disagreement(rec *record.Record) string {
	want := t.plan.Header(t.planned, t.input)
	scripted := !rec.Header.Live()
	if scripted == t.planned.Live() {
		return fmt.Sprintf("it is of %s, and the spec's model is not", map[bool]string{true: "a scripted model", false: "a live model"}[scripted])
	}
	labels := changedLabels(rec.Header.Model, want.Model)
	if diff := rec.Header.Difference(want, scripted); diff != "" {
		return diff
	}
	switch {
	case labels != "":
		return labels // those of a chunk change with the session and its chunks too
	case t.foreign > 0 && !rec.Header.Chained():
		return fmt.Sprintf("the chunk of turn %d is another now", t.foreign)
	}
	return t.otherAnswer
}

// changedLabels compares the labels that a model was told, and takes their digest out of both
// headers. Records of schema 1, and of models that are told none, do not hold it.
func changedLabels(recorded, want map[string]any) string {
	was, known := recorded["labels_sha"]
	is, reads := want["labels_sha"]
	delete(want, "labels_sha")
	if known {
		delete(recorded, "labels_sha")
	}
	if known && reads && was != is {
		return fmt.Sprintf("model %v was told labels that have changed", want["id"])
	}
	return ""
}

// disagree ends a run whose record is of other circumstances.
func (t *runFold) disagree(rec *record.Record, why string) {
	t.State = record.Misconfigured
	t.Reason = fmt.Sprintf("its record %s is of another experiment: %s; %s", filepath.ToSlash(rec.Path()), why, again(rec, t.planned))
	t.other = fmt.Sprintf("%s: %s", why, again(rec, t.planned))
}

// again is what makes a record that agrees with the spec.
func again(rec *record.Record, r *plan.Run) string {
	switch {
	case r.Live() && !rec.Header.Live():
		return "run mem eval --live --fresh, or give the experiment another name"
	case rec.Header.Live():
		return "judge it with the spec that it was made with, or ask again with mem eval --live --fresh"
	}
	return fmt.Sprintf("run mem eval, which executes model %s again", r.Model)
}

// OtherRecords is the error of judging records that were made under other circumstances.
type OtherRecords []OtherRecord

// OtherRecord is one of them.
type OtherRecord struct {
	Run string
	Why string // what differs, and the command that mends it
}

// Error has a line for each difference, with the records that have it.
func (e OtherRecords) Error() string {
	const shown = 10
	var whys []string // in the order of the records
	runs := map[string][]string{}
	for _, r := range e {
		if runs[r.Why] == nil {
			whys = append(whys, r.Why)
		}
		runs[r.Why] = append(runs[r.Why], r.Run)
	}
	text := "records that the spec does not describe:"
	for _, why := range whys[:min(len(whys), shown)] {
		same := runs[why]
		text += fmt.Sprintf("\n  %s: %s", same[0], why)
		if rest := same[1:]; len(rest) > 0 {
			named := rest[:min(len(rest), shown)]
			text += "\n    the same: " + strings.Join(named, ", ")
			if more := len(rest) - len(named); more > 0 {
				text += fmt.Sprintf(" and %d more", more)
			}
		}
	}
	if more := len(whys) - shown; more > 0 {
		text += fmt.Sprintf("\n  and %d more differences", more)
	}
	return text
}

// Troubles is what went wrong in a run, by the labels.
type Troubles struct {
	Missed      int  `json:"missed,omitempty"`                   // turns on evidence that were not written
	FalseWrites int  `json:"written_without_evidence,omitempty"` // turns
	NotParsed   int  `json:"not_parsed,omitempty"`               // turns
	EarlyExit   bool `json:"early_exit,omitempty"`               // the exit gate opened before the last evidence
	Flips       int  `json:"flips,omitempty"`                    // turns on which the trials of this run disagree
}

func troublesOf(d *runData) (t Troubles) {
	for _, turn := range d.turns {
		t.Missed += count(turn.Evidence && !turn.Written)
		t.FalseWrites += count(!turn.Evidence && turn.Written)
		t.NotParsed += count(!turn.Parsed)
	}
	t.EarlyExit = d.Counts != nil && d.Counts.ExitEarly > 0
	return t
}

// countFlips counts, for runs that differ in their trial alone, the turns on which the trials'
// update gates disagree.
func countFlips(runs []*runData) {
	trials := map[plan.Cell][]*runData{}
	for _, d := range runs {
		cell := d.Cell.WithoutTrial()
		trials[cell] = append(trials[cell], d)
	}
	for _, of := range trials {
		flips := flipsOf(of)
		for _, d := range of {
			d.Troubles.Flips = flips
		}
	}
}

func flipsOf(trials []*runData) (flips int) {
	var said [][2]bool // by turn: no was said, yes was said
	for _, d := range trials {
		for i, turn := range d.turns {
			if i == len(said) {
				said = append(said, [2]bool{})
			}
			if turn.Parsed {
				said[i][count(turn.Update)] = true
			}
		}
	}
	for _, s := range said {
		flips += count(s[0] && s[1])
	}
	return flips
}

// GoldensFail reports whether a golden prompt of the plan differs from its file.
func GoldensFail(p *plan.Plan) bool {
	for _, c := range judgeGoldens(p) {
		if c.Failed() {
			return true
		}
	}
	return false
}
