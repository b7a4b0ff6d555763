package harness

import (
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"

	"github.com/poimen-memory/mem/harness/spec/yamlpos"
	"github.com/poimen-memory/mem/harness/stat"
)

// Outlook is what it would take to decide the spec's decision, if its assumptions hold.
type Outlook struct {
	Tokenizer string // what counted
	Assume    []stat.Assumption
	Chance    float64 // of a decision that is wanted
	Most      int     // queries that were tried
	Queries   int     // that the spec has
	Trials    int     // of the spec: those of Curve
	Rows      []OutlookRow
	Curve     []stat.Power
}

// OutlookRow is what it takes with so many trials of each query. Cost is that of one
// model, at one level, with Power.Queries queries.
type OutlookRow struct {
	Trials  int
	Power   stat.Power
	Decided bool // with the wanted chance; else Power is that of the most queries
	Cost    Estimate
}

// OutlookConfig says what is assumed. The zero value is a model halfway between each
// threshold and 1, independent turns, and a wanted chance of 80 %.
type OutlookConfig struct {
	Rates       map[string]float64 // by metric
	ICC         float64            // intra-query correlation
	Chance      float64            // 0: 0.8
	Most        int                // queries to try; 0: 1,000
	Repetitions int                // simulated experiments a number of queries; 0: 400, for ±5 % at worst
}

func (c OutlookConfig) withDefaults() OutlookConfig {
	if c.Chance == 0 {
		c.Chance = 0.8
	}
	if c.Most == 0 {
		c.Most = 1000
	}
	if c.Repetitions == 0 {
		c.Repetitions = 400
	}
	return c
}

// Outlook simulates the decision on queries like the spec's: as many turns, as much
// evidence. A rate that is assumed of no criterion is an error.
func (e *Experiment) Outlook(cfg OutlookConfig) (Outlook, error) {
	cfg = cfg.withDefaults()
	o := Outlook{Tokenizer: e.Tokenizer(), Chance: cfg.Chance, Most: cfg.Most, Trials: e.Spec.Trials}
	runs, jobs := e.likely()
	if o.Queries = len(queriesOf(runs)); o.Queries == 0 {
		return o, errors.New("the spec has no model, so nothing can be planned")
	}
	var err error
	if o.Assume, err = e.assume(cfg, runs); err != nil {
		return o, err
	}
	return o, o.simulate(cfg, e.cost(jobs))
}

// simulate fills in the rows and the curve, each on its own.
func (o *Outlook) simulate(cfg OutlookConfig, cost Estimate) error {
	trials := trialNumbers(o.Trials)
	o.Rows = make([]OutlookRow, len(trials))
	o.Curve = make([]stat.Power, len(curveAt()))
	errs := make([]error, len(o.Rows)+len(o.Curve))
	plan := func(trials int) stat.Plan {
		return stat.Plan{Assume: o.Assume, Trials: trials, Repetitions: cfg.Repetitions}
	}
	parallel(runtime.NumCPU(), len(errs), func(i int) {
		if n := i - len(o.Rows); n >= 0 {
			o.Curve[n], errs[i] = plan(o.Trials).At(curveAt()[n])
			return
		}
		row := OutlookRow{Trials: trials[i]}
		row.Power, row.Decided, errs[i] = plan(row.Trials).Needed(cfg.Chance, cfg.Most)
		row.Cost = cost.times(row.Power.Queries*row.Trials, o.Queries)
		o.Rows[i] = row
	})
	return errors.Join(errs...)
}

// curveAt are the numbers of queries of a power curve.
func curveAt() []int { return []int{10, 20, 30, 40, 50, 75, 100, 150, 200} }

// trialNumbers are the numbers of trials that are planned for, the spec's own among them.
func trialNumbers(own int) []int {
	numbers := []int{1, 3, 5, own}
	slices.Sort(numbers)
	return slices.Compact(numbers)
}

// likely are the runs of the decision's first model, or the spec's, at the first level and
// trial with the exit gate recorded, as if every gate were right: what they have to count.
func (e *Experiment) likely() (runs []stat.Run, jobs []*job) {
	model := ""
	if e.Spec.Decision != nil {
		model = e.Spec.Decision.For.Models[0].Value
	} else if len(e.Spec.Models) > 0 {
		model = e.Spec.Models[0].ID.Value
	}
	for _, j := range e.jobs {
		if j.Model == model && j.session != nil && j.Level == e.Spec.Levels.Value[0] && j.ExitGate == e.Spec.ExitGate.Value[0] && j.Trial == 1 {
			jobs = append(jobs, j)
			runs = append(runs, e.perfect(j))
		}
	}
	return runs, jobs
}

func (e *Experiment) perfect(j *job) stat.Run {
	run := j.session.input(j.asked).begin(j)
	run.State = Complete
	if e.answers != nil && len(j.references.Answers) > 0 {
		run.Answer = &Answer{Score: &stat.AnswerScore{SubEM: 1, EM: 1, F1: 1}}
	}
	turns := make([]stat.Turn, run.Chunks)
	for i := range turns {
		turns[i] = stat.Turn{Parsed: true, FirstTry: true, Exit: i+1 >= run.lastEvidence()}
	}
	for _, n := range run.Evidence {
		turns[n-1] = stat.Turn{Evidence: true, Parsed: true, FirstTry: true, Update: true, Written: true, Exit: turns[n-1].Exit}
	}
	return observe(run, turns)
}

// assume puts rates to the criteria. What a query counts in one trial is what the metric's
// denominator is over the likely runs.
func (e *Experiment) assume(cfg OutlookConfig, runs []stat.Run) (list []stat.Assumption, err error) {
	required := stat.DefaultCriteria()
	if d := e.Spec.Decision; d != nil && len(d.Require) > 0 {
		required = criteria(d)
	}
	left := map[string]bool{}
	for metric := range cfg.Rates {
		left[metric] = true
	}
	var names []string
	for _, c := range required {
		names = append(names, c.Metric)
		delete(left, c.Metric)
		a := stat.Assumption{Criterion: c, BetaBinomial: stat.BetaBinomial{Rate: (1 + c.Threshold) / 2, ICC: cfg.ICC}}
		if rate, given := cfg.Rates[c.Metric]; given {
			a.Rate = rate
		}
		whole, err := stat.MeasureOne(c.Metric, runs)
		if err != nil {
			return nil, err
		}
		if whole.Units == 0 {
			return nil, fmt.Errorf("%s: %s: no number of such queries decides it", c.Metric, whole.Reason)
		}
		a.PerTrial = max(1, int(whole.N)/whole.Units)
		list = append(list, a)
	}
	for _, metric := range slices.Sorted(maps.Keys(left)) {
		err = errors.Join(err, fmt.Errorf("assumed rate: %s", yamlpos.OneOf(metric, names)))
	}
	return list, err
}

func (e *Experiment) cost(jobs []*job) (sum Estimate) {
	for _, j := range jobs {
		sum = sum.Add(e.estimate(j))
	}
	return sum
}

// times is what n of the things take that of altogether take a.
func (a Estimate) times(n, of int) Estimate {
	scale := func(v int) int { return v * n / of }
	return Estimate{
		Runs: scale(a.Runs), Calls: scale(a.Calls), Bound: a.Bound, Prompt: scale(a.Prompt), Completion: scale(a.Completion),
		USD: a.USD * float64(n) / float64(of), Unpriced: scale(a.Unpriced),
	}
}
