package stat_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/poimen-memory/mem/harness/stat"
)

// The simulations run a small sample of each setting always, and the full one with
//
//	go test ./harness/stat -run Simulated -long
//
// on queries that stat.BetaBinomial draws, the rate of each query from a beta
// distribution; with fixed seeds either way.
var long = flag.Bool("long", false, "simulate in full")

func repetitions(small, full int) int {
	if *long {
		return full
	}
	return small
}

// monteCarlo is three standard errors of a simulated share.
func monteCarlo(share float64, repetitions int) float64 {
	return 3 * math.Sqrt(share*(1-share)/float64(repetitions))
}

// setting is what one simulated experiment is like.
type setting struct {
	stat.BetaBinomial
	queries, perTrial, trials int
	copies                    bool // trials repeat each other, as at temperature 0
}

func (s setting) String() string {
	return fmt.Sprintf("rate %v, ICC %v, %d queries × %d trials × %d, copies %v", s.Rate, s.ICC, s.queries, s.trials, s.perTrial, s.copies)
}

func (s setting) draw(source rand.Source) []stat.Cluster {
	list := make([]stat.Cluster, s.queries)
	for i := range list {
		n, times := s.trials*s.perTrial, 1.0
		if s.copies {
			n, times = s.perTrial, float64(s.trials)
		}
		list[i] = stat.Cluster{X: times * s.Draw(n, source), N: float64(s.trials * s.perTrial), K: float64(s.trials)}
	}
	return list
}

// settings are the queries and correlations of METRICS section 3, in the shapes that
// recall, specificity, exit and single trials have.
func settings(rates ...float64) (list []setting) {
	shapes := []setting{{perTrial: 2, trials: 3}, {perTrial: 37, trials: 3}, {perTrial: 1, trials: 3}, {perTrial: 2, trials: 3, copies: true}, {perTrial: 12, trials: 1}}
	for _, s := range shapes {
		for _, s.queries = range []int{10, 20, 50, 100} {
			for _, s.ICC = range []float64{0, 0.05, 0.2} {
				for _, s.Rate = range rates {
					list = append(list, s)
				}
			}
		}
	}
	return list
}

// interval is a two-sided interval at side per side.
type interval func(p stat.Proportion, side float64) (lower, upper float64)

func shipped(p stat.Proportion, side float64) (float64, float64) { return p.Lower(side), p.Upper(side) }

func wilsonOverTurns(p stat.Proportion, side float64) (float64, float64) {
	return wilson(p.X, p.N, side)
}

// share is how often something holds of a setting's drawn data.
func (s setting) share(repetitions int, holds func(stat.Proportion) bool) float64 {
	source, n := rand.NewPCG(1, 2), 0
	for range repetitions {
		if holds(stat.Pool(s.draw(source))) {
			n++
		}
	}
	return float64(n) / float64(repetitions)
}

// worstCoverage is the lowest coverage that an interval has in any setting.
func worstCoverage(list []setting, repetitions int, of interval) (worst float64, where setting) {
	worst = 1
	for _, s := range list {
		covered := s.share(repetitions, func(p stat.Proportion) bool {
			lower, upper := of(p, 0.025)
			return lower <= s.Rate && s.Rate <= upper
		})
		if covered < worst {
			worst, where = covered, s
		}
	}
	return worst, where
}

func TestSimulatedCoverage(t *testing.T) {
	const want = 0.94
	rates, n := []float64{0.85, 0.98}, repetitions(100, 4000)
	if *long {
		rates = []float64{0.80, 0.85, 0.95, 0.98, 0.995}
	}
	least := want - monteCarlo(want, n)
	if worst, where := worstCoverage(settings(rates...), n, shipped); worst < least {
		t.Errorf("the interval covers %.3f of the time, want %.3f (%v)", worst, least, where)
	} else {
		t.Logf("worst coverage %.3f (%v)", worst, where)
	}
	for name, twin := range map[string]interval{"Wilson over turns": wilsonOverTurns, "cluster t": meanT, "cluster t of logits": logitT} {
		if worst, where := worstCoverage(settings(0.98), 100, twin); worst >= least {
			t.Errorf("%s passes: it covers %.3f of the time at worst (%v)", name, worst, where)
		}
	}
}

// worstGo is how often, at worst, the rule says GO of a rate at its threshold: one
// criterion at the edge with the others beyond doubt is the worst case of all of them.
func worstGo(repetitions int, of interval) (worst float64, where setting) {
	for _, s := range settings(0.85) {
		goes := s.share(repetitions, func(p stat.Proportion) bool {
			lower, _ := of(p, 0.05)
			return lower > s.Rate
		})
		if goes > worst {
			worst, where = goes, s
		}
	}
	return worst, where
}

func TestSimulatedFalseGo(t *testing.T) {
	n := repetitions(200, 4000)
	most := 0.05 + monteCarlo(0.05, n)
	if worst, where := worstGo(n, shipped); worst > most {
		t.Errorf("false GO %.3f of the time, want at most %.3f (%v)", worst, most, where)
	} else {
		t.Logf("worst false GO %.3f (%v)", worst, where)
	}
	if worst, _ := worstGo(100, wilsonOverTurns); worst <= most {
		t.Errorf("Wilson over turns passes: false GO %.3f of the time at worst", worst)
	}
	for _, plan := range edges(repetitions(60, 2000)) {
		goes, err := plan.At(50)
		if err != nil {
			t.Fatal(err)
		}
		if goes.Go > most {
			t.Errorf("the rule says GO %.3f of the time at its thresholds, want at most %.3f", goes.Go, most)
		}
	}
}

// edges are plans with every shipped criterion exactly at its threshold.
func edges(repetitions int) (plans []stat.Plan) {
	for _, icc := range []float64{0, 0.05, 0.2} {
		plan := stat.Plan{Trials: 3, Repetitions: repetitions, Seed: 5}
		for i, c := range stat.DefaultCriteria() {
			plan.Assume = append(plan.Assume, stat.Assumption{
				Criterion: c, BetaBinomial: stat.BetaBinomial{Rate: c.Threshold, ICC: icc}, PerTrial: []int{2, 37, 1, 39}[i],
			})
		}
		plans = append(plans, plan)
	}
	return plans
}

// TestSimulatedFalseNoGo has all criteria at their thresholds, where each may go wrong.
func TestSimulatedFalseNoGo(t *testing.T) {
	n := repetitions(60, 4000)
	most := 0.05 + monteCarlo(0.05, n)
	for _, plan := range edges(n) {
		for _, at := range curve(t, plan, 10, 20, 50, 100) {
			if at.NoGo > most {
				t.Errorf("false NO-GO %.3f of the time with %d queries at ICC %v, want at most %.3f", at.NoGo, at.Queries, plan.Assume[0].ICC, most)
			}
			if *long {
				t.Logf("ICC %v: %+v", plan.Assume[0].ICC, at)
			}
		}
	}
	if wrong := wilsonNoGo(); wrong <= most {
		t.Errorf("Wilson over turns passes: false NO-GO %.3f of the time", wrong)
	}
}

// wilsonNoGo is the share of NO-GO of a rule on turns, all of four criteria at their edge.
func wilsonNoGo() float64 {
	right := 1.0
	for _, perTrial := range []int{2, 37, 1, 39} {
		s := setting{BetaBinomial: stat.BetaBinomial{Rate: 0.85, ICC: 0.2}, queries: 20, perTrial: perTrial, trials: 3}
		right *= 1 - s.share(200, func(p stat.Proportion) bool {
			_, upper := wilsonOverTurns(p, 0.05/4)
			return upper < s.Rate
		})
	}
	return 1 - right
}
