package power_test

import (
	"strings"
	"testing"

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
