package main

import (
	"fmt"
	"io"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/forecast"
	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/render"
)

// showPlan shows the runs that would be executed and, for a dry run, what they would take.
func showPlan(w io.Writer, as render.Terminal, all []harness.Experiment, dryRun bool) error {
	var plans []*plan.Plan
	for _, x := range all {
		plans = append(plans, x.Plan)
		if as.Detail == render.Quiet && dryRun {
			continue
		}
		if err := render.Plan(w, as, x.Spec.Experiment.Value, x.Tokenizer(), forecast.Runs(x.Plan)); err != nil {
			return err
		}
	}
	if !dryRun {
		return nil
	}
	if as.Detail != render.Quiet {
		fmt.Fprintln(w)
	}
	return render.Totals(w, as, "By model", forecast.Runs(plans...))
}
