package main

import (
	"fmt"

	"github.com/poimen-memory/mem/harness"
)

// plan shows the runs that would be done and, for a dry run, what they would take.
func (e *evaluation) plan(all []experiment) error {
	var plans []harness.Planned
	for _, x := range all {
		name, plan := x.Spec.Experiment.Value, x.Plan()
		plans = append(plans, plan...)
		if !e.quiet || !e.dryRun {
			if err := e.show.Plan(e.stdout, name, x.Tokenizer(), plan); err != nil {
				return err
			}
		}
	}
	if !e.dryRun {
		return nil
	}
	if !e.quiet {
		fmt.Fprintln(e.stdout)
	}
	return e.show.Totals(e.stdout, "By model", plans)
}
