package render

import (
	"fmt"
	"io"

	"github.com/poimen-memory/mem/harness/inspect"
	"github.com/poimen-memory/mem/harness/result"
)

// Run shows the turns of a run in a table. command with the run's name shows it.
func Run(w io.Writer, as Terminal, from inspect.Reader, run result.Run, command string) error {
	var turns []inspect.Turn
	for t, err := range from.Turns(run) {
		if err != nil {
			return err
		}
		t.Chunk, t.Calls = nil, nil // not shown: a run may be long
		turns = append(turns, t)
	}
	return Turns(w, as, run, turns, command+" "+run.Name)
}

// Wrong shows all turns of runs that are wrong in one of the ways, way by way.
func Wrong(w io.Writer, as Terminal, from inspect.Reader, runs []result.Run, ways []result.Mistake) error {
	found := 0
	for way, turns := range from.Wrong(runs, ways...) {
		first := true
		for t, err := range turns {
			if err != nil {
				return err
			}
			if first {
				if err := wrongTurns(w, as, way); err != nil {
					return err
				}
			}
			first = false
			found++
			if err := Turn(w, as, t); err != nil {
				return err
			}
			fmt.Fprintln(w)
		}
	}
	if found == 0 {
		fmt.Fprintln(w, "no turn is wrong")
	}
	return nil
}
