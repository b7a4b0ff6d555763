package harness

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/poimen-memory/mem/harness/check"
)

// Run does the experiment's runs and judges them. Its result does not depend on how many
// go on at a time, nor on which ends first. When ctx is cancelled the runs in hand finish
// the turn in hand, and the rest is left undone; the result says so. The error is about the
// output folder, or about statistics that Prepare should have refused.
func (e *Experiment) Run(ctx context.Context) (*Result, error) {
	if err := e.clear(); err != nil {
		return nil, err
	}
	earlier := e.earlierDecisions()
	p := e.progress()
	e.stop = e.cfg.FailFast && slices.ContainsFunc(e.judgeGoldens(), check.Result.Failed)
	var mu sync.Mutex
	var wg sync.WaitGroup
	ended := map[string]*done{}
	for _, pool := range e.pools() {
		wg.Go(func() {
			its := e.drain(ctx, pool, p)
			mu.Lock()
			defer mu.Unlock()
			maps.Copy(ended, its)
		})
	}
	wg.Wait()
	return e.result(ended, earlier)
}

// drain does the jobs of a pool, stage by stage.
func (e *Experiment) drain(ctx context.Context, pool pool, p *progress) map[string]*done {
	ended := map[string]*done{}
	for _, jobs := range e.stages(pool.jobs) {
		results := make([]*done, len(jobs))
		parallel(pool.width, len(jobs), func(i int) { results[i] = e.one(ctx, jobs[i], ended, p) })
		for i, j := range jobs {
			ended[j.Name] = results[i]
		}
	}
	return ended
}

// stages are jobs in the order in which they rest on each other: L2 reads what L1 left,
// and a live run that enforces the exit gate replays the recorded one.
func (e *Experiment) stages(jobs []*job) [][]*job {
	var stages [][]*job
	for _, level := range e.Spec.Levels.Value {
		var first, then []*job
		for _, j := range jobs {
			switch {
			case j.Level != level:
			case j.live() && j.twin != "":
				then = append(then, j)
			default:
				first = append(first, j)
			}
		}
		stages = append(stages, first, then)
	}
	return stages
}

// pool is jobs that rest on none outside it, done so many at a time.
type pool struct {
	width int
	jobs  []*job
}

// pools are the jobs that are wanted: those of each live model as wide as its connections
// go, and all others as wide as Parallel says, so that no model waits for another's replies.
func (e *Experiment) pools() map[string]pool {
	pools := map[string]pool{}
	for _, j := range e.jobs {
		name, width := "", e.cfg.Parallel
		switch {
		case !j.wanted:
			continue
		case e.cfg.FailFast:
			width = 1
		case j.live() && e.cfg.Live:
			name, width = j.Model, j.model.Live.Connections()
		}
		pools[name] = pool{width, append(pools[name].jobs, j)}
	}
	return pools
}

// one does a job, or says why it is not done. ended holds the levels below.
func (e *Experiment) one(ctx context.Context, j *job, ended map[string]*done, p *progress) *done {
	in := input{}
	if j.session != nil {
		in = j.session.input(j.asked)
	}
	d := &done{Run: in.begin(j)}
	d.Chunks = j.turns
	defer p.ran()
	if d.State, d.Reason = e.withheld(ctx, j); d.State != Complete {
		return d
	}
	if j.session == nil {
		if in, d.State, d.Reason = e.level2(j, ended); d.State != Complete {
			return d
		}
	}
	start := time.Now()
	*d = e.run(ctx, j, in, p.turned)
	e.cfg.Timed(e.Spec.Experiment.Value+"/"+j.Name, time.Since(start))
	if d.State == Incomplete {
		e.failures.Add(1)
	}
	if e.cfg.FailFast && d.failed() { // one at a time: nobody else looks
		e.stop = true
	}
	return d
}

// withheld is how a job ends that is not begun, and why; Complete: it is to be done.
func (e *Experiment) withheld(ctx context.Context, j *job) (State, string) {
	switch {
	case ctx.Err() != nil:
		return Interrupted, "not begun"
	case e.stop:
		return Skipped, "not begun, for something failed before"
	case j.live() && !e.cfg.Live:
		return Skipped, "a live model is run with --live only"
	case e.failedOut():
		return Incomplete, fmt.Sprintf("not begun: %d runs were incomplete, as many as max_failures allows", e.Spec.MaxFailures)
	}
	return Complete, ""
}

func (e *Experiment) failedOut() bool {
	return e.Spec.MaxFailures > 0 && int(e.failures.Load()) >= e.Spec.MaxFailures
}

// failed holds when nothing can make the experiment pass any more.
func (d *done) failed() bool {
	return d.State.exit() != 0 || slices.ContainsFunc(d.checks, check.Result.Failed)
}

// parallel calls do(0) … do(n-1), at most width at a time.
func parallel(width, n int, do func(int)) {
	var wg sync.WaitGroup
	room := make(chan struct{}, max(width, 1))
	for i := range n {
		room <- struct{}{}
		wg.Go(func() {
			defer func() { <-room }()
			do(i)
		})
	}
	wg.Wait()
}

// progress adds up turns from all runs.
type progress struct {
	mu   sync.Mutex
	tell func(Progress)
	at   Progress
}

func (e *Experiment) progress() *progress {
	p := &progress{tell: e.cfg.Progress, at: Progress{Experiment: e.Spec.Experiment.Value}}
	for _, j := range e.jobs {
		if j.wanted {
			p.at.Of += j.turns
			p.at.OfAll++
		}
	}
	p.tell(p.at)
	return p
}

func (p *progress) turned() { p.add(func(at *Progress) { at.Turns++ }) }

func (p *progress) ran() { p.add(func(at *Progress) { at.Runs++ }) }

func (p *progress) add(step func(*Progress)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	step(&p.at)
	p.tell(p.at)
}
