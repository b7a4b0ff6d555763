package page

import (
	"fmt"
	"strings"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/render/internal/view"
	"github.com/poimen-memory/mem/harness/result"
)

// sureGate is the probabilities of one gate: its ROC, and its calibration as a table.
type sureGate struct {
	grid
	Title, Facts string
	Line         string // of the ROC; empty: undefined
}

// sureGates has one for each gate of the rows that have any, and what is missing.
func sureGates(rows []result.GateRow) (list []sureGate, notes []string) {
	rows = view.SureRows(rows)
	for _, r := range rows {
		for i, s := range view.Summaries(r) {
			g := sureGate{
				Title: fmt.Sprintf("%s of %s, %s", []string{"P(yes)", "P(end)"}[i], r.Model, view.Setting(r)),
				Facts: fmt.Sprintf("%s, AUC %s, Brier %s, gap %s", diag.Count(s.Replies, "turn"), view.FormatRate(s.AUC), view.FormatRate(s.Brier), view.FormatRate(s.Gap)),
			}
			if s.AUC != nil {
				g.Line = view.ROCLine(s.ROC, 100)
			}
			if len(s.Bins) > 0 {
				g.grid = newGrid(view.Calibration(s))
			}
			list = append(list, g)
		}
	}
	for _, n := range view.ConfidenceNotes(rows) {
		notes = append(notes, n.Text+": "+strings.Join(n.Examples(), ", "))
	}
	return list, notes
}
