package page

import (
	"fmt"
	"strings"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/render/internal/layout"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/harness/stat"
)

// timeline is a run as a strip of turns: evidence marked, what the update gate said, exits,
// and the memory's size as a line under its budget. Shapes say what colours say.
type timeline struct {
	Run                        result.Run
	Order                      int    // in the result
	Width                      int    // of the drawing; a short run is shown twice as large
	Marks, Yes, No, Bad, Exits string // SVG paths
	Line                       string // points of the memory's polyline
	BudgetY                    float64
	Alt                        string

	turns int
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

// drawing draws a timeline turn by turn.
type drawing struct {
	run                              result.Run
	budget                           int // of the memory, in tokens
	marks, yes, no, bad, exits, line strings.Builder
	turns, saidYes, saidEnd          int
}

func newDrawing(run result.Run, budget int) *drawing {
	d := &drawing{run: run, budget: budget}
	for _, n := range run.Evidence {
		fmt.Fprintf(&d.marks, "M%d %dh4l-2 5z", x(n-1), rowMark)
	}
	return d
}

func x(turn int) int { return 1 + turn*turnWidth }

func memoryY(tokens, budget int) float64 {
	return rowMemory - (rowMemory-memoryTop)*min(float64(tokens)/float64(max(budget, 1)), 1)
}

// add draws one column. A full box is yes, a flat one no; a cross is a turn that never
// parsed. A wrong decision stands in the path of wrong ones.
func (d *drawing) add(turn stat.Turn) {
	left := x(d.turns)
	switch {
	case !turn.Parsed:
		fmt.Fprintf(&d.bad, "M%d %dl4 10m0 -10l-4 10", left, rowGate)
	case turn.Update:
		fmt.Fprintf(d.path(turn), "M%d %dh4v10h-4z", left, rowGate)
	default:
		fmt.Fprintf(d.path(turn), "M%d %dh4v3h-4z", left, rowGate+7)
	}
	if turn.Exit {
		fmt.Fprintf(&d.exits, "M%d %dl4 4l-4 4z", left, rowExit)
		d.saidEnd++
	}
	if turn.Update {
		d.saidYes++
	}
	fmt.Fprintf(&d.line, "%d,%.1f ", left+2, memoryY(turn.MemoryTokens, d.budget))
	d.turns++
}

// path is where the decision of a parsed turn is drawn.
func (d *drawing) path(turn stat.Turn) *strings.Builder {
	switch {
	case turn.Update != turn.Evidence:
		return &d.bad
	case turn.Update:
		return &d.yes
	}
	return &d.no
}

func (d *drawing) timeline() timeline {
	return timeline{
		Run: d.run, Width: turnWidth*max(d.run.Chunks, d.turns, 1) + 2, BudgetY: memoryTop,
		Marks: d.marks.String(), Yes: d.yes.String(), No: d.no.String(), Bad: d.bad.String(), Exits: d.exits.String(),
		Line: strings.TrimSpace(d.line.String()), Alt: d.describe(), turns: d.turns,
	}
}

// describe is the strip in words, for those who do not see it.
func (d *drawing) describe() string {
	return fmt.Sprintf("%s, %d with evidence; update gate said yes %d times, exit gate end %d times; %s not written, %s not parsed",
		diag.Count(d.turns, "turn"), len(d.run.Evidence), d.saidYes, d.saidEnd,
		diag.Count(d.run.Troubles.Missed, "evidence turn"), diag.Count(d.run.Troubles.NotParsed, "turn"))
}

// Troubles says what is wrong with a run, in a few words.
func (t timeline) Troubles() string {
	var list []string
	add := func(n int, what string) {
		if n > 0 {
			list = append(list, fmt.Sprintf("%d %s", n, what))
		}
	}
	if t.Run.State != record.Complete {
		list = append(list, string(t.Run.State)+": "+layout.Clean(t.Run.Reason))
	}
	w := t.Run.Troubles
	add(w.Missed, "missed")
	add(w.FalseWrites, "written without evidence")
	add(w.NotParsed, "not parsed")
	if w.EarlyExit {
		list = append(list, "exit too early")
	}
	add(w.Flips, "flips between trials")
	return strings.Join(list, ", ")
}

// Scale is how large the strip is shown.
func (t timeline) Scale() int {
	if t.turns > 60 {
		return 1
	}
	return 2
}

// ShownWidth is in pixels.
func (t timeline) ShownWidth() int { return t.Scale() * t.Width }

// ShownHeight is in pixels.
func (t timeline) ShownHeight() int { return t.Scale() * (rowMemory + 4) }

// Badness is for the script to sort by.
func (t timeline) Badness() int { return t.Run.Badness() }
