package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/spec/yamlpos"
	"github.com/poimen-memory/mem/harness/stat"
)

// comparing is what `mem compare` was asked for.
type comparing struct {
	dirs, models     []string
	metrics          []string
	exitGate         string
	force, regressed bool
}

func compareCommand() *cobra.Command {
	var c comparing
	cmd := &cobra.Command{
		Use:   "compare DIR DIR… | DIR model=ID model=ID…",
		Short: "Compare evaluations, or models within one",
		Long: `compare pairs what two evaluations both scored, the same query, session, level, trial and
turn, and shows the differences of their rates as benchstat does: new against old, ~ where
the difference is not significant. What did not pair is listed. Models of the same id are
compared; with model=ID only those, and in one folder these with each other. Of more than
two sides it shows a ranking instead.

It refuses to compare over different prompts, budgets or corpora, unless with --force.`,
		Example: `  mem compare baseline/m1.8 reports/m1.8 --fail-on-regression
  mem compare reports/m1.8 model=lexical model=oracle
  mem compare reports/m1.8 model=lexical model=noisy_oracle model=oracle --metric exit_safe`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.parse(args); err != nil {
				return err
			}
			return c.run(cmd)
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&c.metrics, "metric", nil, "compare this `METRIC` (may be repeated; default those of the shipped criteria)")
	flags.StringVar(&c.exitGate, "exit-gate", spec.Record, "compare the runs with the exit gate `record|enforce`")
	flags.BoolVar(&c.force, "force", false, "compare over different prompts, budgets or corpora, and say so")
	flags.BoolVar(&c.regressed, "fail-on-regression", false, "exit code 1 if anything is significantly worse than in the first")
	return cmd
}

func (c *comparing) parse(args []string) error {
	for _, arg := range args {
		if model, ok := strings.CutPrefix(arg, "model="); ok {
			c.models = append(c.models, model)
		} else {
			c.dirs = append(c.dirs, filepath.Clean(arg))
		}
	}
	if c.exitGate != spec.Record && c.exitGate != spec.Enforce {
		return fmt.Errorf("--exit-gate: %s", yamlpos.OneOf(c.exitGate, []string{spec.Record, spec.Enforce}))
	}
	if len(c.dirs) == 0 || len(c.dirs) == 1 && len(c.models) < 2 {
		return errors.New("nothing to compare: want two folders of experiments, or one and two models, as in reports/m1.8 model=lexical model=oracle")
	}
	if c.metrics == nil {
		c.metrics = harness.DecisionMetrics()
	}
	for _, m := range c.metrics {
		if err := harness.CheckComparable(m); err != nil {
			return fmt.Errorf("--metric: %w", err)
		}
	}
	return nil
}

func (c *comparing) run(cmd *cobra.Command) error {
	all, forced, err := c.load()
	if err != nil {
		return err
	}
	pairs, sides, err := c.pair(all)
	if err != nil {
		return err
	}
	table, err := harness.ComparePairs(pairs, c.metrics)
	if err != nil {
		return err
	}
	if err := c.show(cmd, table, sides, forced); err != nil {
		return err
	}
	first := sides[0].Name
	if c.regressed && slices.ContainsFunc(table, func(d harness.Comparison) bool {
		return d.Regressed() && (len(sides) == 2*len(pairs) || d.Baseline == first)
	}) {
		return exitWith(exitFailed)
	}
	return nil
}

// evaluated is a folder's sides by model, in the order of its result.
type evaluated struct {
	dir    string
	models []string
	runs   map[string][]stat.Run
}

// load reads the folders; forced says for what reasons they should not be compared.
func (c *comparing) load() (all []evaluated, forced []string, err error) {
	var first *harness.Result
	for _, dir := range c.dirs {
		r, err := harness.Load(dir)
		if err != nil {
			return nil, nil, err
		}
		if first == nil {
			first = r
		}
		for _, why := range harness.Differences(first, r) {
			forced = append(forced, c.dirs[0]+" and "+dir+": "+why)
		}
		e, err := c.evaluated(dir, r)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, e)
	}
	if len(forced) > 0 && !c.force {
		return nil, nil, fmt.Errorf("not comparable: %s; want --force to do it all the same", strings.Join(forced, "; "))
	}
	return all, forced, nil
}

func (c *comparing) evaluated(dir string, r *harness.Result) (evaluated, error) {
	e := evaluated{dir: dir, runs: map[string][]stat.Run{}}
	runs, err := harness.ReadRuns(dir, r, slices.Contains(c.metrics, repliesOnly))
	if err != nil {
		return e, fmt.Errorf("%s: %w", dir, err)
	}
	for _, run := range runs {
		if run.Exit != c.exitGate {
			continue
		}
		if e.runs[run.Model] == nil {
			e.models = append(e.models, run.Model)
		}
		e.runs[run.Model] = append(e.runs[run.Model], run)
	}
	for _, m := range c.models {
		if e.runs[m] == nil {
			return e, fmt.Errorf("model of %s: %s", dir, yamlpos.OneOf(m, e.models))
		}
	}
	if len(e.models) == 0 {
		return e, fmt.Errorf("%s has no run with exit gate %s", dir, c.exitGate)
	}
	return e, nil
}

// side is one model of a folder; its name says what tells it from the others.
func (c *comparing) side(e evaluated, model string) harness.Side {
	name := model
	if len(c.dirs) > 1 {
		name = filepath.ToSlash(e.dir) + ":" + model
	}
	return harness.Side{Name: name, Runs: e.runs[model]}
}

// pair makes the pairings: of two folders model by model, of anything else each with each.
func (c *comparing) pair(all []evaluated) (pairs []harness.Pairing, sides []harness.Side, err error) {
	models, err := c.common(all)
	if err != nil {
		return nil, nil, err
	}
	for _, m := range models {
		for i, e := range all {
			name := m
			if m == "" {
				name = all[i].models[0]
			}
			sides = append(sides, c.side(e, name))
		}
	}
	if len(all) != 2 {
		return harness.AllPairs(sides), sides, nil
	}
	for i := 0; i < len(sides); i += 2 {
		pairs = append(pairs, harness.Pairing{Old: sides[i], New: sides[i+1]})
	}
	return pairs, sides, nil
}

// common are the models that all folders have; "" stands for the only one of each, if
// these have different names.
func (c *comparing) common(all []evaluated) (models []string, err error) {
	if c.models != nil {
		return c.models, nil
	}
	single := true
	for _, m := range all[0].models {
		if !slices.ContainsFunc(all, func(e evaluated) bool { return e.runs[m] == nil }) {
			models = append(models, m)
		}
	}
	for _, e := range all {
		single = single && len(e.models) == 1
	}
	switch {
	case models != nil:
		return models, nil
	case single:
		return []string{""}, nil
	}
	return nil, fmt.Errorf("the folders have no model in common: %s has %s", all[0].dir, strings.Join(all[0].models, ", "))
}

func (c *comparing) show(cmd *cobra.Command, table []harness.Comparison, sides []harness.Side, forced []string) error {
	out := cmd.OutOrStdout()
	if len(c.dirs) == 2 || len(sides) == 2 {
		return terminal(out, false).Comparisons(out, table, forced)
	}
	var list []harness.Ranking
	for _, m := range c.metrics {
		r, err := harness.Rank(sides, m, table)
		if err != nil {
			return err
		}
		list = append(list, r)
	}
	return terminal(out, false).Rankings(out, list, table, forced)
}
