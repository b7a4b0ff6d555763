package stat

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"
)

// BetaBinomial draws what a query contributes to a rate: its own rate is drawn from
// Beta(p(1−ρ)/ρ, (1−p)(1−ρ)/ρ), so that two observations of one query correlate by ρ, the
// intra-query correlation; its observations are then independent.
type BetaBinomial struct {
	Rate float64 // p, from 0 to 1
	ICC  float64 // ρ, from 0, below 1
}

// Draw draws the successes among n observations of a new query.
func (b BetaBinomial) Draw(n int, source rand.Source) float64 {
	p := b.Rate
	if b.ICC > 0 && p > 0 && p < 1 {
		size := (1 - b.ICC) / b.ICC
		p = distuv.Beta{Alpha: p * size, Beta: (1 - p) * size, Src: source}.Rand()
	}
	if math.IsNaN(p) { // shapes so small that both gammas underflow: a query is all or nothing
		p = distuv.Bernoulli{P: b.Rate, Src: source}.Rand()
	}
	return distuv.Binomial{N: float64(n), P: p, Src: source}.Rand()
}

// Assumption is what a plan takes for true of one criterion.
type Assumption struct {
	Criterion
	BetaBinomial
	PerTrial int // scored turns, or runs, that a query has in one trial; 0: 1
}

// Plan is an experiment that has not run: how it would be decided, by simulation of the
// shipped rule on beta-binomial queries. The criteria are drawn independently, which makes
// the chance of GO, if anything, too small.
type Plan struct {
	Assume      []Assumption
	Trials      int    // of each query; 0: 1
	Repetitions int    // simulated experiments; 0: 1,000, for ±3 % at worst
	Seed        uint64 // equal seeds give equal numbers
}

// Power is the share of simulated experiments that end in each verdict.
type Power struct {
	Queries      int     `json:"queries"`
	Go           float64 `json:"go"`
	NoGo         float64 `json:"no_go"`
	Inconclusive float64 `json:"inconclusive"`
}

// Decided is the share that ends in GO or NO-GO.
func (p Power) Decided() float64 { return p.Go + p.NoGo }

// Validate says what is wrong with a plan, all of it at once.
func (p Plan) Validate() error {
	criteria := make([]Criterion, len(p.Assume))
	var errs []error
	for i, a := range p.Assume {
		criteria[i] = a.Criterion
		errs = append(errs, a.validateRate())
	}
	if len(criteria) == 0 {
		errs = append(errs, errors.New("a plan without criteria: want at least one"))
	}
	return errors.Join(append(errs, Validate(criteria))...)
}

func (a Assumption) validateRate() error {
	m, _ := find(a.Metric)
	switch {
	case !(a.Rate >= 0 && a.Rate <= 1):
		return fmt.Errorf("assumed rate %[2]v of %[1]s: want a number from 0 to 1", a.Metric, a.Rate)
	case !(a.ICC >= 0 && a.ICC < 1):
		return fmt.Errorf("assumed correlation %v of %s: want at least 0 and below 1", a.ICC, a.Metric)
	case m.Interval != "" && m.Interval != byClusters:
		return fmt.Errorf("%s cannot be planned: want a rate", a.Metric)
	}
	return nil
}

// At is the power with so many queries.
func (p Plan) At(queries int) (Power, error) {
	if err := p.Validate(); err != nil {
		return Power{}, err
	}
	return p.simulate(queries), nil
}

// Needed is the smallest number of queries, from 10 to most, with which the experiment is
// decided with the given chance, and its power; ok is false where it takes more.
func (p Plan) Needed(chance float64, most int) (power Power, ok bool, err error) {
	if err := p.Validate(); err != nil {
		return Power{}, false, err
	}
	enough := MinQueries
	for power = p.simulate(enough); power.Decided() < chance; power = p.simulate(enough) {
		if enough == most {
			return power, false, nil
		}
		enough = min(2*enough, most)
	}
	for few := enough / 2; enough > MinQueries && enough-few > 1; {
		middle := (few + enough) / 2
		if at := p.simulate(middle); at.Decided() < chance {
			few = middle
		} else {
			enough, power = middle, at
		}
	}
	return power, true, nil
}

// simulate is the power at a number of queries. Repetition i draws the same queries at
// every number of them, so that a curve is smooth.
func (p Plan) simulate(queries int) Power {
	repetitions := p.Repetitions
	if repetitions == 0 {
		repetitions = 1000
	}
	var count struct{ goes, noGoes int }
	for i := range repetitions {
		switch p.once(queries, uint64(i)) {
		case Go:
			count.goes++
		case NoGo:
			count.noGoes++
		}
	}
	share := func(n int) float64 { return float64(n) / float64(repetitions) }
	return Power{queries, share(count.goes), share(count.noGoes), share(repetitions - count.goes - count.noGoes)}
}

// once is the verdict on one simulated experiment.
func (p Plan) once(queries int, repetition uint64) Verdict {
	findings := make([]finding, len(p.Assume))
	for i, a := range p.Assume {
		// Every criterion has a stream of its own: the first n queries are the same for all n.
		source := rand.NewPCG(p.Seed+uint64(i)<<32, repetition)
		m, _ := find(a.Metric)
		findings[i] = weigh(a.Criterion, m.pool(a.draw(queries, p.Trials, source)), len(p.Assume))
	}
	return combine(findings)
}

func (a Assumption) draw(queries, trials int, source rand.Source) []Cluster {
	trials = max(1, trials)
	n := trials * max(1, a.PerTrial)
	list := make([]Cluster, queries)
	for i := range list {
		list[i] = Cluster{X: a.Draw(n, source), N: float64(n), K: float64(trials)}
	}
	return list
}
