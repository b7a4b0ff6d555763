package stat

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// Verdict is the outcome of a criterion or of a decision.
type Verdict string

// The verdicts. Only a decision is ever Invalid.
const (
	Go           Verdict = "GO"
	NoGo         Verdict = "NO-GO"
	Inconclusive Verdict = "INCONCLUSIVE"
	Invalid      Verdict = "INVALID"
)

// Criterion demands that a metric is at least a threshold, within 0 and 1.
type Criterion struct {
	Metric    string  `json:"metric"`
	Threshold float64 `json:"threshold"`
}

// DefaultCriteria are those that ship (METRICS section 3). Recall is that of committed
// writes: a gate whose writes are rejected remembers nothing.
func DefaultCriteria() []Criterion {
	return []Criterion{
		{"recall_committed", 0.85},
		{"specificity_strict", 0.85},
		{"exit_safe", 0.80},
		{"first_try_parse", 0.95},
	}
}

// Rule is how Decide decides; the zero Rule is the shipped one.
type Rule struct {
	Criteria []Criterion // none: DefaultCriteria
	Earlier  int         // queries at an earlier decision on these data; 0: it is the first
}

const (
	alpha      = 0.05 // of the decision, one-sided
	maxMissing = 0.01 // share of turns without a reply above which nothing is decided
)

// Decision is the verdict on one model at one level, with all that it rests on.
type Decision struct {
	Verdict  Verdict    `json:"verdict"`
	Reason   string     `json:"reason"`
	Criteria []Judgment `json:"criteria"`
	Coverage Coverage   `json:"coverage"`
	// Changed is the number of retaining turns whose memory bytes changed, of all runs:
	// the one cause of INVALID that is a failure of the judged, not of the infrastructure.
	Changed int      `json:"changed"`
	Further *Further `json:"further,omitempty"` // of an INCONCLUSIVE decision
	Notes   []string `json:"notes,omitempty"`
}

// Judgment is the verdict on one criterion.
type Judgment struct {
	Criterion
	Estimate Estimate `json:"estimate"`
	Lower    *float64 `json:"lower"` // one-sided 95 %: GO when it reaches the threshold
	Upper    *float64 `json:"upper"` // one-sided at UpperLevel: NO-GO when it is below the threshold
	// UpperLevel is 1 − 0.05/m for m criteria.
	UpperLevel float64  `json:"upper_level"`
	Verdict    Verdict  `json:"verdict"`
	Reason     string   `json:"reason"`
	Further    *Further `json:"further,omitempty"` // of an INCONCLUSIVE criterion
}

// Validate says what is wrong with criteria, all of it at once.
func Validate(criteria []Criterion) error {
	var errs []error
	seen := map[string]bool{}
	for _, c := range criteria {
		if seen[c.Metric] {
			errs = append(errs, fmt.Errorf("criterion %s is given twice: want one threshold", c.Metric))
		}
		seen[c.Metric] = true
		errs = append(errs, c.validate())
	}
	return errors.Join(errs...)
}

func (c Criterion) validate() error {
	m, ok := find(c.Metric)
	switch {
	case !ok:
		return unknownMetric(c.Metric)
	case m.Interval == "":
		return fmt.Errorf("criterion %s: the metric has no interval, so nothing can be decided on it", c.Metric)
	case m.Better != Higher:
		return fmt.Errorf("criterion %s: a criterion demands at least its threshold: want a metric of which more is better", c.Metric)
	case !(c.Threshold >= 0 && c.Threshold <= 1):
		return fmt.Errorf("criterion %s: threshold %v: want a number from 0 to 1", c.Metric, c.Threshold)
	}
	return nil
}

// Decide decides on the runs of one model at one level with the exit gate recorded only
// (METRICS section 3). It is an error if the rule is wrong or the runs are not that.
func Decide(runs []Run, rule Rule) (Decision, error) {
	criteria := rule.Criteria
	if len(criteria) == 0 {
		criteria = DefaultCriteria()
	}
	if err := errors.Join(Validate(criteria), decidable(runs)); err != nil {
		return Decision{}, err
	}
	s := newSample(runs)
	results := make([]measured, len(criteria))
	for i, c := range criteria {
		m, _ := find(c.Metric)
		results[i] = m.measure(s)
	}
	d := decide(criteria, results, Integrity{Coverage: Cover(runs), Changed: changed(runs)})
	d.Notes = append(d.Notes, rule.again(results)...)
	return d, nil
}

// DecideClusters decides on numbers that were counted elsewhere: clusters[i] are the
// queries of criteria[i], which must name rates.
func DecideClusters(criteria []Criterion, clusters [][]Cluster, integrity Integrity) (Decision, error) {
	if err := Validate(criteria); err != nil {
		return Decision{}, err
	}
	results := make([]measured, len(criteria))
	for i, c := range criteria {
		m, _ := find(c.Metric)
		if m.Interval != byClusters {
			return Decision{}, fmt.Errorf("criterion %s is not a rate: want its runs, not its counts", c.Metric)
		}
		results[i] = m.pool(clusters[i])
	}
	return decide(criteria, results, integrity), nil
}

// Integrity is what makes data unfit for any decision.
type Integrity struct {
	Coverage Coverage
	Changed  int // retaining turns whose memory bytes changed
}

func (i Integrity) problems() (reasons []string) {
	if i.Changed > 0 {
		reasons = append(reasons, plural(i.Changed, "retaining turn", "retaining turns")+" changed the memory's bytes")
	}
	if missing := float64(i.Coverage.Missing); missing > maxMissing*float64(i.Coverage.Turns) {
		reasons = append(reasons, fmt.Sprintf("%d of %d turns had no model reply, more than %v %%", i.Coverage.Missing, i.Coverage.Turns, maxMissing*100))
	}
	return reasons
}

// changed counts the violations of all runs: an incomplete run is in no metric, but what
// it broke is broken.
func changed(runs []Run) (n int) {
	for _, r := range runs {
		for _, t := range r.Turns {
			n += one(t.Changed && !t.Written)
		}
	}
	return n
}

func decidable(runs []Run) error {
	for _, r := range runs {
		if r.Exit != ExitRecord && r.Exit != "" {
			return fmt.Errorf("a decision on runs with exit gate %q: want recorded only, where all turns exist", r.Exit)
		}
		if r.Model != runs[0].Model || r.Level != runs[0].Level {
			return fmt.Errorf("a decision on %s at %s together with %s at %s: want one model and level", runs[0].Model, runs[0].Level, r.Model, r.Level)
		}
	}
	return nil
}

func (r Rule) again(results []measured) []string {
	now := queries(results)
	if r.Earlier == 0 || r.Earlier >= now {
		return nil
	}
	return []string{fmt.Sprintf("decided before on %d queries, now on %d: looking again inflates the error (6.7–12.5 %% false GO when looking every five queries)", r.Earlier, now)}
}

// queries is the most that any criterion has.
func queries(results []measured) (most int) {
	for _, r := range results {
		most = max(most, r.Queries)
	}
	return most
}

func decide(criteria []Criterion, results []measured, integrity Integrity) Decision {
	findings := weighAll(criteria, results)
	d := Decision{Verdict: combine(findings), Coverage: integrity.Coverage, Changed: integrity.Changed}
	for _, f := range findings {
		d.Criteria = append(d.Criteria, f.judgment())
	}
	if problems := integrity.problems(); len(problems) > 0 {
		d.Verdict, d.Reason = Invalid, strings.Join(problems, "; ")
		return d
	}
	d.Reason = d.because()
	if d.Verdict == Inconclusive {
		d.Further = slowest(d.Criteria)
	}
	return d
}

// because is the reason in a sentence: what stands against GO, or that nothing does.
func (d Decision) because() string {
	if d.Verdict == Go {
		return "every lower bound reaches its threshold"
	}
	var reasons []string
	for _, j := range d.Criteria {
		if j.Verdict == d.Verdict {
			reasons = append(reasons, j.Metric+": "+j.Reason)
		}
	}
	return strings.Join(reasons, "; ")
}

// finding is a criterion with the bounds that decide it.
type finding struct {
	Criterion
	measured
	lower, upper, level float64
	verdict             Verdict
}

func weighAll(criteria []Criterion, results []measured) []finding {
	f := make([]finding, len(criteria))
	for i, c := range criteria {
		f[i] = weigh(c, results[i], len(criteria))
	}
	return f
}

// weigh judges one of m criteria. GO needs all of them, each at 0.05 (intersection–union);
// NO-GO needs any, so each has 0.05/m of the error.
func weigh(c Criterion, r measured, m int) finding {
	f := finding{Criterion: c, measured: r, level: 1 - alpha/float64(m), verdict: Inconclusive}
	f.lower, _ = r.bounds(alpha)
	_, f.upper = r.bounds(alpha / float64(m))
	switch {
	case f.short():
	case f.lower >= c.Threshold:
		f.verdict = Go
	case f.upper < c.Threshold:
		f.verdict = NoGo
	}
	return f
}

// short says that there are too few queries to decide anything.
func (f finding) short() bool { return f.Queries < MinQueries }

// combine is the decision on sound data (METRICS section 3, rules 2 to 5).
func combine(findings []finding) Verdict {
	all, verdict := true, Inconclusive
	for _, f := range findings {
		if f.short() {
			return Inconclusive
		}
		all = all && f.verdict == Go
		if f.verdict == NoGo {
			verdict = NoGo
		}
	}
	if all {
		return Go
	}
	return verdict
}

func (f finding) judgment() Judgment {
	j := Judgment{
		Criterion: f.Criterion, Estimate: f.estimate(), Verdict: f.verdict, Reason: f.because(),
		Lower: number(f.lower), Upper: number(f.upper), UpperLevel: *number(f.level),
	}
	if f.verdict == Inconclusive {
		j.Further = f.further()
	}
	return j
}

func (f finding) because() string {
	switch {
	case math.IsNaN(f.value):
		return "undefined: " + f.none
	case f.short():
		return fmt.Sprintf("%s, fewer than %d", plural(f.Queries, "query", "queries"), MinQueries)
	case f.verdict == Go:
		return fmt.Sprintf("lower bound %.3f reaches %v", f.lower, f.Threshold)
	case f.verdict == NoGo:
		return fmt.Sprintf("upper bound %.3f is below %v", f.upper, f.Threshold)
	case math.IsNaN(f.lower):
		return "no interval"
	}
	return fmt.Sprintf("%v lies between the bounds %.3f and %.3f", f.Threshold, f.lower, f.upper)
}
