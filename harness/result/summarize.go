package result

import (
	"errors"
	"path/filepath"
	"runtime"

	"github.com/poimen-memory/mem/harness/internal/parallel"
	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/record"
)

// Config is what a summary needs beside the plan and the records. The zero value is that of
// judging records.
type Config struct {
	// Unrecorded are the ends of runs that an evaluation knows and the records do not hold.
	Unrecorded map[string]record.Unrecorded
	// Unused says which entries of a model's gate script no call came to, given the turns and
	// attempts of all calls by model id; nil: not asked.
	Unused func(asked map[string][][2]int) []string
	// Judging refuses records that were made under other circumstances than the plan's, with an
	// OtherRecords error; else their runs are misconfigured.
	Judging bool
}

// summary is what Summarize gathers.
type summary struct {
	plan   *plan.Plan
	folder record.Folder
	runs   []*runData // in the order of the plan
	byName map[string]*runData
}

// Summarize computes what the plan's selected runs came to, by their records in folder. The
// error is an OtherRecords, or about statistics that the plan should have refused.
func Summarize(p *plan.Plan, folder record.Folder, cfg Config) (*Result, error) {
	s := &summary{plan: p, folder: folder, byName: map[string]*runData{}}
	s.read(&folding{plan: p, folder: folder, unrecorded: cfg.Unrecorded})
	if err := s.otherRecords(); err != nil && cfg.Judging {
		return nil, err
	}
	countFlips(s.runs)
	markTextless(s)
	r := &Result{
		Schema: SchemaVersion, Experiment: p.Spec.Experiment.Value, About: p.Spec.About,
		Spec: filepath.ToSlash(p.Spec.File), Tokenizer: p.Tokenizer(), Prompt: p.Template, Budget: p.Budget(),
		Variants: p.Variations(),
		Warnings: warnings(p),
	}
	for _, d := range s.runs {
		r.Runs = append(r.Runs, d.Run)
	}
	if cfg.Unused != nil && r.Count(record.Interrupted) == 0 { // else an entry may yet be used
		r.Warnings = append(r.Warnings, cfg.Unused(s.asked())...)
	}
	var wrong [3]error
	r.Gates = gateRows(s)
	r.Answers = answerRows(s, r.Gates)
	r.ByLength = lengthRows(s)
	r.ByTag, wrong[2] = tagRows(s)
	r.Budgets = budgetTables(s)
	r.Usage, r.Drift = usageRows(s)
	r.Checks = judgeAll(s, r)
	r.Decisions, wrong[0] = decisions(s)
	r.Comparisons, wrong[1] = comparisons(s)
	return r, errors.Join(wrong[:]...)
}

// read folds all records: first those of runs that depend on none, then the others.
func (s *summary) read(f *folding) {
	outcomes := map[string]record.Outcome{}
	for _, over := range []bool{false, true} {
		var stage []*plan.Run
		for _, run := range s.plan.Selected() {
			if run.OverMemories() == over {
				stage = append(stage, run)
			}
		}
		data := make([]*runData, len(stage))
		parallel.Do(runtime.NumCPU(), len(stage), func(i int) { data[i] = f.run(stage[i], outcomes) })
		for _, d := range data {
			s.byName[d.Name], outcomes[d.Name] = d, d.outcome
		}
	}
	for _, run := range s.plan.Selected() {
		s.runs = append(s.runs, s.byName[run.Name])
	}
}

// otherRecords is the error of records that are not of the plan.
func (s *summary) otherRecords() error {
	var other OtherRecords
	for _, d := range s.runs {
		if d.other != "" {
			other = append(other, OtherRecord{d.Name, d.other})
		}
	}
	if other == nil {
		return nil
	}
	return other
}

// asked are the turns and attempts of all calls, by model.
func (s *summary) asked() map[string][][2]int {
	asked := map[string][][2]int{}
	for _, d := range s.runs {
		asked[d.Model] = append(asked[d.Model], d.asked...)
	}
	return asked
}

// Fails reports whether a run's record fails, by its state or a check of its own.
func Fails(p *plan.Plan, folder record.Folder, run *plan.Run) bool {
	outcomes := map[string]record.Outcome{}
	for _, name := range run.Sources {
		outcomes[name] = folder.Outcome(name)
	}
	d := (&folding{plan: p, folder: folder}).run(run, outcomes)
	for _, c := range d.checks {
		if c.Failed() {
			return true
		}
	}
	return d.State.Exit() != 0
}
