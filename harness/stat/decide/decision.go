package decide

import (
	"errors"
	"fmt"
	"strings"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/stat"
)

// Verdict is the outcome of a claim or of a decision.
type Verdict string

// The verdicts. Only a decision is ever Invalid.
const (
	Go           Verdict = "GO"
	NoGo         Verdict = "NO-GO"
	Inconclusive Verdict = "INCONCLUSIVE"
	Invalid      Verdict = "INVALID"
)

// Criterion demands that a metric is at least a threshold, on the metric's own scale.
type Criterion struct {
	Metric    string   `json:"metric"`
	Threshold float64  `json:"threshold"`
	By        string   `json:"by,omitempty"`    // a tag of the queries: every value of it is a claim too
	Floor     *float64 `json:"floor,omitempty"` // threshold of the groups; nil: Threshold
}

func (c Criterion) floor() float64 {
	if c.Floor != nil {
		return *c.Floor
	}
	return c.Threshold
}

// DefaultCriteria are those that ship (docs/statistics.md). Recall is that of committed
// writes: a gate whose writes are rejected remembers nothing. The exit is a useful one: a
// gate that never opens exits safely.
func DefaultCriteria() []Criterion {
	return []Criterion{
		{Metric: "recall_committed", Threshold: 0.85},
		{Metric: "specificity_strict", Threshold: 0.85},
		{Metric: "exit_useful", Threshold: 0.80},
		{Metric: "first_try_parse", Threshold: 0.95},
	}
}

const (
	decisionAlpha     = 0.05 // of the decision, one-sided
	defaultMissing    = 0.01 // share of turns without a reply above which nothing is decided
	mostMissingAtMost = 0.05
)

// Rule is how a decision is made; the zero Rule is the shipped one.
type Rule struct {
	Criteria      []Criterion // none: DefaultCriteria
	Unit          stat.Unit
	Candidates    int      // models that were tried; 0: 1, each model is a question of its own
	Looks         []int    // planned, in queries (sessions under unit session), ascending; none: one look
	Made          []Made   // earlier decisions in the same folder
	MissingAtMost *float64 // share of turns without a reply, 0 to 0.05; nil: 0.01
}

func (r Rule) criteria() []Criterion {
	if len(r.Criteria) == 0 {
		return DefaultCriteria()
	}
	return r.Criteria
}

func (r Rule) missingAtMost() float64 {
	if r.MissingAtMost == nil {
		return defaultMissing
	}
	return *r.MissingAtMost
}

// Validate says what is wrong with a rule, all of it at once.
func (r Rule) Validate() error {
	errs := []error{Validate(r.Criteria), validateLooks(r.Looks), validateMade(r.Made, r.Looks)}
	if !r.Unit.Valid() {
		errs = append(errs, fmt.Errorf("unit %q: want auto, query or session", r.Unit))
	}
	if r.Candidates < 0 {
		errs = append(errs, fmt.Errorf("%d candidates: want the number of models that were tried", r.Candidates))
	}
	if m := r.missingAtMost(); !(m >= 0 && m <= mostMissingAtMost) {
		errs = append(errs, fmt.Errorf("missing_at_most %v: want a share from 0 to %v", m, mostMissingAtMost))
	}
	return errors.Join(errs...)
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
	m, ok := stat.Define(c.Metric)
	switch {
	case !ok:
		return stat.UnknownMetric(c.Metric)
	case m.Refused != "":
		return fmt.Errorf("criterion %s: %s", c.Metric, m.Refused)
	case !(c.Threshold >= m.Low && c.Threshold <= m.High):
		return fmt.Errorf("criterion %s: threshold %v: want a number from %v to %v", c.Metric, c.Threshold, m.Low, m.High)
	case !(c.floor() >= m.Low && c.floor() <= m.High):
		return fmt.Errorf("criterion %s: floor %v: want a number from %v to %v", c.Metric, c.floor(), m.Low, m.High)
	case c.Floor != nil && c.By == "":
		return fmt.Errorf("criterion %s: floor without by: name the tag whose groups it is for", c.Metric)
	}
	return nil
}

// Decision is the verdict on one model at one level, with all that it rests on.
type Decision struct {
	Verdict  Verdict       `json:"verdict"`
	Scope    string        `json:"scope,omitempty"` // what it holds for, where that is not new questions on new sessions
	Reason   string        `json:"reason"`
	Criteria []Judgment    `json:"criteria"` // a judgment for each claim
	Unit     stat.Unit     `json:"unit"`
	Look     Look          `json:"look"`
	Coverage stat.Coverage `json:"coverage"`
	// Candidates is the number of models that the error was divided by.
	Candidates int `json:"candidates"`
	// Changed is the number of retaining turns whose memory bytes changed, of all runs: the
	// one cause of INVALID that is a failure of the judged, not of the infrastructure.
	Changed int         `json:"changed"`
	Further *Further    `json:"further,omitempty"` // of an INCONCLUSIVE decision
	Labels  *LabelNoise `json:"labels,omitempty"`  // of GO and NO-GO
	Notes   []string    `json:"notes,omitempty"`
}

// String is the verdict with its scope: "GO (on these 3 sessions)".
func (d Decision) String() string {
	if d.Scope == "" {
		return string(d.Verdict)
	}
	return string(d.Verdict) + " (" + d.Scope + ")"
}

// Judgment is the verdict on one claim.
type Judgment struct {
	Criterion
	Group    string        `json:"group,omitempty"` // value of the tag By; empty: all queries
	Claimed  float64       `json:"claimed"`         // the threshold, or the floor of a group
	Estimate stat.Estimate `json:"estimate"`        // over complete runs
	// Lower and Upper are one-sided bounds at LowerAlpha and UpperAlpha; missing turns are
	// failures in the one, successes in the other. GO when Lower reaches Claimed, NO-GO when
	// Upper is below it.
	Lower      *float64 `json:"lower"`
	Upper      *float64 `json:"upper"`
	LowerAlpha float64  `json:"lower_alpha"`
	UpperAlpha float64  `json:"upper_alpha"`
	Units      int      `json:"units"` // queries (sessions under unit session), those of missing turns included
	Verdict    Verdict  `json:"verdict"`
	Reason     string   `json:"reason"`
	Further    *Further `json:"further,omitempty"` // of an INCONCLUSIVE claim
	Weakest    *Weakest `json:"weakest,omitempty"` // of a criterion without By
}

// Integrity is what makes data unfit for any decision.
type Integrity struct {
	Coverage stat.Coverage
	Changed  int // retaining turns whose memory bytes changed
}

func (i Integrity) problems(missingAtMost float64) (reasons []string) {
	if i.Changed > 0 {
		reasons = append(reasons, diag.Count(i.Changed, "retaining turn")+" changed the memory's bytes")
	}
	if missing := float64(i.Coverage.Missing); missing > missingAtMost*float64(i.Coverage.Turns)+1e-9 {
		reasons = append(reasons, fmt.Sprintf("%d of %d turns had no model reply, more than %v %%", i.Coverage.Missing, i.Coverage.Turns, missingAtMost*100))
	}
	return reasons
}

// Decide decides on the runs of one model at one level with the exit gate recorded only
// (docs/statistics.md). It is an error if the rule is wrong or the runs are not that.
func Decide(s *stat.Sample, rule Rule) (Decision, error) {
	if err := errors.Join(rule.Validate(), s.Check(), tagged(s, rule)); err != nil {
		return Decision{}, err
	}
	var list []claim
	for _, c := range rule.criteria() {
		m, err := s.Count(c.Metric)
		if err != nil {
			return Decision{}, err
		}
		list = append(list, claims(m, c, rule.Unit, s.ValueOf(c.By))...)
	}
	d := rule.decide(list, s.Units(rule.Unit), Integrity{s.Coverage(), s.Changed()})
	d.Scope = scope(s, rule.Unit)
	for i := range list {
		if err := d.Criteria[i].describe(s, list[i]); err != nil {
			return Decision{}, err
		}
		if w := d.Criteria[i].Weakest; w != nil && w.Below {
			d.Notes = append(d.Notes, w.warning(list[i].Criterion))
		}
	}
	return d, d.addLabels(s, list)
}

// describe adds the claim's estimate over complete runs, and the weakest group.
func (j *Judgment) describe(s *stat.Sample, c claim) (err error) {
	of := s
	if c.group != "" {
		queries := map[string]bool{}
		for _, q := range c.Queries() {
			queries[q] = true
		}
		of = s.Only(func(q string) bool { return queries[q] })
	}
	if j.Estimate, err = of.MeasureOne(c.Metric, c.unit); err != nil {
		return err
	}
	j.Weakest, err = weakest(s, c)
	return err
}

// Counted is a criterion with what it rests on, counted elsewhere. Criterion must name a
// rate or a bounded mean; Groups has the value of the tag By of each query.
type Counted struct {
	Criterion
	Cells  []stat.Cell
	Groups map[string]string
}

// DecideCounted decides on numbers that were counted elsewhere. The criteria are those of
// list, not of rule.
func DecideCounted(list []Counted, rule Rule, integrity Integrity) (Decision, error) {
	claims, err := rule.claims(list)
	if err != nil {
		return Decision{}, err
	}
	d := rule.decide(claims, mostUnits(claims), integrity)
	for i, c := range claims {
		d.Criteria[i].Estimate = c.Estimate(c.unit)
	}
	return d, nil
}

// VerdictOf is the verdict of DecideCounted on sound data, without what explains it: for
// simulations.
func VerdictOf(list []Counted, rule Rule) (Verdict, error) {
	claims, err := rule.claims(list)
	if err != nil {
		return "", err
	}
	look := rule.judge(claims, mostUnits(claims))
	return combine(claims, look.Planned && look.Alpha > 0), nil
}

func (r Rule) claims(list []Counted) (all []claim, err error) {
	r.Criteria = nil
	for _, c := range list {
		r.Criteria = append(r.Criteria, c.Criterion)
	}
	if err := r.Validate(); err != nil {
		return nil, err
	}
	for _, c := range list {
		m, err := stat.CountCells(c.Metric, c.Cells)
		if err != nil {
			return nil, err
		}
		all = append(all, claims(m, c.Criterion, r.Unit, func(q string) string { return c.Groups[q] })...)
	}
	return all, nil
}

// mostUnits is the most that any claim has.
func mostUnits(claims []claim) (units int) {
	for i := range claims {
		units = max(units, claims[i].units())
	}
	return units
}

// judge judges every claim at the errors of the look that so many units allow.
func (r Rule) judge(claims []claim, units int) Look {
	look := r.look(units)
	for i := range claims {
		claims[i].look = look
		claims[i].judge(look.Alpha/float64(max(1, r.Candidates)), look.Alpha/float64(len(claims)))
	}
	return look
}

// decide judges claims and combines them.
func (r Rule) decide(claims []claim, units int, integrity Integrity) Decision {
	look := r.judge(claims, units)
	d := Decision{Look: look, Unit: r.Unit, Coverage: integrity.Coverage, Changed: integrity.Changed, Candidates: max(1, r.Candidates)}
	if d.Unit == "" {
		d.Unit = stat.Auto
	}
	alphaGo, alphaNoGo := look.Alpha/float64(d.Candidates), look.Alpha/float64(len(claims))
	for i := range claims {
		j := claims[i].judgment(r)
		j.LowerAlpha, j.UpperAlpha = alphaGo, alphaNoGo
		d.Criteria = append(d.Criteria, j)
	}
	d.Verdict = combine(claims, look.Planned && look.Alpha > 0)
	d.explain(claims, integrity.problems(r.missingAtMost()))
	return d
}

func (c *claim) judgment(r Rule) Judgment {
	j := Judgment{
		Criterion: c.Criterion, Group: c.group, Claimed: c.threshold, Verdict: c.verdict, Reason: c.because(),
		Lower: stat.Number(c.lower), Upper: stat.Number(c.upper), Units: c.units(),
	}
	if c.verdict == Inconclusive && c.look.Alpha > 0 {
		j.Further = c.further(r)
	}
	return j
}

// explain sets the reason, INVALID where the data are unfit, and the notes.
func (d *Decision) explain(claims []claim, problems []string) {
	if d.Coverage.Missing > 0 {
		d.Notes = append(d.Notes, fmt.Sprintf("%s of %d have no model reply: failures in every lower bound, successes in every upper one",
			diag.Count(d.Coverage.Missing, "turn"), d.Coverage.Turns))
	}
	if d.Look.Note != "" {
		d.Notes = append(d.Notes, d.Look.Note)
	}
	switch {
	case len(problems) > 0:
		d.Verdict, d.Reason = Invalid, strings.Join(problems, "; ")
	case d.Look.Alpha == 0:
		d.Reason = d.Look.Note
	case d.Verdict == Go:
		d.Reason = "every lower bound reaches its threshold"
	default:
		d.Reason = d.reasons(claims)
	}
	if d.Verdict == Inconclusive {
		d.Further = slowest(d.Criteria)
	}
}

// reasons are those of the claims with the decision's verdict.
func (d *Decision) reasons(claims []claim) string {
	var reasons []string
	for i := range claims {
		if claims[i].verdict == d.Verdict {
			reasons = append(reasons, claims[i].title()+": "+claims[i].because())
		}
	}
	if len(reasons) == 0 {
		return d.Look.Note // every claim is GO, and the look was not planned
	}
	return strings.Join(reasons, "; ")
}
