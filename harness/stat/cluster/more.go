package cluster

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/mathext"
)

const (
	// MinUnits is the number of queries (sessions under BySession) below which nothing is
	// decided and nothing is proposed.
	MinUnits = 10
	// MaxUnits is the most that are ever proposed.
	MaxUnits = 10_000

	forecastChance = 0.8
)

// Forecast is how many units in all, of the kind seen, would let the lower bound at Alpha
// reach Threshold (docs/statistics.md, how many more).
type Forecast struct {
	Seen             Proportion
	Threshold, Alpha float64
}

// IfRateHolds is the smallest number of units with which the bound reaches the threshold at
// the rate seen; ok is false if it is above MaxUnits.
func (f Forecast) IfRateHolds() (units int, ok bool) {
	return f.search(func(g int) bool {
		b := Bound{Alpha: f.Alpha}
		return b.Reaches(f.grown(g).with(f.Seen.X*f.ratio(g)), f.Threshold)
	})
}

// WithChance is the smallest number of units with which the bound reaches the threshold with
// a chance of 80 %; ok is false if it is above MaxUnits.
func (f Forecast) WithChance() (units int, ok bool) {
	return f.search(func(g int) bool { return f.Chance(g) >= forecastChance })
}

func (f Forecast) search(enough func(units int) bool) (units int, ok bool) {
	from := f.Seen.Counted()
	if !f.Seen.Defined() || from > MaxUnits {
		return 0, false
	}
	units = from + sort.Search(MaxUnits-from+1, func(i int) bool { return enough(from + i) })
	return max(units, MinUnits), units <= MaxUnits
}

// Chance is the probability that the bound reaches the threshold with so many units in all,
// under a beta distribution of the rate of the units to come.
func (f Forecast) Chance(units int) float64 {
	p, x := f.grown(units), f.Seen.X
	more := p.N - f.Seen.N
	needed, ok := f.needed(p)
	switch {
	case !ok:
		return 0
	case more <= 0 || needed <= x:
		return 1
	}
	r := min((needed-x)/more, 1-1e-12)
	prior := f.prior()
	mean, size := prior.a/(prior.a+prior.b), prior.a+prior.b
	c := (size+1)/(1+size*f.effect()/more) - 1
	if c <= 0 {
		return mean
	}
	return 1 - mathext.RegIncBeta(mean*c, (1-mean)*c, r)
}

// AtBest is the chance that the rate is at least the threshold: no number of units gives a
// better one.
func (f Forecast) AtBest() float64 {
	prior := f.prior()
	return 1 - mathext.RegIncBeta(prior.a, prior.b, f.Threshold)
}

// effect is E, the design effect seen.
func (f Forecast) effect() float64 {
	if f.Seen.Edge() {
		return f.Seen.D0()
	}
	return max(1, f.Seen.Variance()/f.Seen.binomial())
}

// prior is the distribution of the rate given what was seen.
func (f Forecast) prior() beta {
	scale := 1.5 * f.effect()
	return beta{f.Seen.X/scale + 0.5 + 4*f.Threshold, (f.Seen.N-f.Seen.X)/scale + 0.5 + 4*(1-f.Threshold)}
}

func (f Forecast) ratio(units int) float64 { return float64(units) / float64(f.Seen.Counted()) }

// grown is the proportion with so many units of the kind seen; its X is still to be set.
func (f Forecast) grown(units int) Proportion {
	p, ratio := f.Seen, f.ratio(units)
	p.effect = f.effect()
	p.N, p.weightedK = p.N*ratio, p.weightedK*ratio
	for _, m := range []*moments{&p.queries, &p.sessions, &p.both} {
		m.groups = int(math.Floor(float64(m.groups)*ratio + 0.5))
		m.nn *= ratio
	}
	return p
}

func (p Proportion) with(x float64) Proportion {
	p.X = snap(x, p.N)
	return p
}

// needed is the smallest number of successes with which the bound reaches the threshold.
func (f Forecast) needed(p Proportion) (x float64, ok bool) {
	b := Bound{Alpha: f.Alpha}
	reaches := func(x float64) bool { return b.Reaches(p.with(x), f.Threshold) }
	low, high := max(f.Seen.X, f.Threshold*p.N), f.Seen.X+p.N-f.Seen.N
	switch {
	case low > high || !reaches(high):
		return 0, false
	case reaches(low):
		return low, true
	}
	for high-low > 1e-12*p.N {
		if middle := (low + high) / 2; reaches(middle) {
			high = middle
		} else if middle <= low {
			break
		} else {
			low = middle
		}
	}
	return high, true
}
