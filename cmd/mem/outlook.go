package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/forecast"
	"github.com/poimen-memory/mem/harness/render"
)

func planCommand() *cobra.Command {
	var cfg forecast.OutlookConfig
	var rates []string
	cmd := &cobra.Command{
		Use:   "plan SPEC",
		Short: "Show how many queries and trials a decision takes",
		Long: `plan simulates a spec's decision, or that by the shipped criteria, on queries like those of
the spec: how many it takes to come to GO or NO-GO, what that costs in calls and tokens,
and how the chance grows with the queries. Nothing is run.

A model is assumed to be halfway between each threshold and 1, unless --rate says otherwise.`,
		Example: `  mem plan experiments/m1.8.yaml
  mem plan experiments/m1.8.yaml --rate exit_useful=0.9 --rate recall_committed=0.95 --icc 0.1`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if cfg.Rates, err = forecast.ParseRates(rates); err != nil {
				return err
			}
			if cfg.Chance <= 0 || cfg.Chance >= 1 {
				return fmt.Errorf("--chance: found %v, want a number between 0 and 1", cfg.Chance)
			}
			return outlook(cmd, args, cfg)
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&rates, "rate", nil, "assume `METRIC=RATE` of the model (may be repeated)")
	flags.Float64Var(&cfg.ICC, "icc", 0.05, "assume this intra-query correlation, `R` from 0, below 1")
	flags.Float64Var(&cfg.Chance, "chance", 0.8, "with what chance `P` it is to come to a decision")
	flags.IntVar(&cfg.Most, "most", 1000, "give up above `N` queries")
	return cmd
}

func outlook(cmd *cobra.Command, args []string, cfg forecast.OutlookConfig) error {
	all, err := prepare(cmd.Context(), harness.Config{}, args)
	if err != nil {
		return err
	}
	if len(all) != 1 {
		return errors.New("want one spec: a plan is of one decision")
	}
	o, err := forecast.Decision(all[0].Plan, cfg)
	if err != nil {
		return err
	}
	return render.Outlook(cmd.OutOrStdout(), terminal(cmd), all[0].Spec.Experiment.Value, o)
}
