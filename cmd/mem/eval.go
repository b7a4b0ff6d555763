package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/render"
)

// evaluation is what `mem eval` was asked for, and where it shows what it does.
type evaluation struct {
	pick     picked
	parallel int
	out      string
	list     bool
	dryRun   bool
	live     bool
	resume   bool
	fresh    bool
	meter    meter // of live calls
	clients  *clients
	watch    stopwatch
	quiet    bool
	failFast bool
	outputs  outputs
	baseline baseline

	stdout   io.Writer
	stderr   io.Writer
	show     render.Terminal
	progress *progress
}

func evalCommand() *cobra.Command {
	var e evaluation
	var run, level string
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
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if e.pick.run, e.pick.level, err = parsePick(run, level); err != nil {
				return err
			}
			e.stdout, e.stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
			e.show = terminal(cmd.OutOrStdout(), e.quiet)
			e.progress = newProgress(cmd.ErrOrStderr(), e.quiet)
			return e.run(cmd.Context(), args)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&run, "run", "", "only runs whose name matches the `REGEX`")
	flags.StringArrayVar(&e.pick.models, "model", nil, "only runs of the model with this `ID` (may be repeated)")
	flags.StringVar(&level, "level", "", "only runs at `L1|L2`")
	flags.IntVar(&e.parallel, "parallel", 0, "runs at a time, `N` (default one a CPU)")
	flags.StringVar(&e.out, "out", "reports", "folder `DIR` for reports")
	flags.BoolVar(&e.list, "list", false, "print the runs with their calls and prompt tokens, run nothing")
	flags.BoolVar(&e.dryRun, "dry-run", false, "print the same and what each model would take, run nothing")
	flags.BoolVar(&e.live, "live", false, "run live models too: calls that may cost money")
	flags.BoolVar(&e.resume, "resume", false, "with --live: go on where earlier runs were interrupted, asking for nothing twice")
	flags.BoolVar(&e.fresh, "fresh", false, "take away earlier live results and begin anew")
	flags.IntVar(&e.meter.maxCalls, "max-calls", 0, "stop, resumably, after `N` live calls")
	flags.Float64Var(&e.meter.maxCost, "max-cost", 0, "stop, resumably, once live calls cost `USD`, by the spec's prices")
	cmd.MarkFlagsMutuallyExclusive("resume", "fresh")
	flags.BoolVar(&e.quiet, "quiet", false, "print results and failures only")
	flags.BoolVar(&e.failFast, "fail-fast", false, "begin nothing more once something failed; one run at a time")
	e.outputs.flags(cmd)
	e.baseline.flags(cmd)
	completeEval(cmd)
	return cmd
}

func (e *evaluation) run(ctx context.Context, args []string) error {
	if e.parallel < 0 {
		return fmt.Errorf("--parallel: found %d, want at least 1, or 0 for one a CPU", e.parallel)
	}
	if err := e.baseline.check(!e.pick.all()); err != nil {
		return err
	}
	if err := e.checkLive(); err != nil {
		return err
	}
	e.clients = newClients(&e.meter, e.progress.waiting)
	all, err := prepareLive(ctx, harness.Config{
		Out: e.out, Parallel: e.parallel, Select: e.pick.wants, Progress: e.progress.at, Timed: e.watch.timed, FailFast: e.failFast,
		Live: e.live && !e.list && !e.dryRun, Resume: e.resume, Fresh: e.fresh,
	}, e.clients, args)
	if err != nil {
		return err
	}
	if all, err = e.pick.judge(all); err != nil {
		return err
	}
	if e.list || e.dryRun {
		return e.plan(all)
	}
	for _, x := range all { // before the first of them writes
		if err := x.Guard(); err != nil {
			return err
		}
	}
	if err := e.outputs.ready(); err != nil {
		return &exit{exitIncomplete, err}
	}
	for _, w := range e.clients.warned {
		fmt.Fprintln(e.stderr, "mem: warning: "+w)
	}
	return e.judge(ctx, all)
}

// checkLive refuses what is about live models without them: --fresh alone would throw away
// what was paid for, and get nothing in its place.
func (e *evaluation) checkLive() error {
	switch {
	case e.live:
	case e.resume || e.fresh:
		return errors.New("--resume, --fresh: these are about live models, want --live with them")
	case e.meter.maxCalls != 0 || e.meter.maxCost != 0:
		return errors.New("--max-calls, --max-cost: these are about live models, want --live with them")
	}
	if e.meter.maxCalls < 0 || e.meter.maxCost < 0 {
		return errors.New("--max-calls, --max-cost: found a number below 0, want one above, or 0 for no limit")
	}
	return nil
}

// judge runs the experiments one after the other. What one leaves is on disk and shown
// before the next begins; an interrupt leaves the rest as earlier evaluations left them.
func (e *evaluation) judge(ctx context.Context, all []experiment) error {
	var results []*harness.Result
	var unwritten error
	for i, x := range all {
		if ctx.Err() != nil {
			break
		}
		if e.failFast && failed(results) {
			fmt.Fprintf(e.stderr, "mem: --fail-fast: experiments not begun: %d\n", len(all)-i)
			break
		}
		r, err := e.one(ctx, x)
		if r != nil {
			results = append(results, r)
		}
		if unwritten = err; err != nil {
			break
		}
	}
	if len(all) > 1 { // one experiment's own sentence says it
		unwritten = errors.Join(unwritten, e.show.Total(e.stdout, results))
	}
	unwritten = errors.Join(unwritten, e.outputs.write(results), annotate(e.stdout, results))
	return e.verdict(ctx, results, unwritten, len(all))
}

// failed holds when something did not pass; what is undecided has not failed.
func failed(results []*harness.Result) bool {
	for _, r := range results {
		if code := harness.Exit(r); code != 0 && code != exitUndecided {
			return true
		}
	}
	return false
}

// verdict is the exit code that counts, of results that may be fewer than was asked for.
func (e *evaluation) verdict(ctx context.Context, results []*harness.Result, unwritten error, asked int) error {
	due := map[int]bool{
		exitIncomplete:  unwritten != nil,
		exitInterrupted: ctx.Err() != nil && len(results) < asked,
	}
	if len(results) > 0 {
		due[harness.Exit(results...)] = true
	}
	code := harness.FirstExit(due)
	switch {
	case unwritten != nil:
		return &exit{code, unwritten}
	case code == exitInterrupted:
		return &exit{code, ctx.Err()}
	}
	return exitWith(code)
}

// one runs an experiment. Its error is about what could not be written; there may be a
// result with it.
func (e *evaluation) one(ctx context.Context, x experiment) (*harness.Result, error) {
	start := time.Now()
	e.progress.begin(e.clients.status(x.Spec))
	r, err := x.Run(ctx)
	e.progress.end()
	if err != nil {
		return nil, err
	}
	if e.pick.all() && r.Count(harness.Interrupted) == 0 { // else an entry may yet be used
		r.Warnings = append(r.Warnings, x.scripts.unused(x.Spec)...)
	}
	partly := !e.pick.all() || e.failFast && harness.Exit(r) != 0
	dir, session := filepath.Join(e.out, r.Experiment), e.watch.session(r, start, e.clients.served(x.Spec))
	return r, errors.Join(e.baseline.judge(e.stdout, r, partly), saveTiming(dir, session, e.resume), save(dir, r), e.show.Result(e.stdout, r),
		e.show.Service(e.stdout, serviceRows(session)))
}

// save writes a result beside its runs.
func save(dir string, r *harness.Result) error {
	if err := sweep(dir); err != nil {
		return err
	}
	return errors.Join(
		writeFile(filepath.Join(dir, "summary.json"), func(w io.Writer) error { return render.JSON(w, r) }),
		saveReports(dir, r),
	)
}

// saveReports writes what can be written again from a result that was saved.
func saveReports(dir string, r *harness.Result) error {
	return errors.Join(
		writeFile(filepath.Join(dir, "report.md"), func(w io.Writer) error { return render.Markdown(w, r) }),
		saveHTML(dir, r),
		writeFile(filepath.Join(dir, "junit.xml"), func(w io.Writer) error { return render.JUnit(w, []*harness.Result{r}) }),
	)
}
