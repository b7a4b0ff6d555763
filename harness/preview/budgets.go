package preview

import (
	"context"

	"github.com/poimen-memory/mem/harness/forecast"
	"github.com/poimen-memory/mem/harness/models"
	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/spec"
)

// Forecast forecasts the budgets of all corpora of a spec, or of the session in a file. load
// loads the spec.
func (f File) Forecast(ctx context.Context, file string, load func(path string) (*spec.Spec, error)) ([]forecast.Forecast, error) {
	s, err := f.budgets(file, load)
	if err != nil {
		return nil, err
	}
	p, err := plan.New(ctx, plan.Config{Counter: models.Counter}, s)
	if err != nil {
		return nil, err
	}
	return forecast.Corpora(ctx, p)
}

// budgets is a spec of what budgets need and nothing more.
func (f File) budgets(file string, load func(path string) (*spec.Spec, error)) (*spec.Spec, error) {
	if spec.IsSpec(file) {
		s, err := load(file)
		if err == nil {
			withoutRuns(s)
		}
		return s, err
	}
	s, err := f.spec(file, "")
	if err != nil {
		return nil, err
	}
	s.Queries = nil
	s.Checks.Budget.Value.Percentile = 95
	return s, nil
}
