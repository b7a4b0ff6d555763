// Package harness evaluates experiments: Prepare plans specs, Evaluate executes a plan's runs
// and summarizes what they left, Judge summarizes records again without executing anything.
//
// The packages below it are the steps, in order: spec, plan, run, record, result, render. This
// one puts them together and decides nothing itself.
package harness

import (
	"cmp"
	"context"
	"errors"
	"io"
	"path/filepath"
	"time"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/models"
	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/harness/run"
	"github.com/poimen-memory/mem/harness/shard"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/internal/printable"
	"github.com/poimen-memory/mem/loop"
)

// Config says how experiments are prepared and evaluated. The zero value evaluates scripted
// models into the folder reports.
type Config struct {
	Out      string                                 // folder for the experiments' folders; empty: reports
	Select   func(plan.Cell) bool                   // see plan.Config
	Template string                                 // see plan.Config
	Models   func(run.ModelFor) (loop.Model, error) // nil: those that the spec names
	Clients  *models.Clients                        // of live models; nil: none may run
	Run      run.Config                             // Models is set from above
	Shard    shard.Shard                            // the process is one of several: see TakeShare, which opens live models
	Fresh    bool                                   // move the records of live runs away and start again
	Since    time.Time                              // of an evaluation with Fresh: names the folder that holds the records that were moved
}

// Experiment is a spec that is ready to run.
type Experiment struct {
	*plan.Plan
	Models models.Set
	Folder record.Folder

	expected []string // ids of the live models that the shards of an evaluation ask
}

// Prepare plans all specs. Nothing may run unless all are right, so the error is a diag.Errors
// with what is wrong in any of them.
func Prepare(ctx context.Context, cfg Config, specs []*spec.Spec) ([]Experiment, error) {
	var all []Experiment
	var errs diag.Errors
	for _, s := range specs {
		e, wrong, err := prepareOne(ctx, cfg, s)
		if err != nil {
			return nil, err
		}
		all, errs = append(all, e), append(errs, wrong...)
	}
	return all, errs.Err()
}

// prepareOne's error is one that is not about the spec: ctx was cancelled.
func prepareOne(ctx context.Context, cfg Config, s *spec.Spec) (Experiment, diag.Errors, error) {
	set, errs := models.Load(s, cfg.Clients)
	p, err := plan.New(ctx, plan.Config{Counter: models.Counter, Select: cfg.Select, Template: cfg.Template}, s)
	if wrong, ok := errors.AsType[diag.Errors](err); ok {
		return Experiment{}, append(errs, wrong...), nil
	}
	if err != nil {
		return Experiment{}, errs, err
	}
	if cfg.Run.Live && cfg.Models == nil && !cfg.Shard.Given() {
		errs = append(errs, set.Open(ctx, s, p.Selected())...)
	}
	return Experiment{Plan: p, Models: set, Folder: record.Folder{Dir: filepath.Join(cfg.out(), s.Experiment.Value)}}, errs, nil
}

func (cfg Config) out() string { return cmp.Or(cfg.Out, "reports") }

// Advise writes what is no error and to be known before anything runs.
func Advise(w io.Writer, all []Experiment) {
	for _, e := range all {
		for _, line := range plan.Advice(e.Plan) {
			printable.Fprintf(w, "mem: warning: %s\n", line)
		}
	}
}

// Guard refuses to overwrite records of live models, and to resume those of sessions that have
// grown. Call it before the first experiment writes.
func (e Experiment) Guard(cfg Config) error {
	if cfg.Fresh {
		return nil
	}
	all, selected := e.Names()
	if !cfg.Run.Live {
		selected = e.scripted()
	}
	if err := e.Folder.Guard(all, selected, cfg.Run.Resume); err != nil || !cfg.Run.Live || !cfg.Run.Resume || cfg.Run.Extend {
		return err
	}
	grown, err := e.Grown()
	if err == nil && len(grown) > 0 {
		err = &run.GrownError{Dir: e.Folder.Dir, Grown: grown}
	}
	return err
}

// Grown are the live records of sessions that have grown.
func (e Experiment) Grown() ([]run.Growth, error) { return run.Grown(e.Plan, e.Folder) }

// scripted are the selected runs that an evaluation without live models executes.
func (e Experiment) scripted() (names []string) {
	for _, r := range e.Selected() {
		if !r.Live() {
			names = append(names, r.Name)
		}
	}
	return names
}

// Evaluate executes the selected runs, leaves their records in the experiment's folder and
// summarizes them. When ctx is cancelled the runs in progress finish their turn and the rest
// is not begun; the result says so. The error is about the folder.
func (e Experiment) Evaluate(ctx context.Context, cfg Config) (*result.Result, error) {
	if err := e.Guard(cfg); err != nil {
		return nil, err
	}
	if err := e.prepareFolder(cfg); err != nil {
		return nil, err
	}
	if cfg.Run.Models = cfg.Models; cfg.Models == nil {
		cfg.Run.Models = e.Models.Model
	}
	if cfg.Run.FailFast {
		cfg.Run.Stopped = result.GoldensFail(e.Plan)
		cfg.Run.Failed = func(r *plan.Run) bool { return result.Fails(e.Plan, e.Folder, r) }
	}
	unrecorded := run.Execute(ctx, cfg.Run, e.Plan, e.Folder)
	r, err := result.Summarize(e.Plan, e.Folder, result.Config{Unrecorded: unrecorded, Unused: e.unused()})
	if err != nil {
		return nil, err
	}
	return r, record.AddLooks(e.Folder, r.Looks(e.Plan))
}

// prepareFolder makes the folder ready, with fresh after live records were moved away.
func (e Experiment) prepareFolder(cfg Config) error {
	if err := e.Folder.Make(); err != nil {
		return err
	}
	if cfg.Fresh {
		paid, err := e.Paid()
		if err != nil {
			return err
		}
		if err := record.Aside(e.Folder, paid, record.AsideDir(e.Folder, cfg.Since)); err != nil {
			return err
		}
	}
	all, _ := e.Names()
	return e.Folder.Prepare(all)
}

// Paid are the run folders whose live records Evaluate with Fresh moves away.
func (e Experiment) Paid() (dirs []string, err error) {
	all, selected := e.Names()
	return record.Paid(e.Folder, all, selected)
}

// Judge summarizes the records in the experiment's folder without executing anything. The
// error is a result.OtherRecords where records were made under other circumstances.
func (e Experiment) Judge() (*result.Result, error) {
	return result.Summarize(e.Plan, e.Folder, result.Config{Unused: e.unused(), Judging: true})
}

// unused is asked only of a whole experiment: a selection leaves entries of scripts to others.
func (e Experiment) unused() func(asked map[string][][2]int) []string {
	if len(e.Selected()) < len(e.Runs) {
		return nil
	}
	return func(asked map[string][][2]int) []string { return e.Models.Unused(e.Spec, asked) }
}
