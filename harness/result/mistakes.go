package result

import (
	"errors"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/record"
)

// Mistake is a way in which a turn is wrong.
type Mistake string

// The ways in which a turn may be wrong; it may be so in several.
const (
	NotParsed  Mistake = "not-parsed"  // no reply could be read
	OverBudget Mistake = "over-budget" // the candidate was refused for its length
	Missed     Mistake = "missed"      // the chunk is evidence and did not become memory
	Noise      Mistake = "noise"       // the chunk is not evidence and became memory
	EarlyExit  Mistake = "early-exit"  // the exit gate opened here first, before the last evidence
)

// Mistakes are all ways in which a turn may be wrong, those first that explain others.
func Mistakes() []Mistake { return []Mistake{NotParsed, OverBudget, Missed, Noise, EarlyExit} }

// Meaning is a sentence without a stop.
func (m Mistake) Meaning() string {
	return map[Mistake]string{
		NotParsed:  "no reply to this turn could be read",
		OverBudget: "the candidate was longer than a memory may be, and was refused",
		Missed:     "the chunk is evidence and was not written",
		Noise:      "the chunk is not evidence and was written",
		EarlyExit:  "the exit gate said end before the last evidence was read",
	}[m]
}

// Count is how many turns of a run are wrong in this way, where the summary says so: refused
// candidates are not counted by run.
func (t Troubles) Count(m Mistake) int {
	return map[Mistake]int{NotParsed: t.NotParsed, Missed: t.Missed, Noise: t.FalseWrites, EarlyExit: count(t.EarlyExit)}[m]
}

// Badness orders runs, the worst highest: one that is not complete, then missed evidence and
// premature exits, for what was not written or read is lost.
func (r Run) Badness() int {
	w := r.Troubles
	bad := 4*w.Missed + 2*w.NotParsed + w.FalseWrites + 2*w.Flips + 4*count(w.EarlyExit)
	if r.State != record.Complete {
		bad += 1000
	}
	return bad
}

// Mistakes are those of a turn, in the order of the function of that name. opens says whether
// the exit gate said end here for the first time; last is the run's last evidence turn, 0 for
// none.
func (t JudgedTurn) Mistakes(opens bool, last int) (list []Mistake) {
	wrong := map[Mistake]bool{
		NotParsed:  !t.Parsed,
		OverBudget: t.OverBudget != nil,
		Missed:     t.Judged.Evidence && !t.Written,
		Noise:      !t.Judged.Evidence && t.Written,
		EarlyExit:  opens && t.Number < last,
	}
	for _, m := range Mistakes() {
		if wrong[m] {
			list = append(list, m)
		}
	}
	return list
}

// ParseMistake is that of a name. The error lists the names.
func ParseMistake(name string) (Mistake, error) {
	var names []string
	for _, m := range Mistakes() {
		if string(m) == name {
			return m, nil
		}
		names = append(names, string(m))
	}
	return "", errors.New(diag.OneOf(name, names))
}
