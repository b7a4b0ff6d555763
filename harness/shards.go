package harness

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/render"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/harness/run"
	"github.com/poimen-memory/mem/harness/shard"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/internal/printable"
)

// Share is what one shard has of an evaluation.
type Share struct {
	shard.Shard
	All  []Experiment // with the shard's runs selected; those of which it has nothing to do are left out
	Runs int          // the shard's
	Of   int          // runs of all shards
}

// TakeShare leaves the runs of one shard selected. With live it also divides the limits of live
// models, of calls and of costs among the shards that ask any, says so on w, and opens the
// models; the Config is that by which the experiments were prepared.
func TakeShare(ctx context.Context, w io.Writer, cfg Config, all []Experiment, live bool) (Share, error) {
	share := Share{Shard: cfg.Shard}
	var plans []*plan.Plan
	for _, e := range all {
		plans = append(plans, e.Plan)
	}
	executed := func(r *plan.Run) bool { return live || !r.Live() }
	d := shard.Divide(plans, executed, cfg.Shard.Of)
	asking := map[int]bool{} // shards that ask live models
	for _, e := range all {
		for _, r := range e.Selected() {
			if i := d.Of(r); i > 0 {
				share.Of++
				asking[i] = asking[i] || r.Live()
			}
		}
	}
	if cfg.Run.Live && cfg.Models == nil {
		if err := divideLimits(w, cfg, all, asking); err != nil {
			return share, err
		}
	}
	var errs diag.Errors
	for _, e := range all {
		e.expected = liveModels(e.Plan, executed)
		e.Narrow(func(r *plan.Run) bool { return d.Of(r) == cfg.Shard.Index })
		if len(e.Selected()) == 0 && len(e.expected) == 0 {
			continue
		}
		share.All, share.Runs = append(share.All, e), share.Runs+len(e.Selected())
		if cfg.Run.Live && cfg.Models == nil {
			errs = append(errs, e.Models.Open(ctx, e.Spec, e.Selected())...)
		}
	}
	return share, errs.Err()
}

// liveModels are the ids of those that all shards together ask.
func liveModels(p *plan.Plan, executed func(*plan.Run) bool) (ids []string) {
	asked := map[string]bool{}
	for _, r := range p.Selected() {
		asked[r.Model] = asked[r.Model] || r.Live() && executed(r)
	}
	for i := range p.Spec.Models {
		if id := p.Spec.Models[i].ID.Value; asked[id] {
			ids = append(ids, id)
		}
	}
	return ids
}

// divideLimits leaves the shard its part of all limits, and says so.
func divideLimits(w io.Writer, cfg Config, all []Experiment, asking map[int]bool) error {
	if !asking[cfg.Shard.Index] {
		return nil
	}
	rank, n := 0, 0
	for i := 1; i <= cfg.Shard.Of; i++ {
		if asking[i] {
			n++
			rank += map[bool]int{true: 1}[i <= cfg.Shard.Index]
		}
	}
	part := func(whole int) int { return shard.Part(whole, rank, n) }
	say := func(what string) {
		printable.Fprintf(w, "mem: shard %s, of %d that ask live models: %s\n", &cfg.Shard, n, what)
	}
	m := cfg.Clients.Meter
	if m.MaxCalls > 0 && m.MaxCalls < n {
		return fmt.Errorf("--max-calls: found %d, want at least %d: one for each shard that asks live models", m.MaxCalls, n)
	}
	if m.MaxCalls > 0 {
		say(fmt.Sprintf("--max-calls is %d of %d", part(m.MaxCalls), m.MaxCalls))
		m.MaxCalls = part(m.MaxCalls)
	}
	if m.MaxCost > 0 {
		say(fmt.Sprintf("--max-cost is %.4f of %.4f", m.MaxCost/float64(n), m.MaxCost))
		m.MaxCost /= float64(n)
	}
	for _, e := range all {
		divided := map[*spec.Live]bool{} // which the variants of a model share
		for _, id := range liveModels(e.Plan, everyRun) {
			live := liveModel(e.Spec, id)
			if divided[live] {
				continue
			}
			divided[live] = true
			id, _ = spec.SplitModel(id)
			was := *live
			live.Divide(part)
			say(fmt.Sprintf("%s, model %s: %s", e.Spec.Experiment.Value, id, dividedLimits(*live, was, n)))
		}
	}
	return nil
}

func everyRun(*plan.Run) bool { return true }

func liveModel(s *spec.Spec, id string) *spec.Live {
	i := slices.IndexFunc(s.Models, func(m spec.Model) bool { return m.ID.Value == id })
	return s.Models[i].Live
}

// dividedLimits says what of the limits of one process each of n has.
func dividedLimits(has, was spec.Live, n int) string {
	text := fmt.Sprintf("max_connections is %d of %d", has.Connections(), was.Connections())
	if was.RequestsPerMinute > 0 {
		text += fmt.Sprintf(", requests_per_minute %d of %d", has.RequestsPerMinute, was.RequestsPerMinute)
	}
	if was.TokensPerMinute > 0 {
		text += fmt.Sprintf(", tokens_per_minute %d of %d", has.TokensPerMinute, was.TokensPerMinute)
	}
	if was.Connections() < n {
		text += "; each shard has at least one connection"
	}
	return text
}

// ExecuteShare executes the selected runs and leaves their records in the experiment's folder,
// and nothing else: the whole is judged when all shards are complete. The error is about the
// folder.
func (e Experiment) ExecuteShare(ctx context.Context, cfg Config) ([]ShareRun, error) {
	if err := e.Guard(cfg); err != nil {
		return nil, err
	}
	if err := e.Folder.Make(); err != nil {
		return nil, err
	}
	if err := e.Folder.PrepareShared(); err != nil {
		return nil, err
	}
	if err := record.Expect(e.Folder, e.expected); err != nil || len(e.Selected()) == 0 {
		return nil, err
	}
	if cfg.Run.Models = cfg.Models; cfg.Models == nil {
		cfg.Run.Models = e.Models.Model
	}
	unrecorded := run.Execute(ctx, cfg.Run, e.Plan, e.Folder)
	var runs []ShareRun
	for _, r := range e.Selected() {
		runs = append(runs, e.ended(r, unrecorded))
	}
	return runs, nil
}

// ShareRun is a run of a shard and how it ended.
type ShareRun struct {
	Name  string
	Turns int
	record.End
}

// ended tells how a run ended that was just executed.
func (e Experiment) ended(r *plan.Run, unrecorded map[string]record.Unrecorded) ShareRun {
	if noted, ok := unrecorded[r.Name]; ok {
		return ShareRun{Name: r.Name, End: noted.End}
	}
	if r.OverMemories() {
		var sources []record.Outcome
		for _, name := range r.Sources {
			sources = append(sources, e.Folder.Outcome(name))
		}
		if _, blocked := e.MemoryInput(r, sources); blocked.State != record.Complete {
			return ShareRun{Name: r.Name, End: blocked}
		}
	}
	out := e.Folder.Outcome(r.Name)
	return ShareRun{r.Name, out.Turns, out.End}
}

// Report writes what the shard did: a line, the runs that are not complete, and the command that
// comes next: judge, where all shards are complete.
func (s Share) Report(w io.Writer, cfg Config, runs []ShareRun, specs []string, quiet bool) error {
	turns, left := 0, 0
	var lines strings.Builder
	for _, r := range runs {
		turns += r.Turns
		if r.State == record.Complete || r.State == record.Skipped {
			continue
		}
		if left++; left <= mostShareRuns {
			printable.Fprintf(&lines, "✗ %s: %s: %s\n", r.Name, r.State, printable.Line(r.Reason))
		}
	}
	if left > mostShareRuns {
		fmt.Fprintf(&lines, "  and %s\n", diag.Count(left-mostShareRuns, "more run"))
	}
	fmt.Fprintf(&lines, "shard %s: %d of %s, %s", &s.Shard, len(runs), diag.Count(s.Of, "run"), diag.Count(turns, "turn"))
	switch {
	case left > 0 && cfg.Run.Live:
		fmt.Fprintf(&lines, ", %d not complete; to go on: the same command with --resume\n", left)
	case left > 0:
		fmt.Fprintf(&lines, ", %d not complete; to go on: the same command\n", left)
	case quiet:
		lines.WriteString("\n")
	default:
		fmt.Fprintf(&lines, "\n  next, when all %s are complete: %s\n", diag.Count(s.Shard.Of, "shard"),
			printable.Line("mem judge "+render.ShellWords(specs)+" --out "+render.ShellWord(cfg.out())))
		lines.WriteString("  if each has an --out of its own, first: mem merge OUT DIR…\n")
	}
	_, err := io.WriteString(w, lines.String())
	return err
}

// mostShareRuns bounds the runs that are listed as not complete.
const mostShareRuns = 10

// MakeOut makes the folder of the experiments' folders, which a shard leaves also where it has
// nothing to do.
func (cfg Config) MakeOut() error { return os.MkdirAll(cfg.out(), 0o777) }

// ShareResult is what timing knows a shard's runs by.
func ShareResult(e Experiment, runs []ShareRun) *result.Result {
	r := &result.Result{Experiment: e.Spec.Experiment.Value}
	for _, run := range runs {
		timed := result.Run{Cell: plan.Cell{Name: run.Name}}
		timed.ChunksSeen = run.Turns
		r.Runs = append(r.Runs, timed)
	}
	return r
}

// ShareExit is the exit code of a shard whose runs ended so. A run that failed is bad usage or a
// bad spec to it: nothing is judged.
func ShareExit(runs []ShareRun) int {
	due := map[int]bool{}
	for _, r := range runs {
		code := r.State.Exit()
		if r.State == record.Failed {
			code = record.Misconfigured.Exit()
		}
		due[code] = true
	}
	return result.FirstExit(due)
}
