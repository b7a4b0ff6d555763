package main

import (
	"io"
	"os"
	"strconv"

	"golang.org/x/term"

	"github.com/poimen-memory/mem/harness/render"
)

// terminal says how to write to w. To a file or a pipe there is no colour, and no width
// but one that COLUMNS asks for.
func terminal(w io.Writer, quiet bool) render.Terminal {
	return render.Terminal{Width: width(w), Colour: isTerminal(w) && !plain(), Quiet: quiet}
}

// plain holds where colours and moving bars are unwanted (no-color.org) or would be noise.
func plain() bool { return os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" }

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// width is in columns; 0 is unknown.
func width(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil {
			return columns
		}
	}
	columns, err := strconv.Atoi(os.Getenv("COLUMNS"))
	if err != nil {
		return 0
	}
	return max(columns, 0)
}
