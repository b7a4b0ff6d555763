package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/poimen-memory/mem/harness"
)

// progress shows how far an experiment is: as a bar to a person, as a line when it is
// over to a log, and there another when a long wait begins.
type progress struct {
	w     io.Writer
	moves bool // a bar
	quiet bool

	mu     sync.Mutex
	last   harness.Progress
	bar    *progressbar.ProgressBar // of the experiment in hand, or nil
	status func() string            // of its live models; nil: it has none
	done   chan struct{}            // closed when it is over
	told   time.Time                // the latest end of a wait that was said
}

func newProgress(w io.Writer, quiet bool) *progress {
	moves := isTerminal(w) && os.Getenv("CI") == "" && os.Getenv("TERM") != "dumb"
	return &progress{w: w, moves: moves, quiet: quiet}
}

// begin is called before an experiment. One with live models has a status, which changes
// also while no turn ends.
func (p *progress) begin(status func() string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status, p.done = status, make(chan struct{})
	if status != nil && p.moves && !p.quiet {
		go p.redraw(p.done)
	}
}

func (p *progress) redraw(done chan struct{}) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return
		case <-ticker.C:
			p.mu.Lock()
			if p.bar != nil {
				p.draw()
			}
			p.mu.Unlock()
		}
	}
}

// at is a harness.Config.Progress.
func (p *progress) at(now harness.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
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
	p.draw()
}

// draw is called with mu held. A bar that cannot be drawn is no reason to stop.
func (p *progress) draw() {
	if p.status != nil {
		p.bar.Describe(p.last.Experiment + ": " + p.status())
	}
	p.bar.Set(p.last.Turns)
}

// longWait is one that a person would wonder about.
const longWait = 30 * time.Second

// waiting is told of a call that waits to be tried again. A bar's status says it anyway.
func (p *progress) waiting(model string, until time.Time, why error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	wait := time.Until(until)
	if p.moves || p.quiet || wait < longWait || until.Before(p.told.Add(longWait)) {
		return
	}
	p.told = until
	fmt.Fprintf(p.w, "%s: %s waits %v, until %s, before it asks again: %v\n",
		p.last.Experiment, model, wait.Round(time.Second), until.Format(time.TimeOnly), why)
}

// end is called when an experiment is over.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.done)
	if p.bar != nil {
		p.bar.Clear()
		p.bar = nil
		return
	}
	if !p.quiet {
		fmt.Fprintf(p.w, "%s: %d of %d runs, %d turns\n", p.last.Experiment, p.last.Runs, p.last.OfAll, p.last.Turns)
	}
}
