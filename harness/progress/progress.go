// Package progress shows how far an evaluation is while it runs.
package progress

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/poimen-memory/mem/harness/run"
	"github.com/poimen-memory/mem/internal/printable"
)

// Display shows how far an experiment is: as a bar to a person, as a line when it is over to a
// log, and there another when a long wait begins.
type Display struct {
	W     io.Writer
	Moves bool // a bar, which needs a terminal
	Quiet bool // show nothing

	mu     sync.Mutex
	last   run.Progress
	bar    *progressbar.ProgressBar // of the experiment in hand, or nil
	status func() string            // of its live models; nil: it has none
	done   chan struct{}            // closed when it is over
	told   time.Time                // the latest end of a wait that was said
	rate   rate                     // of turns that ask a server
}

// Begin is called before an experiment. One with live models has a status, which changes
// also while no turn ends.
func (p *Display) Begin(status func() string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status, p.done, p.rate = status, make(chan struct{}), rate{}
	if status != nil && p.Moves && !p.Quiet {
		go p.redraw(p.done)
	}
}

func (p *Display) redraw(done chan struct{}) {
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

// At is a run.Config.Progress.
func (p *Display) At(now run.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = now
	if !p.Moves || p.Quiet {
		return
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions(max(p.size(), 1),
			progressbar.OptionSetWriter(p.W), progressbar.OptionSetDescription(now.Experiment),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionShowCount(),
			progressbar.OptionClearOnFinish(), progressbar.OptionEnableColorCodes(false),
			progressbar.OptionSetPredictTime(now.OfAsked == 0))
	}
	p.draw()
}

// draw is called with mu held. A bar that cannot be drawn is no reason to stop.
func (p *Display) draw() {
	if p.status != nil {
		p.bar.Describe(printable.Line(p.last.Experiment + ": " + p.status() + p.rate.left(time.Now(), p.last.Asked, p.last.OfAsked)))
	}
	p.bar.Set(p.turns())
}

// size and turns are what the bar counts: with live models only the turns that ask a server, for
// the others are over in an instant and say nothing about the time that is left.
func (p *Display) size() int {
	if p.last.OfAsked > 0 {
		return p.last.OfAsked
	}
	return p.last.Of
}

func (p *Display) turns() int {
	if p.last.OfAsked > 0 {
		return p.last.Asked
	}
	return p.last.Turns
}

// longWait is one that a person would wonder about.
const longWait = 30 * time.Second

// Waiting is told of a call that waits to be tried again. A bar's status says it anyway.
func (p *Display) Waiting(model string, until time.Time, why error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	wait := time.Until(until)
	if p.Moves || p.Quiet || wait < longWait || until.Before(p.told.Add(longWait)) {
		return
	}
	p.told = until
	printable.Fprintf(p.W, "%s: %s waits %v, until %s, before it asks again: %v\n",
		p.last.Experiment, model, wait.Round(time.Second), until.Format(time.TimeOnly), why)
}

// End is called when an experiment is over.
func (p *Display) End() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.done)
	if p.bar != nil {
		p.bar.Clear()
		p.bar = nil
		return
	}
	if !p.Quiet {
		fmt.Fprintf(p.W, "%s: %d of %d runs, %d turns\n", p.last.Experiment, p.last.Runs, p.last.OfAll, p.last.Turns)
	}
}
