package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/render"
	"github.com/poimen-memory/mem/harness/stat"
)

// comparing is what `mem compare` was asked for.
type comparing struct {
	harness.CompareConfig
	regressed bool // exit code 1 if anything is worse
}

func compareCommand() *cobra.Command {
	var c comparing
	cmd := &cobra.Command{
		Use:   "compare DIR DIR… | DIR AXIS=VALUE AXIS=VALUE…",
		Short: "Compare evaluations, or models, variants, levels or exit settings within one",
		Long: `compare pairs what two evaluations both scored, the same query, session, level, trial and
turn, and shows the differences of their rates as benchstat does: new against old, ~ where
the difference is not significant. What did not pair is listed. Models of the same id are
compared; model=ID, variant=ID, level=L1 and exit_gate=enforce select. Without exit_gate the
runs with the exit gate recorded are compared.

Within one folder it compares the values of one AXIS: model=ID model=ID, variant=ID
variant=ID, level=L1 level=L2, or exit_gate=record exit_gate=enforce. L2 over memories is
compared with L1 by query and trial, for its turns have no counterpart. Of more than two
models, variants or folders it shows a ranking.

It refuses to compare over different corpora, labels or tokenizers, unless with --force. In
what else the evaluations differ, such as the prompt or a budget, it says.

--fail-on-regression also says what loss it would have detected: with few queries a gate
passes whatever happens.`,
		Example: `  mem compare baseline/m1.8 reports/m1.8 --fail-on-regression
  mem compare reports/m1.8 model=lexical model=oracle --by type
  mem compare reports/answers model=oracle exit_gate=record exit_gate=enforce
  mem compare reports/agent-session level=L1 level=L2
  mem compare reports/variants variant=base variant=small
  mem compare reports/m1.8 model=lexical model=noisy_oracle model=oracle --metric exit_useful`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.parse(args); err != nil {
				return err
			}
			return c.run(cmd)
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&c.Metrics, "metric", nil, "compare this `METRIC` (may be repeated; default those of the shipped criteria, and sub_em where there are answers)")
	flags.StringArrayVar(&c.By, "by", nil, "compare within each value of this `TAG` of the queries too (may be repeated)")
	flags.StringVar((*string)(&c.Unit), "unit", "", "intervals hold for new questions on new sessions (auto), on these sessions (query), or for these questions on new sessions (session): `auto|query|session`; the unit of the folders' decisions, or auto, if not given")
	flags.Float64Var(&c.Margin, "margin", 0, "say of each metric whether it is worse by more than `M`")
	flags.BoolVar(&c.Force, "force", false, "compare over different corpora, labels or tokenizers, and say so")
	flags.BoolVar(&c.regressed, "fail-on-regression", false, "exit code 1 if anything is significantly worse than in the first")
	return cmd
}

func (c *comparing) parse(args []string) error {
	axes := map[string]*[]string{"model": &c.Models, "variant": &c.Variants, "level": &c.Levels, "exit_gate": &c.ExitGates}
	for _, arg := range args {
		axis, value, ok := strings.Cut(arg, "=")
		switch values := axes[axis]; {
		case ok && values != nil:
			*values = append(*values, value)
		case ok && !strings.ContainsAny(axis, `/\`):
			return fmt.Errorf("axis: %s", diag.OneOf(axis, []string{"model", "variant", "level", "exit_gate"}))
		default:
			c.Dirs = append(c.Dirs, filepath.Clean(arg))
		}
	}
	if c.Unit != "" && !c.Unit.Valid() {
		return fmt.Errorf("--unit: %s", diag.OneOf(string(c.Unit), []string{string(stat.Auto), string(stat.ByQuery), string(stat.BySession)}))
	}
	if !(c.Margin >= 0 && c.Margin <= 1) {
		return fmt.Errorf("--margin: found %v, want a difference above 0, up to 1", c.Margin)
	}
	for _, m := range c.Metrics {
		if err := plan.CheckComparable(m); err != nil {
			return fmt.Errorf("--metric: %w", err)
		}
	}
	return nil
}

func (c *comparing) run(cmd *cobra.Command) error {
	compared, err := harness.Compare(c.CompareConfig)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	show := terminal(cmd)
	if compared.Rankings == nil {
		err = render.Comparisons(out, show, compared.Table, compared.Notes)
	} else {
		err = render.Rankings(out, show, compared.Rankings, compared.Table, compared.Notes)
	}
	if err != nil || !c.regressed {
		return err
	}
	if err := render.Gate(out, show, compared.Table, compared.Regressed); err != nil || !compared.Regressed {
		return err
	}
	return exitWith(exitFailed)
}
