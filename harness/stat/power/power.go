// Package power plans experiments: how a decision would end with so many queries, by
// simulation of the shipped rule on assumed rates.
package power

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/harness/stat/decide"
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
	random, rate := rand.New(source), b.DrawRate(source)
	successes := 0.0
	for range n {
		if random.Float64() < rate {
			successes++
		}
	}
	return successes
}

// DrawRate draws the rate of a new query.
func (b BetaBinomial) DrawRate(source rand.Source) float64 {
	if b.ICC <= 0 || b.Rate <= 0 || b.Rate >= 1 {
		return b.Rate
	}
	random, size := rand.New(source), (1-b.ICC)/b.ICC
	right, wrong := drawLogGamma(b.Rate*size, random), drawLogGamma((1-b.Rate)*size, random)
	return 1 / (1 + math.Exp(wrong-right))
}

// drawLogGamma draws the logarithm of a gamma variable of scale 1: of a small shape, where a rate
// is nearly all or nothing, the variable itself would be 0 (Marsaglia & Tsang 2000, with their
// step from shape+1 down).
func drawLogGamma(shape float64, random *rand.Rand) float64 {
	if shape < 1 {
		return drawLogGamma(shape+1, random) - random.ExpFloat64()/shape
	}
	d := shape - 1.0/3
	for {
		z := random.NormFloat64()
		v := math.Pow(1+z/(3*math.Sqrt(d)), 3)
		if v > 0 && -random.ExpFloat64() < z*z/2+d-d*v+d*math.Log(v) {
			return math.Log(d * v)
		}
	}
}

// Assumption is what a plan takes for true of one criterion.
type Assumption struct {
	decide.Criterion
	BetaBinomial
	PerTrial int // scored turns, or runs, that a query has in one trial; 0: 1
}

// Plan is an experiment that has not run. Every query has a session of its own. The criteria
// are drawn independently, which makes the chance of GO, if anything, too small.
type Plan struct {
	Assume      []Assumption
	Rule        decide.Rule // its criteria are those of Assume; its looks are not simulated
	Trials      int         // of each query; 0: 1
	Repetitions int         // simulated experiments; 0: 1,000, for ±3 % at worst
	Seed        uint64      // equal seeds give equal numbers
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
	criteria := make([]decide.Criterion, len(p.Assume))
	var errs []error
	for i, a := range p.Assume {
		criteria[i] = a.Criterion
		errs = append(errs, a.validate())
	}
	if len(criteria) == 0 {
		errs = append(errs, errors.New("a plan without criteria: want at least one"))
	}
	return errors.Join(append(errs, decide.Validate(criteria))...)
}

func (a Assumption) validate() error {
	d, known := stat.Define(a.Metric)
	switch {
	case !(a.Rate >= 0 && a.Rate <= 1):
		return fmt.Errorf("assumed rate %[2]v of %[1]s: want a number from 0 to 1", a.Metric, a.Rate)
	case !(a.ICC >= 0 && a.ICC < 1):
		return fmt.Errorf("assumed correlation %v of %s: want at least 0 and below 1", a.ICC, a.Metric)
	case known && !d.Rate():
		return fmt.Errorf("%s cannot be planned: want a rate", a.Metric)
	}
	return nil
}

// At is the power with so many queries.
func (p Plan) At(queries int) (Power, error) {
	if err := p.Validate(); err != nil {
		return Power{}, err
	}
	return p.simulate(queries)
}

// Needed is the smallest number of queries, from 10 to most, with which the experiment is
// decided with the given chance, and its power; ok is false where it takes more.
func (p Plan) Needed(chance float64, most int) (power Power, ok bool, err error) {
	enough := stat.MinQueries
	for power, err = p.At(enough); err == nil && power.Decided() < chance; power, err = p.At(enough) {
		if enough == most {
			return power, false, nil
		}
		enough = min(2*enough, most)
	}
	for few := enough / 2; err == nil && enough > stat.MinQueries && enough-few > 1; {
		middle := (few + enough) / 2
		var at Power
		if at, err = p.At(middle); at.Decided() < chance {
			few = middle
		} else {
			enough, power = middle, at
		}
	}
	return power, err == nil, err
}

// simulate is the power at a number of queries. Repetition i draws the same queries at
// every number of them, so that a curve is smooth.
func (p Plan) simulate(queries int) (Power, error) {
	repetitions := p.Repetitions
	if repetitions == 0 {
		repetitions = 1000
	}
	count := map[decide.Verdict]int{}
	for i := range repetitions {
		v, err := p.verdict(queries, uint64(i))
		if err != nil {
			return Power{}, err
		}
		count[v]++
	}
	share := func(n int) float64 { return float64(n) / float64(repetitions) }
	return Power{queries, share(count[decide.Go]), share(count[decide.NoGo]), share(repetitions - count[decide.Go] - count[decide.NoGo])}, nil
}

// verdict is that on one simulated experiment.
func (p Plan) verdict(queries int, repetition uint64) (decide.Verdict, error) {
	list := make([]decide.Counted, len(p.Assume))
	for i, a := range p.Assume {
		// Every criterion has a stream of its own: the first n queries are the same for all n.
		source := rand.NewPCG(p.Seed+uint64(i)<<32, repetition)
		list[i] = decide.Counted{Criterion: a.Criterion, Cells: a.draw(queries, p.Trials, source)}
	}
	return decide.VerdictOf(list, p.Rule)
}

func (a Assumption) draw(queries, trials int, source rand.Source) []stat.Cell {
	trials = max(1, trials)
	n := trials * max(1, a.PerTrial)
	list := make([]stat.Cell, queries)
	for i := range list {
		name := strconv.Itoa(i)
		list[i] = stat.Cell{Query: name, Session: name, X: a.Draw(n, source), N: float64(n), K: float64(trials)}
	}
	return list
}
