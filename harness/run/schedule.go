package run

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/poimen-memory/mem/harness/internal/parallel"
	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/record"
)

// runner executes the selected runs of one plan.
type runner struct {
	Config
	plan     *plan.Plan
	folder   record.Folder
	present  func() error // whether folder is still the one that it was
	progress *progress

	stopped    atomic.Bool  // by FailFast: begin no more runs
	incomplete atomic.Int32 // runs

	mu         sync.Mutex
	unrecorded map[string]record.Unrecorded
}

// Execute executes the plan's selected runs and leaves their records in folder, which
// record.Folder.Prepare made ready. When ctx is cancelled the runs in progress finish their
// turn and the rest is not begun. unrecorded tells of the selected runs whose end is not in
// their record: they were not begun, or the record could not be written.
func Execute(ctx context.Context, cfg Config, p *plan.Plan, folder record.Folder) (unrecorded map[string]record.Unrecorded) {
	r := &runner{Config: cfg.withDefaults(), plan: p, folder: folder, unrecorded: map[string]record.Unrecorded{}}
	present, err := record.Pin(folder)
	if r.present = present; err != nil {
		r.present = func() error { return err }
	}
	r.progress = newProgress(p, r.Live, r.Progress)
	r.stopped.Store(r.Stopped)
	var wg sync.WaitGroup
	for _, pool := range r.pools() {
		wg.Go(func() { r.drain(ctx, pool) })
	}
	wg.Wait()
	return r.unrecorded
}

// pool is runs that depend on none outside it, and how many go on at a time.
type pool struct {
	width int
	runs  []*plan.Run
}

// pools are the selected runs: those of each live model as wide as its connections allow, and
// all others as wide as Parallel says, so that no model waits for another's replies.
func (r *runner) pools() map[string]pool {
	pools := map[string]pool{}
	for _, run := range r.plan.Selected() {
		name, width := "", r.Parallel
		switch {
		case r.FailFast:
			width = 1
		case run.Live() && r.Live:
			name, width = run.Spec.Base(), run.Spec.Live.Connections()
		}
		pools[name] = pool{width, append(pools[name].runs, run)}
	}
	return pools
}

// drain executes the runs of a pool, stage by stage.
func (r *runner) drain(ctx context.Context, pool pool) {
	for _, runs := range r.stages(pool.runs) {
		parallel.Do(pool.width, len(runs), func(i int) { r.executeOrSkip(ctx, runs[i]) })
	}
}

// stages are runs in the order in which they depend on each other: L2 reads what L1 left,
// and a live run that enforces the exit gate replays the recorded one.
func (r *runner) stages(runs []*plan.Run) [][]*plan.Run {
	var stages [][]*plan.Run
	for _, level := range r.plan.Spec.Levels.Value {
		var first, then []*plan.Run
		for _, run := range runs {
			switch {
			case run.Level != level:
			case run.Live() && run.ReplayOf != "":
				then = append(then, run)
			default:
				first = append(first, run)
			}
		}
		stages = append(stages, first, then)
	}
	return stages
}

// executeOrSkip executes a run, or notes why it is not begun.
func (r *runner) executeOrSkip(ctx context.Context, run *plan.Run) {
	defer r.progress.runEnded()
	if run.Live() && !r.Live {
		return // its record stays as it is
	}
	end := r.skipReason(ctx)
	if end.State == record.Complete {
		end = r.execute(ctx, run)
	} else {
		r.note(run, record.Unrecorded{End: end})
	}
	if end.State == record.Incomplete {
		r.incomplete.Add(1)
	}
	if r.FailFast && (end.State.Exit() != 0 || r.Failed(run)) { // one at a time: no other run reads stopped meanwhile
		r.stopped.Store(true)
	}
}

// skipReason is the end of a run that is not begun; Complete if it is to be executed.
func (r *runner) skipReason(ctx context.Context) record.End {
	switch {
	case ctx.Err() != nil:
		return record.End{State: record.Interrupted, Reason: "not begun"}
	case r.stopped.Load():
		return record.End{State: record.Skipped, Reason: "not begun: an earlier run failed and --fail-fast is set"}
	case r.failedOut():
		return record.End{State: record.Incomplete, Reason: fmt.Sprintf("not begun: %d runs were incomplete, as many as max_failures allows", r.plan.Spec.MaxFailures)}
	}
	return record.End{State: record.Complete}
}

func (r *runner) failedOut() bool {
	limit := r.plan.Spec.MaxFailures
	return limit > 0 && int(r.incomplete.Load()) >= limit
}

// note keeps an end that is not in the run's record.
func (r *runner) note(run *plan.Run, end record.Unrecorded) record.End {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unrecorded[run.Name] = end
	return end.End
}

// progress adds up turns from all runs.
type progress struct {
	mu   sync.Mutex
	tell func(Progress)
	now  Progress
}

func newProgress(p *plan.Plan, live bool, tell func(Progress)) *progress {
	pr := &progress{tell: tell, now: Progress{Experiment: p.Spec.Experiment.Value}}
	for _, run := range p.Selected() {
		pr.now.Of += run.Turns
		pr.now.OfAll++
		if live && asks(run) {
			pr.now.OfAsked += run.Turns
		}
	}
	pr.tell(pr.now)
	return pr
}

// asks reports whether a run asks a server, and does not replay what another asked.
func asks(run *plan.Run) bool { return run.Live() && run.ReplayOf == "" }

func (p *progress) turnEnded(run *plan.Run) {
	p.add(func(now *Progress) {
		now.Turns++
		if asks(run) {
			now.Asked++
		}
	})
}

func (p *progress) runEnded() { p.add(func(now *Progress) { now.Runs++ }) }

func (p *progress) add(step func(*Progress)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	step(&p.now)
	p.tell(p.now)
}
