package power_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/poimen-memory/mem/harness/stat/decide"
	"github.com/poimen-memory/mem/harness/stat/power"
)

func plan(rate float64) power.Plan {
	p := power.Plan{Trials: 3, Repetitions: 60, Seed: 5}
	for i, c := range decide.DefaultCriteria() {
		p.Assume = append(p.Assume, power.Assumption{
			Criterion: c, BetaBinomial: power.BetaBinomial{Rate: max(rate, c.Threshold), ICC: 0.05}, PerTrial: []int{2, 37, 1, 39}[i],
		})
	}
	return p
}

// TestDrawnRates holds drawn rates against their distribution, which for small shapes lies at 0 and 1,
// and the variance of counts against theirs.
func TestDrawnRates(t *testing.T) {
	for _, b := range []power.BetaBinomial{{Rate: 0.9, ICC: 0.1}, {Rate: 0.5, ICC: 1.0 / 3}, {Rate: 0.97, ICC: 0.5}, {Rate: 0.3, ICC: 0.999}} {
		const draws = 20_000
		source, size := rand.NewPCG(1, 2), (1-b.ICC)/b.ICC
		want := distuv.Beta{Alpha: b.Rate * size, Beta: (1 - b.Rate) * size}
		rates := make([]float64, draws)
		var sum, squares float64
		for i := range rates {
			rates[i] = b.DrawRate(source)
			x := b.Draw(30, source)
			sum, squares = sum+x, squares+x*x
		}
		slices.Sort(rates)
		distance := 0.0 // Kolmogorov's: above 2/√n once in about 1,500 tests
		for i, r := range rates {
			if r > 0 && (i+1 == draws || rates[i+1] > r) { // 0 stands for all below the least number
				distance = max(distance, math.Abs(float64(i+1)/draws-want.CDF(r)))
			}
		}
		if distance > 2/math.Sqrt(draws) {
			t.Errorf("%+v: the rates' distribution is %.4f from Beta", b, distance)
		}
		mean := sum / draws
		variance, wantVariance := squares/draws-mean*mean, 30*b.Rate*(1-b.Rate)*(1+29*b.ICC)
		if math.Abs(mean/(30*b.Rate)-1) > 0.05 || math.Abs(variance/wantVariance-1) > 0.05 {
			t.Errorf("%+v: counts have mean %.2f and variance %.1f, want %.2f and %.1f", b, mean, variance, 30*b.Rate, wantVariance)
		}
	}
}

// TestPower: good rates are GO with many queries and not with few; the least number is found.
func TestPower(t *testing.T) {
	few, err := plan(0.99).At(15)
	if err != nil {
		t.Fatal(err)
	}
	many, _ := plan(0.99).At(100)
	if few.Go > 0.5 || many.Go < 0.95 {
		t.Errorf("GO with 15 queries %v, with 100 %v", few.Go, many.Go)
	}
	needed, ok, err := plan(0.99).Needed(0.8, 200)
	if err != nil || !ok || needed.Decided() < 0.8 || needed.Queries <= 15 || needed.Queries > 100 {
		t.Errorf("needed %+v, %v, %v", needed, ok, err)
	}
	if at, ok, _ := plan(0.85).Needed(0.8, 40); ok || at.Queries != 40 {
		t.Errorf("at the thresholds %+v is enough", at)
	}
	again, _ := plan(0.99).At(100)
	if again != many {
		t.Errorf("equal seeds give %+v and %+v", many, again)
	}
}

func TestPlanIsValidated(t *testing.T) {
	for want, change := range map[string]func(*power.Plan){
		"without criteria": func(p *power.Plan) { p.Assume = nil },
		"from 0 to 1":      func(p *power.Plan) { p.Assume[0].Rate = 1.5 },
		"below 1":          func(p *power.Plan) { p.Assume[0].ICC = 1 },
		"want a rate":      func(p *power.Plan) { p.Assume[0].Metric, p.Assume[0].Threshold = "reward_update", 0 },
		"unknown metric":   func(p *power.Plan) { p.Assume[0].Metric = "recal" },
		"is given twice":   func(p *power.Plan) { p.Assume[0] = p.Assume[1] },
		"more of this":     func(p *power.Plan) { p.Assume[0].Metric = "exit_premature" },
	} {
		p := plan(0.9)
		change(&p)
		if _, err := p.At(20); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
