package harness

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/loop"
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
	ended := map[string]*done{}
	for _, jobs := range e.stages() {
		results := make([]*done, len(jobs))
		e.pools(jobs, func(i int) { results[i] = e.one(ctx, jobs[i], ended, p) })
		for i, j := range jobs {
			ended[j.Name] = results[i]
		}
	}
	return e.result(ended, earlier)
}

// stages are jobs in the order in which they rest on each other: L2 reads what L1 left,
// and a live run that enforces the exit gate replays the recorded one.
func (e *Experiment) stages() [][]*job {
	var stages [][]*job
	for _, level := range e.Spec.Levels.Value {
		var first, then []*job
		for _, j := range e.jobs {
			switch {
			case !j.wanted || j.Level != level:
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

// pools does the jobs of each live model as wide as its connections go, and all others
// as wide as Parallel says, so that no model waits for another's replies.
func (e *Experiment) pools(jobs []*job, do func(int)) {
	if e.cfg.FailFast {
		parallel(1, len(jobs), do)
		return
	}
	type pool struct {
		width int
		jobs  []int
	}
	pools := map[string]*pool{}
	for i, j := range jobs {
		name, width := "", e.cfg.Parallel
		if j.live() && e.cfg.Live {
			name, width = j.Model, j.model.Live.Connections()
		}
		if pools[name] == nil {
			pools[name] = &pool{width: width}
		}
		pools[name].jobs = append(pools[name].jobs, i)
	}
	var wg sync.WaitGroup
	for _, p := range pools {
		wg.Go(func() { parallel(p.width, len(p.jobs), func(n int) { do(p.jobs[n]) }) })
	}
	wg.Wait()
}

// clear makes the output folder ready. Runs that this spec does not have are taken away,
// and with Fresh those that are to be run.
func (e *Experiment) clear() error {
	if err := e.Guard(); err != nil {
		return err
	}
	for _, j := range e.jobs {
		if !e.cfg.Fresh || !j.wanted {
			continue
		}
		if err := os.RemoveAll(e.runDir(j.Name)); err != nil {
			return err
		}
	}
	if err := writable(e.dir()); err != nil {
		return err
	}
	return e.prune()
}

// one does a job, or says why it is not done. ended holds the levels below.
func (e *Experiment) one(ctx context.Context, j *job, ended map[string]*done, p *progress) *done {
	in := input{}
	if j.session != nil {
		in = j.session.input(j.asked)
	}
	d := &done{Run: in.begin(j)}
	d.Chunks = j.turns
	defer p.ran(j)
	if ctx.Err() != nil {
		d.State, d.Reason = Interrupted, "not begun"
		return d
	}
	if e.stop {
		d.State, d.Reason = Skipped, "not begun, for something failed before"
		return d
	}
	if j.live() && !e.cfg.Live {
		d.State, d.Reason = Skipped, "a live model is run with --live only"
		return d
	}
	if e.failedOut() {
		d.State, d.Reason = Incomplete, fmt.Sprintf("not begun: %d runs were incomplete, as many as max_failures allows", e.Spec.MaxFailures)
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

func (e *Experiment) failedOut() bool {
	return e.Spec.MaxFailures > 0 && int(e.failures.Load()) >= e.Spec.MaxFailures
}

// failed holds when nothing can make the experiment pass any more.
func (d *done) failed() bool {
	return d.State.exit() != 0 || slices.ContainsFunc(d.checks, check.Result.Failed)
}

// writable makes a folder, and finds out before anything is paid for whether it can be
// written to.
func writable(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".writable-*.unfinished")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
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

// prune takes away the runs that an earlier spec of this name left and this one does not
// have: beside new ones they would be taken for its.
func (e *Experiment) prune() error {
	known := e.runDirs()
	logs, err := leftFiles(e.runDir(""), eventsFile)
	if err != nil {
		return err
	}
	for _, log := range logs {
		if dir := filepath.Dir(log); !known[dir] {
			if err := e.takeAway(dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// takeAway removes a run's own two files, and its folders as far as they are empty then:
// what else stands there is somebody's.
func (e *Experiment) takeAway(dir string) error {
	for _, name := range []string{eventsFile, callsFile} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for ; dir != e.dir() && os.Remove(dir) == nil; dir = filepath.Dir(dir) {
	}
	return nil
}

func (e *Experiment) runDirs() map[string]bool {
	dirs := map[string]bool{}
	for _, j := range e.jobs {
		dirs[e.runDir(j.Name)] = true
	}
	return dirs
}

// leftFiles are the files of a name that earlier runs left below dir.
func leftFiles(dir, name string) (paths []string, err error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, nil // what cannot be read cannot be written either, and is said then
	}
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Name() == name {
			paths = append(paths, path)
		}
		return err
	})
	return paths, err
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

func (p *progress) ran(*job) { p.add(func(at *Progress) { at.Runs++ }) }

func (p *progress) add(step func(*Progress)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	step(&p.at)
	p.tell(p.at)
}

// result puts everything in the order of the matrix.
func (e *Experiment) result(ended map[string]*done, earlier []Decision) (*Result, error) {
	r := &Result{
		Schema: SchemaVersion, Experiment: e.Spec.Experiment.Value, About: e.Spec.About,
		Spec: filepath.ToSlash(e.Spec.File), Tokenizer: e.Tokenizer(), Prompt: e.template, Budget: e.prompts.Budget(),
		Warnings: e.warnings(),
	}
	var runs []*done
	for _, j := range e.jobs {
		if d := ended[j.Name]; d != nil {
			runs = append(runs, d)
			r.Runs = append(r.Runs, d.Run)
		}
	}
	r.Gates = e.gates(runs)
	r.ByLength = e.byLength(runs)
	r.Budgets = e.budgets(runs)
	r.Usage, r.Drift = e.usage(runs)
	r.Checks = e.checks(r, runs)
	var wrong [2]error
	r.Decisions, wrong[0] = e.decide(runs, earlier)
	r.Comparisons, wrong[1] = e.compare(runs)
	return r, errors.Join(wrong[:]...)
}

// budgets measures the prompts over each corpus. Its chunks and questions count whether
// or not a run sent them; memories and whole prompts are those that were sent.
func (e *Experiment) budgets(runs []*done) []check.BudgetTable {
	var tables []check.BudgetTable
	for i := range e.Spec.Corpora {
		id := e.Spec.Corpora[i].ID.Value
		u := check.Usage{Fixed: e.prompts.Fixed()}
		for _, s := range e.sessions {
			if s.corpus.ID.Value != id {
				continue
			}
			u.Chunks = append(u.Chunks, s.ChunkTokens()...)
			for _, q := range s.Queries() {
				u.Questions = append(u.Questions, e.prompts.Measure(q.Text).Tokens)
			}
		}
		for _, d := range runs {
			if d.Corpus == id {
				u.Memories = append(u.Memories, d.memories...)
				u.Prompts = append(u.Prompts, d.prompts...)
			}
		}
		tables = append(tables, e.headroom().Table(id, e.Tokenizer(), u))
	}
	return tables
}

func (e *Experiment) headroom() check.Headroom {
	c := e.Spec.Checks.Budget.Value
	return check.Headroom{Budget: e.prompts.Budget(), Percentile: c.Percentile, Min: c.MinHeadroom}
}

// checks judges in the order: golden and ledger, budget, retain and log of each run, levels, expect.
func (e *Experiment) checks(r *Result, runs []*done) []check.Result {
	list := e.judgeGoldens()
	for _, t := range r.Budgets {
		result := e.headroom().Check(t)
		result.Pos = e.Spec.Checks.Budget.Pos
		list = append(list, result)
	}
	for _, d := range runs {
		list = append(list, d.checks...)
	}
	list = append(list, e.levels(r.Runs)...)
	for _, d := range r.Drift {
		list = append(list, check.Tokenizer(d, e.Spec.Checks.Tokenizer.Value.MaxUndercount, e.Spec.Checks.Tokenizer.Pos))
	}
	judged := judge(r.Runs)
	for i := range e.Spec.Expect {
		list = append(list, check.Expect(&e.Spec.Expect[i], judged))
	}
	return list
}

func (e *Experiment) judgeGoldens() (list []check.Result) {
	for _, g := range e.Goldens() {
		list = append(list, g.Check(), g.Recorded())
	}
	return list
}

func judge(runs []Run) []check.Judged {
	list := make([]check.Judged, len(runs))
	for i, r := range runs {
		list[i] = check.Judged{
			Name: r.Name, Model: r.Model, Query: r.Query, Corpus: r.Corpus, Session: r.Session,
			Level: r.Level, ExitGate: r.ExitGate, Trial: r.Trial, Ended: r.State == Complete, Facts: r.Facts,
		}
	}
	return list
}

// levels compares the logs of runs that differ in their level alone and were fed the same
// chunks.
func (e *Experiment) levels(runs []Run) []check.Result {
	if e.Spec.L2Source != spec.Chunks || len(e.Spec.Levels.Value) < 2 {
		return nil
	}
	lower := map[Cell]Run{}
	var list []check.Result
	for _, run := range runs {
		key := run.Cell
		key.Name, key.Level = "", 0
		other, ok := lower[key]
		if !ok {
			lower[key] = run
			continue
		}
		list = append(list, e.compareLogs(other, run))
	}
	return list
}

func (e *Experiment) compareLogs(lower, upper Run) check.Result {
	subject := lower.Name + " and " + upper.Level.String()
	if lower.State != Complete || upper.State != Complete {
		return check.Skipped("levels", subject, "not both runs ended")
	}
	a, err := os.Open(filepath.Join(e.runDir(lower.Name), eventsFile))
	if err != nil {
		return check.Unreadable("levels", subject, err)
	}
	defer a.Close()
	b, err := os.Open(filepath.Join(e.runDir(upper.Name), eventsFile))
	if err != nil {
		return check.Unreadable("levels", subject, err)
	}
	defer b.Close()
	return check.Levels(subject, loop.Level(upper.Level-lower.Level), a, b)
}

// warnings are what is no error and should be known.
func (e *Experiment) warnings() []string {
	var list []string
	for _, s := range e.sessions {
		list = append(list, s.Warnings()...)
		list = append(list, tagWarning(s.Session)...)
	}
	return slices.Clip(list)
}

func tagWarning(s *corpus.Session) []string {
	if s.Reserved() == 0 && s.GateTags() == 0 {
		return nil
	}
	var parts []string
	if n := s.Reserved(); n > 0 {
		parts = append(parts, plural(n, "reserved tag")+" escaped when sent")
	}
	if n := s.GateTags(); n > 0 {
		parts = append(parts, plural(n, "gate tag")+" left as text")
	}
	return []string{"corpus " + s.Name() + ": " + strings.Join(parts, ", ")}
}
