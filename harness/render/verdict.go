package render

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/loop/eventlog"
)

// Verdict is a verdict for people, without control characters.
func Verdict(v record.Verdict) string {
	line := fmt.Sprintf("%-11s  %4d turns  %s", v.State, v.Turns, v.Place())
	if v.State == eventlog.Corrupt {
		line += ": " + v.Rule
	}
	if v.Note == "" {
		return Printable(line)
	}
	return Printable(line) + "\n  " + Printable(v.Note)
}

// Printable shows control characters as escapes.
func Printable(line string) string {
	var b strings.Builder
	for _, r := range line {
		if strconv.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	return b.String()
}
