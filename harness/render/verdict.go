package render

import (
	"fmt"

	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/internal/printable"
	"github.com/poimen-memory/mem/loop/eventlog"
)

// Verdict is a verdict for people, without control characters.
func Verdict(v record.Verdict) string {
	line := fmt.Sprintf("%-11s  %4d turns  %s", v.State, v.Turns, v.Place())
	if v.State == eventlog.Corrupt {
		line += ": " + v.Rule
	}
	if v.Note == "" {
		return printable.Line(line)
	}
	return printable.Line(line) + "\n  " + printable.Line(v.Note)
}
