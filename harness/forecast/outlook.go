package forecast

import (
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/internal/parallel"
	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/harness/stat/answer"
	"github.com/poimen-memory/mem/harness/stat/decide"
	"github.com/poimen-memory/mem/harness/stat/power"
)

// Outlook is what it would take to decide the spec's decision, if its assumptions hold.
type Outlook struct {
	Tokenizer string // what counted
	Assume    []power.Assumption
	Chance    float64 // of a decision that is wanted
	Most      int     // queries that were tried
	Queries   int     // that the spec has
	Trials    int     // of the spec: those of Curve
	Rows      []OutlookRow
	Curve     []power.Power
}

// OutlookRow is what it takes with so many trials of each query. Cost is that of one
// model, at one level, with Power.Queries queries.
type OutlookRow struct {
	Trials  int
	Power   power.Power
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
func Decision(p *plan.Plan, cfg OutlookConfig) (Outlook, error) {
	cfg = cfg.withDefaults()
	o := Outlook{Tokenizer: p.Tokenizer(), Chance: cfg.Chance, Most: cfg.Most, Trials: p.Spec.Trials}
	runs, planned := likely(p)
	if o.Queries = len(distinctQueries(runs)); o.Queries == 0 {
		return o, errors.New("the spec has no model, so nothing can be planned")
	}
	var err error
	if o.Assume, err = assume(p, cfg, runs); err != nil {
		return o, err
	}
	return o, o.simulate(cfg, plan.Rule(p.Spec.Decision), cost(p, planned))
}

// simulate fills in the rows and the curve, each on its own.
func (o *Outlook) simulate(cfg OutlookConfig, rule decide.Rule, cost Estimate) error {
	trials := trialNumbers(o.Trials)
	o.Rows = make([]OutlookRow, len(trials))
	o.Curve = make([]power.Power, len(curveAt()))
	errs := make([]error, len(o.Rows)+len(o.Curve))
	plan := func(trials int) power.Plan {
		return power.Plan{Rule: rule, Assume: o.Assume, Trials: trials, Repetitions: cfg.Repetitions}
	}
	parallel.Do(runtime.NumCPU(), len(errs), func(i int) {
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
func likely(p *plan.Plan) (runs []stat.Run, planned []*plan.Run) {
	model := ""
	if p.Spec.Decision != nil {
		model = p.Spec.Decision.For.Models[0].Value
	} else if len(p.Spec.Models) > 0 {
		model = p.Spec.Models[0].ID.Value
	}
	for _, r := range p.Runs {
		if r.Model == model && !r.OverMemories() && r.Level == p.Spec.Levels.Value[0] && r.ExitGate == p.Spec.ExitGate.Value[0] && r.Trial == 1 {
			planned = append(planned, r)
			runs = append(runs, perfect(p, r))
		}
	}
	return runs, planned
}

// perfect is a run whose gates are all right.
func perfect(p *plan.Plan, r *plan.Run) stat.Run {
	in := r.Input()
	evidence := in.Turns()
	query, session := p.Unit(r)
	run := stat.Run{
		Query: query, ID: r.Query, Session: session, Corpus: r.Cell.Session, Level: r.Level.String(), Model: r.Model, Exit: r.ExitGate,
		Trial: r.Trial, Turns: make([]stat.Turn, len(in.Tokens)), Total: len(in.Tokens), Evidence: evidence,
	}
	last := 0
	if len(evidence) > 0 {
		last = evidence[len(evidence)-1]
	}
	if p.Answers != nil && len(r.References.Answers) > 0 {
		run.Answer = &answer.Score{SubEM: 1, EM: 1, F1: 1}
	}
	for i := range run.Turns {
		run.Turns[i] = stat.Turn{Parsed: true, FirstTry: true, Exit: i+1 >= last}
	}
	for _, n := range evidence {
		turn := &run.Turns[n-1]
		turn.Evidence, turn.Update, turn.Written = true, true, true
	}
	return run
}

// assume puts rates to the criteria. What a query counts in one trial is what the metric's
// denominator is over the likely runs.
func assume(p *plan.Plan, cfg OutlookConfig, runs []stat.Run) (list []power.Assumption, err error) {
	rule := plan.Rule(p.Spec.Decision)
	required := rule.Criteria
	if required == nil {
		required = decide.DefaultCriteria()
	}
	left := map[string]bool{}
	for metric := range cfg.Rates {
		left[metric] = true
	}
	var names []string
	for _, c := range required {
		names = append(names, c.Metric)
		delete(left, c.Metric)
		a := power.Assumption{Criterion: c, BetaBinomial: power.BetaBinomial{Rate: (1 + c.Threshold) / 2, ICC: cfg.ICC}}
		if rate, given := cfg.Rates[c.Metric]; given {
			a.Rate = rate
		}
		whole, err := stat.Collect(runs).MeasureOne(c.Metric, rule.Unit)
		if err != nil {
			return nil, err
		}
		if whole.Queries == 0 {
			return nil, fmt.Errorf("%s: %s: no number of such queries decides it", c.Metric, whole.Reason)
		}
		a.PerTrial = max(1, int(whole.N)/whole.Queries)
		list = append(list, a)
	}
	for _, metric := range slices.Sorted(maps.Keys(left)) {
		err = errors.Join(err, fmt.Errorf("assumed rate: %s", diag.OneOf(metric, names)))
	}
	return list, err
}

func cost(p *plan.Plan, planned []*plan.Run) (sum Estimate) {
	e := newEstimator(p)
	for _, r := range planned {
		sum = sum.Add(e.run(r))
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

func distinctQueries(runs []stat.Run) (names []string) {
	for _, r := range runs {
		if !slices.Contains(names, r.Query) {
			names = append(names, r.Query)
		}
	}
	return names
}

// ParseRates reads assumed rates, METRIC=RATE each. The error is about a --rate.
func ParseRates(args []string) (map[string]float64, error) {
	rates := map[string]float64{}
	for _, arg := range args {
		metric, text, ok := strings.Cut(arg, "=")
		rate, err := strconv.ParseFloat(text, 64)
		if !ok || err != nil {
			return nil, fmt.Errorf("--rate: found %q, want METRIC=RATE, as in exit_useful=0.9", arg)
		}
		rates[metric] = rate
	}
	return rates, nil
}
