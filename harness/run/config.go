package run

import (
	"context"
	"iter"
	"runtime"
	"time"

	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/journal"
	"github.com/poimen-memory/mem/prompt"
	"github.com/poimen-memory/mem/scripted"
)

// Config says how runs are executed. Models is required.
type Config struct {
	Models   func(ModelFor) (loop.Model, error)   // makes the model of one run
	Parallel int                                  // runs at a time; 0: one a CPU
	Live     bool                                 // run live models; without it they are left as they are
	Resume   bool                                 // continue the records of live runs
	Extend   bool                                 // with Resume: keep what is unchanged of sessions that have grown
	FailFast bool                                 // begin no run after one that failed; one run at a time
	Failed   func(*plan.Run) bool                 // with FailFast: whether the record of a run that ended fails a check; nil: none does
	Stopped  bool                                 // with FailFast: something failed before the first run
	Loop     Loop                                 // nil: loop.Run. Tests put broken implementations here
	Timed    func(run string, took time.Duration) // called when a run is over, from any goroutine; or nil
	Progress func(Progress)                       // called from one goroutine at a time; or nil
}

// Loop has the shape of loop.Run.
type Loop func(context.Context, loop.Config, string, iter.Seq2[prompt.Chunk, error]) (loop.Outcome, error)

// Progress is how far an experiment is, over the runs to execute. Of is a bound, for an
// enforced exit gate stops early.
type Progress struct {
	Experiment     string
	Turns, Of      int
	Asked, OfAsked int // of them those of runs that ask a server, which take the time
	Runs, OfAll    int
}

// ModelFor is the run that a model is made for. Truth has one entry for each chunk.
type ModelFor struct {
	Spec   *spec.Spec
	Model  *spec.Model
	Cell   plan.Cell
	Header journal.Header // of the run's journal: what a recording must agree with
	Truth  []scripted.Truth
	Budget prompt.Budget
	Count  prompt.Counter
}

func (c Config) withDefaults() Config {
	if c.Parallel == 0 {
		c.Parallel = runtime.NumCPU()
	}
	if c.FailFast {
		c.Parallel = 1
	}
	if c.Failed == nil {
		c.Failed = func(*plan.Run) bool { return false }
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
