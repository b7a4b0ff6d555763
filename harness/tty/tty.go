// Package tty says what stream a command writes to, and pages long output on a terminal.
package tty

import (
	"errors"
	"io"
	"os"
	"strconv"

	"golang.org/x/term"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/render"
)

// Colour says when colours are written.
type Colour string

// The values of Colour. Auto is to a terminal, unless NO_COLOR is set or TERM is dumb.
const (
	Auto   Colour = "auto"
	Always Colour = "always"
	Never  Colour = "never"
)

// String, Type and Set make a Colour the value of a flag.
func (c Colour) String() string { return string(c) }

func (Colour) Type() string { return "WHEN" }

// Set takes auto, always or never. The error lists them.
func (c *Colour) Set(s string) error {
	switch to := Colour(s); to {
	case Auto, Always, Never:
		*c = to
		return nil
	}
	return errors.New(diag.OneOf(s, []string{string(Auto), string(Always), string(Never)}))
}

// Terminal says how to write to w. To a file or a pipe there is no colour unless it is asked for,
// and no width but one that COLUMNS asks for.
func Terminal(w io.Writer, when Colour) render.Terminal {
	return render.Terminal{Width: width(w), Colour: when == Always || when != Never && Is(w) && !plain()}
}

// plain holds where colours are unwanted (no-color.org).
func plain() bool { return os.Getenv("NO_COLOR") != "" || dumb() }

func dumb() bool { return os.Getenv("TERM") == "dumb" }

// Animated reports whether a stream is a terminal on which progress may be redrawn.
func Animated(stream any) bool { return Is(stream) && os.Getenv("CI") == "" && !dumb() }

// Is reports whether a stream is a terminal, also behind a filter.
func Is(stream any) bool {
	f, ok := file(stream)
	return ok && term.IsTerminal(int(f.Fd()))
}

// file is the file behind a stream, also behind a filter.
func file(stream any) (*os.File, bool) {
	if filter, ok := stream.(interface{ Unwrap() io.Writer }); ok {
		stream = filter.Unwrap()
	}
	f, ok := stream.(*os.File)
	return f, ok
}

// width is in columns; 0 is unknown.
func width(w io.Writer) int {
	if f, ok := file(w); ok {
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
