package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/poimen-memory/mem/harness"
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

// progress shows how far an experiment is: as a bar to a person, as a line when it is
// over to a log.
type progress struct {
	w     io.Writer
	moves bool // a bar
	quiet bool
	last  harness.Progress
	bar   *progressbar.ProgressBar // of the experiment in hand, or nil
}

func newProgress(w io.Writer, quiet bool) *progress {
	moves := isTerminal(w) && os.Getenv("CI") == "" && os.Getenv("TERM") != "dumb"
	return &progress{w: w, moves: moves, quiet: quiet}
}

// at is a harness.Config.Progress.
func (p *progress) at(now harness.Progress) {
	p.last = now
	if !p.moves || p.quiet {
		return
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions(max(now.Of, 1),
			progressbar.OptionSetWriter(p.w), progressbar.OptionSetDescription(now.Experiment),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionShowCount(),
			progressbar.OptionClearOnFinish(), progressbar.OptionEnableColorCodes(false))
	}
	p.bar.Set(now.Turns) // a bar that cannot be drawn is no reason to stop
}

// end is called when an experiment is over.
func (p *progress) end() {
	if p.bar != nil {
		p.bar.Clear()
		p.bar = nil
		return
	}
	if !p.quiet {
		fmt.Fprintf(p.w, "%s: %d of %d runs, %d turns\n", p.last.Experiment, p.last.Runs, p.last.OfAll, p.last.Turns)
	}
}
