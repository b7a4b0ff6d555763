package result

import (
	"fmt"
	"slices"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/harness/stat/decide"
)

// Decision is the spec's decision on one model at one level.
type Decision struct {
	ID    string     `json:"id"`
	Model string     `json:"model"`
	Level spec.Level `json:"level"`
	// Skipped says why nothing was decided; the rest is empty then.
	Skipped string `json:"skipped,omitempty"`
	// Unselected: it was skipped because not all of its runs were asked for.
	Unselected bool `json:"unselected,omitempty"`
	decide.Decision
	Pos diag.Pos `json:"at,omitzero"` // of the spec's decision
}

// exit is a decision's exit code: a NO-GO and changed bytes are judged and failed, missing
// replies are not judged. Without runs nothing is decided.
func (d Decision) exit() int {
	switch {
	case d.Unselected || d.Verdict == decide.Go:
		return 0
	case d.Skipped != "":
		return 4
	case d.Verdict == decide.NoGo || d.Verdict == decide.Invalid && d.Changed > 0:
		return 1
	case d.Verdict == decide.Invalid:
		return 3
	}
	return 4
}

// decisions decides on every subject apart.
func decisions(s *summary) (list []Decision, err error) {
	of := s.plan.Spec.Decision
	if of == nil {
		return nil, nil
	}
	looks, err := record.Looks(s.folder)
	if err != nil {
		return nil, err
	}
	for _, m := range of.For.Models {
		for _, level := range of.For.Levels.Value {
			d := Decision{ID: of.ID.Value, Model: m.Value, Level: level, Pos: of.At.Pos}
			rule := plan.Rule(of)
			rule.Made = d.made(looks, len(rule.Looks))
			if err := d.on(selected(s.runs, m.Value, level, spec.Record), plannedRuns(s, m.Value, level), isLive(s.plan, m.Value), rule); err != nil {
				return nil, err
			}
			list = append(list, d)
		}
	}
	return list, nil
}

// plannedRuns is the number of runs that the spec has for a decision.
func plannedRuns(s *summary, model string, level spec.Level) (n int) {
	for _, r := range s.plan.Runs {
		n += count(r.Model == model && r.Level == level && r.ExitGate == spec.Record)
	}
	return n
}

// on decides. A selection of runs is not decided on: it would be a choice of queries.
func (d *Decision) on(runs []*runData, planned int, live bool, rule decide.Rule) (err error) {
	observed := observations(runs)
	switch {
	case len(runs) < planned:
		d.Skipped, d.Unselected = fmt.Sprintf("%d of its %s selected", len(runs), diag.Count(planned, "run")), true
	case len(observed) == 0 && live:
		d.Skipped = "its model is live, was not run and has no records: run mem eval --live, or pass --allow-undecided"
	case len(observed) == 0:
		d.Skipped = "all of its runs were skipped"
	default:
		d.Decision, err = decide.Decide(stat.Collect(observed), rule)
		if skipped := len(runs) - len(observed); skipped > 0 {
			d.Notes = append(d.Notes, fmt.Sprintf("%d of %s skipped, in no metric", skipped, diag.Count(len(runs), "run")))
		}
	}
	return err
}

// made are the earlier looks at the same question. A look beyond the planned ones stands for
// the last of them, so that none is left.
func (d *Decision) made(looks []record.Look, planned int) (list []decide.Made) {
	for _, l := range looks {
		if l.Decision != d.ID || l.Model != d.Model || l.Level != d.Level.String() {
			continue
		}
		number := l.Number
		if planned > 0 {
			number = min(number, planned)
		}
		list = append(list, decide.Made{Look: number, Units: l.Count})
	}
	return list
}

// Looks are the looks that the result's decisions are, on live and replayed models and on
// complete runs. A verdict that was not due is no look.
func (r *Result) Looks(p *plan.Plan) (looks []record.Look) {
	for _, d := range r.Decisions {
		if d.Skipped != "" || d.Look.Alpha == 0 || !fromServer(p, d.Model) || !r.complete(d.Model, d.Level) {
			continue
		}
		unit := stat.ByQuery
		if d.Unit == stat.BySession {
			unit = stat.BySession
		}
		looks = append(looks, record.Look{
			Decision: d.ID, Model: d.Model, Level: d.Level.String(), Unit: string(unit), Count: d.Look.Units, Number: d.Look.Number,
		})
	}
	return looks
}

func fromServer(p *plan.Plan, model string) bool {
	return slices.ContainsFunc(p.Spec.Models, func(m spec.Model) bool { return m.ID.Value == model && (m.Live != nil || m.Replay != nil) })
}

func isLive(p *plan.Plan, model string) bool {
	return slices.ContainsFunc(p.Spec.Models, func(m spec.Model) bool { return m.ID.Value == model && m.Live != nil })
}

func (r *Result) complete(model string, level spec.Level) bool {
	return !slices.ContainsFunc(r.Runs, func(run Run) bool {
		return run.Model == model && run.Level == level && run.ExitGate == spec.Record && run.State != record.Complete && run.State != record.Skipped
	})
}
