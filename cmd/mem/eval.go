package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/baseline"
	"github.com/poimen-memory/mem/harness/models"
	"github.com/poimen-memory/mem/harness/progress"
	"github.com/poimen-memory/mem/harness/redact"
	"github.com/poimen-memory/mem/harness/render"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/harness/run"
	"github.com/poimen-memory/mem/harness/shard"
	"github.com/poimen-memory/mem/harness/timing"
	"github.com/poimen-memory/mem/harness/tty"
	"github.com/poimen-memory/mem/internal/printable"
)

// evaluation is what `mem eval` was asked for, and where it shows what it does.
type evaluation struct {
	pick      harness.Pick
	parallel  int
	out       string
	list      bool
	dryRun    bool
	live      bool
	resume    bool
	extend    bool
	fresh     bool
	yes       bool // do not ask
	noLock    bool
	judgeOnly bool // `mem judge`: execute nothing
	clients   models.Clients
	meter     models.Meter // of live calls
	watch     timing.Stopwatch
	showing   showing
	several   bool // experiments
	failFast  bool
	noText    bool // in what is written
	shard     shard.Shard
	undecided bool // is no failure
	outputs   render.Files
	baseline  baseline.Folder
	cfg       harness.Config

	stdin    io.Reader
	stdout   io.Writer // what people read
	machine  io.Writer // standard output, for what --json - and the like write
	stderr   io.Writer
	show     render.Terminal
	progress *progress.Display
}

func evalCommand() *cobra.Command {
	var e evaluation
	cmd := &cobra.Command{
		Use:   "eval SPEC…",
		Short: "Run experiments and judge them",
		Long: `eval runs the experiments of all specs and judges them. Any mistake in any spec, script,
corpus or label is reported with its place, and then nothing runs.

Everything goes to OUT/EXPERIMENT: summary.json, report.md, report.html, junit.xml, and the
log of each run. What a selection leaves out is not judged; an L2 run brings the L1 runs
whose memories it reads. In GitHub Actions failures are annotated in the spec, and the report is added to
the run's page.

An interrupt (SIGINT, SIGTERM) lets each run finish the turn in hand and writes what is
done; a second one stops at once. Either way another eval makes the folder whole.`,
		Example: `  mem eval experiments/*.yaml
  mem eval experiments/hotpotqa.yaml --model lexical --model oracle --level L1
  mem eval experiments/*.yaml --run 'oracle/enforce$' --out /tmp/reports
  mem eval experiments/agent-session.yaml --list
  mem eval experiments/*.yaml --dry-run --quiet
  mem eval experiments/*.yaml --junit junit.xml --markdown comment.md --baseline reports/baseline`,
		RunE: func(cmd *cobra.Command, args []string) error {
			e.streams(cmd)
			e.stdin = cmd.InOrStdin()
			e.progress = &progress.Display{W: e.stderr, Moves: tty.Animated(e.stderr), Quiet: e.showing.quiet}
			return e.run(cmd.Context(), args)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&e.parallel, "parallel", 0, "runs at a time, `N` (default one a CPU)")
	flags.StringVar(&e.out, "out", "reports", "folder `DIR` for reports")
	flags.BoolVar(&e.list, "list", false, "print the runs with their calls and prompt tokens, run nothing")
	flags.BoolVar(&e.dryRun, "dry-run", false, "print the same and what each model would take, run nothing")
	flags.BoolVar(&e.live, "live", false, "run live models too: calls that may cost money")
	flags.BoolVar(&e.resume, "resume", false, "with --live: go on where earlier runs were interrupted, asking for nothing twice")
	flags.BoolVar(&e.extend, "extend", false, "with --resume: keep the unchanged turns of sessions that have grown, ask for the others")
	flags.BoolVar(&e.fresh, "fresh", false, "with --live: move earlier live results to runs.TIME and begin anew")
	flags.BoolVar(&e.yes, "yes", false, "with --fresh: do not ask")
	flags.IntVar(&e.meter.MaxCalls, "max-calls", 0, "stop, resumably, after `N` live calls")
	flags.Float64Var(&e.meter.MaxCost, "max-cost", 0, "stop, resumably, once live calls cost `USD`, by the spec's prices")
	cmd.MarkFlagsMutuallyExclusive("resume", "fresh")
	flags.BoolVar(&e.failFast, "fail-fast", false, "begin nothing more once something failed; one run at a time")
	flags.Var(&e.shard, "shard", "execute the runs of one of several processes: I of N, or auto (see docs/scale.md)")
	judgingFlags(cmd, &e)
	completeWords(cmd, "shard", "auto")
	return cmd
}

// streams says where results go: where standard output is a file's, people read standard error.
func (e *evaluation) streams(cmd *cobra.Command) {
	e.machine, e.stdout, e.stderr = cmd.OutOrStdout(), cmd.OutOrStdout(), cmd.ErrOrStderr()
	e.show = e.showing.terminal(cmd)
	if e.outputs.ToStdout() {
		e.stdout = e.stderr
		e.show = e.showing.on(e.stdout, colour(cmd))
	}
}

// judgingFlags are those that eval and judge share.
func judgingFlags(cmd *cobra.Command, e *evaluation) {
	pickFlags(cmd, &e.pick)
	e.showing.flags(cmd)
	cmd.Flags().BoolVar(&e.undecided, "allow-undecided", false, "exit code 0 in place of 4, where a decision is INCONCLUSIVE or its live model was not run")
	cmd.Flags().BoolVar(&e.noText, "no-text", false, "write reports without any text of sessions, prompts, replies and memories")
	noLockFlag(cmd, &e.noLock)
	outputFlags(cmd, &e.outputs)
	baselineFlags(cmd, &e.baseline)
	completeEval(cmd)
}

func (e *evaluation) run(ctx context.Context, args []string) error {
	if e.parallel < 0 {
		return fmt.Errorf("--parallel: found %d, want at least 1, or 0 for one a CPU", e.parallel)
	}
	if err := errors.Join(e.outputs.Check(), checkBaseline(e.baseline, !e.pick.All())); err != nil {
		return err
	}
	if err := errors.Join(e.checkLive(), checkShard(e)); err != nil {
		return err
	}
	e.clients = models.Clients{Meter: &e.meter, Waiting: e.progress.Waiting}
	defer e.clients.Close()
	e.cfg = harness.Config{
		Out: e.out, Select: e.pick.Wants, Clients: &e.clients, Fresh: e.fresh, Since: time.Now(), Shard: e.shard,
		Run: run.Config{
			Parallel: e.parallel, Progress: e.progress.At, Timed: e.watch.Timed, FailFast: e.failFast,
			Live: e.live && !e.list && !e.dryRun, Resume: e.resume, Extend: e.extend,
		},
	}
	all, err := prepare(ctx, e.cfg, args)
	if err != nil {
		return err
	}
	if all, err = e.pick.Picked(all); err != nil {
		return err
	}
	if err := harness.CheckTags(e.show.By, harness.Tags(all)); err != nil {
		return err
	}
	var share harness.Share
	if e.shard.Given() {
		if share, err = harness.TakeShare(ctx, e.stderr, e.cfg, all, e.live); err != nil {
			return err
		}
		all = share.All
	}
	if e.list || e.dryRun {
		return showPlan(e.stdout, e.show, all, e.dryRun)
	}
	if err := e.outputs.MakeFolders(); err != nil {
		return &exit{exitIncomplete, err}
	}
	unlock, err := e.lock("mem eval", all, true)
	if err != nil {
		return err
	}
	defer unlock()
	for _, x := range all { // before the first of them writes
		if err := x.Guard(e.cfg); err != nil {
			return err
		}
	}
	if err := e.confirmFresh(all); err != nil {
		return err
	}
	if e.extend { // before anything is paid for
		if err := harness.ListGrown(e.stderr, all); err != nil {
			return &exit{exitIncomplete, err}
		}
	}
	for _, w := range e.clients.Warnings {
		printable.Fprintf(e.stderr, "mem: warning: %s\n", w)
	}
	harness.Advise(e.stderr, all)
	if e.shard.Given() {
		return executeShard(ctx, e, share, args)
	}
	return e.judge(ctx, all)
}

// checkLive refuses what is about live models without them: --fresh alone would throw away
// what was paid for, and get nothing in its place.
func (e *evaluation) checkLive() error {
	switch {
	case e.live:
	case e.resume || e.fresh || e.extend:
		return errors.New("--resume, --extend, --fresh: these are about live models, want --live with them")
	case e.meter.MaxCalls != 0 || e.meter.MaxCost != 0:
		return errors.New("--max-calls, --max-cost: these are about live models, want --live with them")
	}
	if e.extend && !e.resume {
		return errors.New("--extend: goes on from earlier results, want --resume with it")
	}
	if e.meter.MaxCalls < 0 || e.meter.MaxCost < 0 {
		return errors.New("--max-calls, --max-cost: found a number below 0, want one above, or 0 for no limit")
	}
	return nil
}

// judge runs the experiments one after the other. What one leaves is on disk and shown
// before the next begins; an interrupt leaves the rest as earlier evaluations left them.
func (e *evaluation) judge(ctx context.Context, all []harness.Experiment) error {
	var results []*result.Result
	var unwritten error
	e.several = len(all) > 1
	for i, x := range all {
		if ctx.Err() != nil {
			break
		}
		if e.failFast && failed(results) {
			fmt.Fprintf(e.stderr, "mem: --fail-fast: experiments not begun: %d\n", len(all)-i)
			break
		}
		one := e.one
		if e.judgeOnly {
			one = func(_ context.Context, x harness.Experiment) (*result.Result, error) { return e.judgeOne(ctx, x) }
		}
		r, err := one(ctx, x)
		if r != nil {
			results = append(results, r)
		}
		unwritten = errors.Join(unwritten, err)
		if err != nil && !e.judgeOnly { // judging costs nothing, and no disk is needed to say the verdict
			break
		}
	}
	if e.several { // one experiment's own sentence says it
		unwritten = errors.Join(unwritten, e.show.Total(e.stdout, results))
	}
	unwritten = errors.Join(unwritten, e.outputs.Save(e.machine, shownFiles(ctx), redact.All(e.noText, results...)), render.GitHub(e.stdout, keysOf(ctx), redact.All(e.noText, results...)))
	return e.verdict(ctx, results, unwritten, len(all))
}

// failed holds when something did not pass; what is undecided has not failed.
func failed(results []*result.Result) bool {
	for _, r := range results {
		if code := result.Exit(r); code != 0 && code != exitUndecided {
			return true
		}
	}
	return false
}

// verdict is the exit code that counts, of results that may be fewer than was asked for.
func (e *evaluation) verdict(ctx context.Context, results []*result.Result, unwritten error, asked int) error {
	_, otherRecords := errors.AsType[result.OtherRecords](unwritten)
	due := map[int]bool{
		exitUsage:       otherRecords, // the spec is not that of the records
		exitIncomplete:  unwritten != nil,
		exitInterrupted: ctx.Err() != nil && len(results) < asked,
	}
	if len(results) > 0 {
		due[result.Exit(results...)] = true
	}
	code := result.FirstExit(due)
	switch {
	case unwritten != nil:
		return &exit{code, unwritten}
	case code == exitInterrupted:
		return &exit{code, ctx.Err()}
	case code == exitUndecided && e.undecided:
		return nil
	}
	return exitWith(code)
}

// result shows what an experiment came to.
func (e *evaluation) result(x harness.Experiment, r *result.Result) error {
	as := e.show
	as.Folder, as.Among = x.Folder.Dir, e.several
	return as.Result(e.stdout, r)
}

// one evaluates an experiment. Its error is about what could not be written; there may be a
// result with it.
func (e *evaluation) one(ctx context.Context, x harness.Experiment) (*result.Result, error) {
	start := time.Now()
	e.progress.Begin(e.clients.Status(x.Spec))
	r, err := x.Evaluate(ctx, e.cfg)
	e.progress.End()
	e.clients.NoteCounts(e.stderr, x.Spec)
	if r == nil {
		return nil, err
	}
	partly := !e.pick.All() || e.failFast && result.Exit(r) != 0
	session := e.watch.Session(ownVersion(), r, start, e.clients.Served(x.Spec))
	return r, errors.Join(err, e.baseline.Judge(e.stdout, r, partly), timing.Save(shownFiles(ctx), x.Folder, session, e.resume), render.Save(shownFiles(ctx), x.Folder, redact.All(e.noText, r)[0]),
		e.result(x, r), render.Service(e.stdout, e.show, session.Service()))
}
