package harness

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/spec/yamlpos"
	"github.com/poimen-memory/mem/harness/stat"
)

// Decision is the spec's decision on one model at one level.
type Decision struct {
	ID    string     `json:"id"`
	Model string     `json:"model"`
	Level spec.Level `json:"level"`
	// Skipped says why nothing was decided; the rest is empty then.
	Skipped string `json:"skipped,omitempty"`
	stat.Decision
	// Earlier are the numbers of queries, fewer than now, on which it was decided in this
	// folder before.
	Earlier []int       `json:"decided_before_on,omitempty"`
	Pos     yamlpos.Pos `json:"at,omitzero"` // of the spec's decision
}

// exit is a decision's exit code: a NO-GO and changed bytes are judged and failed, missing
// replies are not judged.
func (d Decision) exit() int {
	switch {
	case d.Skipped != "" || d.Verdict == stat.Go:
		return 0
	case d.Verdict == stat.NoGo || d.Verdict == stat.Invalid && d.Changed > 0:
		return 1
	case d.Verdict == stat.Invalid:
		return 3
	}
	return 4
}

// queries is the most that a criterion rests on.
func (d Decision) queries() (most int) {
	for _, c := range d.Criteria {
		most = max(most, c.Estimate.Units)
	}
	return most
}

// criteria are those of the spec, or nil for the shipped ones.
func criteria(d *spec.Decision) (list []stat.Criterion) {
	for _, c := range d.Require {
		list = append(list, stat.Criterion{Metric: c.Metric.Value, Threshold: c.Threshold.Value})
	}
	return list
}

// decide decides on every subject apart.
func (e *Experiment) decide(runs []*done, earlier []Decision) (list []Decision, err error) {
	if e.Spec.Decision == nil {
		return nil, nil
	}
	for _, m := range e.Spec.Decision.For.Models {
		for _, level := range e.Spec.Decision.For.Levels.Value {
			d := Decision{ID: e.Spec.Decision.ID.Value, Model: m.Value, Level: level, Pos: e.Spec.Decision.At.Pos}
			of := subject{e.planned(m.Value, level), selected(runs, m.Value, level, spec.Record)}
			if err := d.on(of, e.Spec.Decision, earlier); err != nil {
				return nil, err
			}
			list = append(list, d)
		}
	}
	return list, nil
}

// subject is what a decision is on: the runs of one model at one level with the exit gate
// recorded.
type subject struct {
	planned int // by the spec
	runs    []*done
}

func (e *Experiment) planned(model string, level spec.Level) (n int) {
	for _, j := range e.jobs {
		n += one(j.Model == model && j.Level == level && j.ExitGate == spec.Record)
	}
	return n
}

// on decides. A selection of runs is not decided on: it would be a choice of queries.
func (d *Decision) on(s subject, rule *spec.Decision, earlier []Decision) error {
	before := d.before(earlier)
	observed := observations(s.runs)
	switch {
	case len(s.runs) < s.planned:
		d.Skipped = fmt.Sprintf("%d of its %s selected", len(s.runs), plural(s.planned, "run"))
	case len(observed) == 0:
		d.Skipped = "all of its runs were skipped"
	default:
		err := d.by(observed, stat.Rule{Criteria: criteria(rule)}, before)
		d.incomplete(s.runs)
		return err
	}
	d.Earlier = before // for the next look
	return nil
}

// by decides, and says whether it was decided before on fewer queries.
func (d *Decision) by(observed []stat.Run, rule stat.Rule, before []int) (err error) {
	if d.Decision, err = stat.Decide(observed, rule); err != nil {
		return err
	}
	now := d.queries()
	d.Earlier = slices.DeleteFunc(before, func(n int) bool { return n >= now })
	if n := len(d.Earlier); n > 0 {
		rule.Earlier = d.Earlier[n-1]
		d.Decision, err = stat.Decide(observed, rule)
	}
	return err
}

// before are the earlier looks at the same question, in ascending order.
func (d *Decision) before(earlier []Decision) (queries []int) {
	for _, was := range earlier {
		if was.ID != d.ID || was.Model != d.Model || was.Level != d.Level {
			continue
		}
		queries = append(queries, was.Earlier...)
		if was.Skipped == "" {
			queries = append(queries, was.queries())
		}
	}
	slices.Sort(queries)
	return slices.Compact(queries)
}

// incomplete takes back a GO where runs did not complete, however few they are.
func (d *Decision) incomplete(runs []*done) {
	missing, skipped := 0, 0
	for _, r := range runs {
		skipped += one(r.State == Skipped)
		missing += one(r.State != Skipped && r.State != Complete)
	}
	if skipped > 0 {
		d.Notes = append(d.Notes, fmt.Sprintf("%d of %s skipped, in no metric", skipped, plural(len(runs), "run")))
	}
	if missing > 0 && d.Verdict == stat.Go {
		d.Verdict = stat.Inconclusive
		d.Reason = fmt.Sprintf("%d of %s not complete, and an incomplete experiment is never GO", missing, plural(len(runs), "run"))
	}
}

// checkDecision holds the criteria against the metrics that there are.
func (e *Experiment) checkDecision() (errs yamlpos.Errors) {
	if e.Spec.Decision == nil {
		return nil
	}
	for _, c := range e.Spec.Decision.Require {
		if wrong := e.checkCriterion(c); wrong != "" {
			errs = append(errs, c.Metric.Errorf("%s", wrong))
		}
	}
	return errs
}

func (e *Experiment) checkCriterion(c spec.Criterion) string {
	name := c.Metric.Value
	if _, known := stat.Define(name); !known {
		return yamlpos.OneOf(name, decidable())
	}
	if err := stat.Validate([]stat.Criterion{{Metric: name, Threshold: c.Threshold.Value}}); err != nil {
		return err.Error()
	}
	if k, ok := trialsOf(name); ok && k > e.Spec.Trials {
		return fmt.Sprintf("found a metric of %d trials, want at most the spec's trials, %d", k, e.Spec.Trials)
	}
	return ""
}

// trialsOf is the k of pass_k.
func trialsOf(metric string) (k int, ok bool) {
	digits, ok := strings.CutPrefix(metric, "pass_")
	k, err := strconv.Atoi(digits)
	return k, ok && err == nil
}

// decidable are the metrics that a criterion may name.
func decidable() (names []string) {
	for _, d := range stat.Definitions() {
		if stat.Validate([]stat.Criterion{{Metric: d.Name, Threshold: 1}}) == nil {
			names = append(names, d.Name)
		}
	}
	return names
}

// earlierDecisions are those that the experiment's folder holds from before. A summary
// that cannot be read, or of another schema, has none that could be counted. One on runs
// that were not complete is no look of its own: it could not be GO, and the runs go on.
func (e *Experiment) earlierDecisions() []Decision {
	data, err := os.ReadFile(filepath.Join(e.dir(), "summary.json"))
	if err != nil {
		return nil
	}
	var was struct {
		Schema    int        `json:"schema"`
		Decisions []Decision `json:"decisions"`
		Runs      []Run      `json:"runs"`
	}
	if json.Unmarshal(data, &was) != nil || was.Schema != SchemaVersion {
		return nil
	}
	for i := range was.Decisions {
		if d := &was.Decisions[i]; d.Skipped == "" && !complete(was.Runs, d.Model, d.Level) {
			d.Skipped = "incomplete"
		}
	}
	return was.Decisions
}

func complete(runs []Run, model string, level spec.Level) bool {
	return !slices.ContainsFunc(runs, func(r Run) bool {
		return r.Model == model && r.Level == level && r.ExitGate == spec.Record && r.State != Complete && r.State != Skipped
	})
}
