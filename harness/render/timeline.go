package render

import (
	"fmt"
	"strings"

	"github.com/poimen-memory/mem/harness"
)

// timeline is a run as a strip of turns: evidence marked, what the update gate said, exits,
// and the memory's size as a line under its budget. Shapes say what colours say.
type timeline struct {
	Run                        harness.Run
	Missed, False, Failed      int    // turns: evidence not written, noise written, not parsed
	Early                      bool   // the exit gate opened before the last evidence
	Flips                      int    // turns on which the trials of this run disagree
	Order                      int    // in the result
	Width                      int    // of the drawing; a short run is shown twice as large
	Marks, Yes, No, Bad, Exits string // SVG paths
	Line                       string // points of the memory's polyline
	BudgetY                    float64
	Alt                        string

	turns []Turn
}

// A turn is a column of the strip; rows from the top: evidence, update gate, exit gate,
// memory.
const (
	turnWidth = 6
	rowMark   = 2
	rowGate   = 12
	rowExit   = 28
	rowMemory = 70 // its floor
	memoryTop = 42
)

func newTimeline(run harness.Run, turns []Turn, budget int) timeline {
	t := timeline{Run: run, Width: turnWidth*max(run.Chunks, len(turns), 1) + 2, BudgetY: memoryTop, turns: turns}
	evidence := map[int]bool{}
	for _, n := range run.Evidence {
		evidence[n] = true
		t.Marks += fmt.Sprintf("M%d %dh4l-2 5z", x(n-1), rowMark)
	}
	var line strings.Builder
	for i, turn := range turns {
		t.turn(i, turn, evidence[i+1])
		fmt.Fprintf(&line, "%d,%.1f ", x(i)+2, memoryY(turn.Tokens, budget))
	}
	t.Line = strings.TrimSpace(line.String())
	t.exits(run)
	t.Alt = t.describe()
	return t
}

func x(turn int) int { return 1 + turn*turnWidth }

func memoryY(tokens, budget int) float64 {
	return rowMemory - (rowMemory-memoryTop)*min(float64(tokens)/float64(max(budget, 1)), 1)
}

// turn draws one column. A full box is yes, a flat one no; a cross is a turn that never
// parsed; a wrong word stands in the path of wrongs, lower than the right ones.
func (t *timeline) turn(i int, turn Turn, evidence bool) {
	wrong := turn.Parsed && turn.Update != evidence
	box := fmt.Sprintf("M%d %dh4v3h-4z", x(i), rowGate+7)
	if turn.Update {
		box = fmt.Sprintf("M%d %dh4v10h-4z", x(i), rowGate)
	}
	switch {
	case !turn.Parsed:
		t.Failed++
		t.Bad += fmt.Sprintf("M%d %dl4 10m0 -10l-4 10", x(i), rowGate)
	case wrong:
		t.Bad += box
	case turn.Update:
		t.Yes += box
	default:
		t.No += box
	}
	if turn.Exit {
		t.Exits += fmt.Sprintf("M%d %dl4 4l-4 4z", x(i), rowExit)
	}
	if evidence && !turn.Written {
		t.Missed++
	}
	if !evidence && turn.Written {
		t.False++
	}
}

func (t *timeline) exits(run harness.Run) {
	if run.Counts != nil {
		t.Early = run.Counts.ExitEarly > 0
	}
}

// badness orders runs: missed evidence and premature exits weigh most, for what was not
// written or read is lost.
func (t timeline) badness() int {
	bad := 4*t.Missed + 2*t.Failed + t.False + 2*t.Flips
	if t.Early {
		bad += 4
	}
	if t.Run.State != harness.Complete {
		bad += 1000
	}
	return bad
}

// describe is the strip in words, for those who do not see it.
func (t timeline) describe() string {
	yes, exits := 0, 0
	for _, turn := range t.turns {
		yes += one(turn.Update)
		exits += one(turn.Exit)
	}
	return fmt.Sprintf("%s, %d with evidence; update gate said yes %d times, exit gate end %d times; %s, %s",
		plural(len(t.turns), "turn"), len(t.Run.Evidence), yes, exits,
		plural(t.Missed, "evidence turn")+" not written", plural(t.Failed, "turn")+" not parsed")
}

// Troubles says what is wrong with a run, in a few words.
func (t timeline) Troubles() string {
	var list []string
	add := func(n int, what string) {
		if n > 0 {
			list = append(list, fmt.Sprintf("%d %s", n, what))
		}
	}
	if t.Run.State != harness.Complete {
		list = append(list, string(t.Run.State)+": "+clean(t.Run.Reason))
	}
	add(t.Missed, "missed")
	add(t.False, "written without evidence")
	add(t.Failed, "not parsed")
	if t.Early {
		list = append(list, "exit too early")
	}
	add(t.Flips, "flips between trials")
	return strings.Join(list, ", ")
}

// Scale is how large the strip is shown.
func (t timeline) Scale() int {
	if len(t.turns) > 60 {
		return 1
	}
	return 2
}

// ShownWidth is in pixels.
func (t timeline) ShownWidth() int { return t.Scale() * t.Width }

// ShownHeight is in pixels.
func (t timeline) ShownHeight() int { return t.Scale() * (rowMemory + 4) }

// Badness is for the script to sort by.
func (t timeline) Badness() int { return t.badness() }
