package plan

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/spec/yamlpos"
	"github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/harness/stat/decide"
)

// Rule is how a decision is made; the shipped rule for nil.
func Rule(d *spec.Decision) decide.Rule {
	if d == nil {
		return decide.Rule{}
	}
	rule := decide.Rule{Unit: stat.Unit(d.Unit.Value), Candidates: len(d.For.Models)}
	if d.Pick.Value == spec.PickEach {
		rule.Candidates = 1
	}
	if d.MissingAtMost.Present() {
		rule.MissingAtMost = &d.MissingAtMost.Value
	}
	for _, n := range d.Looks {
		rule.Looks = append(rule.Looks, n.Value)
	}
	for _, c := range d.Require {
		rule.Criteria = append(rule.Criteria, criterion(c))
	}
	return rule
}

func criterion(c spec.Criterion) decide.Criterion {
	of := decide.Criterion{Metric: c.Metric.Value, Threshold: float64(c.Threshold.Value), By: c.By.Value}
	if c.Floor.Present() {
		floor := float64(c.Floor.Value)
		of.Floor = &floor
	}
	return of
}

// ComparedMetrics are the metrics of the spec's comparison.
func ComparedMetrics(s *spec.Spec) (metrics []string) {
	for _, m := range s.Compare.Metrics {
		metrics = append(metrics, m.Value)
	}
	if metrics == nil {
		return DecisionMetrics()
	}
	return metrics
}

// DecisionMetrics are those of the default criteria.
func DecisionMetrics() (names []string) {
	for _, c := range decide.DefaultCriteria() {
		names = append(names, c.Metric)
	}
	return names
}

// checkDecision refuses criteria that no decision can be made on.
func checkDecision(p *Plan) (errs diag.Errors) {
	if p.Spec.Decision == nil {
		return nil
	}
	tags := p.Tags()
	for _, c := range p.Spec.Decision.Require {
		if wrong := checkCriterion(p, c); wrong != "" {
			errs = append(errs, c.Metric.Errorf("%s", wrong))
		}
		switch {
		case !c.By.Present() || slices.Contains(tags, c.By.Value):
		case len(tags) == 0:
			errs = append(errs, c.By.Errorf("found %s, but no query has tags: want tags in the queries, as in tags: {%s: easy}", diag.Quote(c.By.Value), c.By.Value))
		default:
			errs = append(errs, c.By.Errorf("%s", diag.OneOf(c.By.Value, tags)))
		}
	}
	return errs
}

// seeMetrics ends errors that list metrics.
const seeMetrics = " (see mem help metrics)"

func checkCriterion(p *Plan, c spec.Criterion) string {
	name := c.Metric.Value
	d, known := stat.Define(name)
	if !known {
		return diag.OneOf(name, decidable()) + seeMetrics
	}
	if d.Refused != "" {
		return fmt.Sprintf("found a metric that cannot be a criterion (%s), want %s", d.Refused, diag.Choices(decidable())+seeMetrics)
	}
	if wrong := unanswered(p, name); wrong != "" {
		return wrong
	}
	if err := decide.Validate([]decide.Criterion{criterion(c)}); err != nil {
		return strings.TrimPrefix(err.Error(), "criterion "+name+": ")
	}
	if k, ok := trialsOf(name); ok && k > p.Spec.Trials {
		return fmt.Sprintf("found a metric of %d trials, want at most the spec's trials, %d", k, p.Spec.Trials)
	}
	for _, at := range []yamlpos.At[spec.Threshold]{c.Threshold, c.Floor} {
		if at.Present() && float64(at.Value) >= d.High {
			return fmt.Sprintf("found %v, which no lower bound reaches, however many queries there are: want less than %v", at.Value, d.High)
		}
	}
	return ""
}

// unanswered says why a metric of answers would be undefined in all runs; "" if it is not.
func unanswered(p *Plan, metric string) string {
	switch {
	case metric != "sub_em" && !strings.HasPrefix(metric, "answer_"):
		return ""
	case p.Answers == nil:
		return "found a metric of answers, but the spec asks for none: want answer: {} in it"
	case !slices.ContainsFunc(p.Runs, func(r *Run) bool { return len(r.References.Answers) > 0 || r.References.Unanswerable }):
		return "found a metric of answers, but no query has any: want answers in the queries, as in answers: [\"6380\"]"
	}
	return ""
}

// trialsOf is the k of pass_k.
func trialsOf(metric string) (k int, ok bool) {
	digits, ok := strings.CutPrefix(metric, "pass_")
	k, err := strconv.Atoi(digits)
	return k, ok && err == nil
}

// decidable are the metrics that a criterion may name, those that ship first: of several that are
// near a misspelt one they are suggested.
func decidable() []string {
	names := DecisionMetrics()
	for _, d := range stat.Definitions() {
		if d.Refused == "" && !slices.Contains(names, d.Name) {
			names = append(names, d.Name)
		}
	}
	return names
}

// checkCompare refuses metrics that cannot be compared.
func checkCompare(p *Plan) (errs diag.Errors) {
	if p.Spec.Compare == nil {
		return nil
	}
	for _, m := range p.Spec.Compare.Metrics {
		if err := CheckComparable(m.Value); err != nil {
			errs = append(errs, m.Errorf("%v", err))
		} else if wrong := unanswered(p, m.Value); wrong != "" {
			errs = append(errs, m.Errorf("%s", wrong))
		}
	}
	return errs
}

// CheckComparable is the error of a metric that cannot be compared, nil for one that can.
func CheckComparable(metric string) error {
	if _, known := stat.Define(metric); !known {
		return errors.New(diag.OneOf(metric, stat.Comparable()) + seeMetrics)
	}
	_, err := stat.NewScorer(metric)
	return err
}
