package harness

import (
	"context"
	"iter"
	"runtime"
	"time"

	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/journal"
	"github.com/poimen-memory/mem/prompt"
)

// Config is how experiments are run. Models and Counter are required.
type Config struct {
	// Models makes the model of one run. Counter makes the token counter that a spec asks for.
	Models  func(ModelFor) (loop.Model, error)
	Counter func(spec.Tokenizer) (Counter, error)

	Out      string                               // folder for reports; empty: "reports"
	Parallel int                                  // runs at a time; 0: one a CPU
	Select   func(Cell) bool                      // which runs; nil: all. What an L2 run rests on is run in any case
	Template string                               // of prompts; empty: Figure 10a
	Live     bool                                 // run live models; without it they are skipped
	Resume   bool                                 // go on where live runs were interrupted
	Fresh    bool                                 // take away live results and begin anew
	Loop     Loop                                 // nil: loop.Run. A broken twin goes in here
	FailFast bool                                 // begin no run after one that failed; one run at a time, so that it is known which
	Timed    func(run string, took time.Duration) // called when a run is over, from any goroutine; or nil
	Progress func(Progress)                       // called from one goroutine at a time, or nil
}

// Counter counts in one vocabulary, by whose name reports and logs go.
type Counter interface {
	prompt.Counter
	Name() string
}

// Loop is loop.Run's shape.
type Loop func(context.Context, loop.Config, string, iter.Seq2[prompt.Chunk, error]) (loop.Outcome, error)

// Progress is how far an experiment is: turns of the runs that are to be run. The total
// is a bound, for an enforced exit gate stops early.
type Progress struct {
	Experiment  string
	Turns, Of   int
	Runs, OfAll int
}

// Truth is what an oracle may know of one chunk. Only the factory of models sees it.
type Truth struct {
	Evidence bool   // the chunk overlaps a label of the query
	Last     bool   // it is the last such chunk, t*
	Excerpt  string // the label's bytes in this chunk
}

// ModelFor is the run that a model is made for. Truth has one entry a chunk.
type ModelFor struct {
	Spec   *spec.Spec
	Model  *spec.Model
	Cell   Cell
	Header journal.Header // of the run's journal: what a recording must agree with
	Truth  []Truth
	Budget prompt.Budget
	Count  prompt.Counter
}

func (c Config) withDefaults() Config {
	if c.Out == "" {
		c.Out = "reports"
	}
	if c.Parallel == 0 {
		c.Parallel = runtime.NumCPU()
	}
	if c.FailFast {
		c.Parallel = 1
	}
	if c.Select == nil {
		c.Select = func(Cell) bool { return true }
	}
	if c.Template == "" {
		c.Template = prompt.Figure10a
	}
	if c.Loop == nil {
		c.Loop = loop.Run
	}
	if c.Timed == nil {
		c.Timed = func(string, time.Duration) {}
	}
	if c.Progress == nil {
		c.Progress = func(Progress) {}
	}
	return c
}
