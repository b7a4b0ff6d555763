package harness

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/harness/result/paired"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/harness/stat/compare"
)

// CompareConfig says which evaluations to compare, and in what. Of one folder exactly one of
// Models, Variants, Levels and ExitGates has two values or more: those are compared. Of several
// folders they select, and the folders are compared.
type CompareConfig struct {
	Dirs      []string  // of experiments
	Models    []string  // ids; none: those that all folders have
	Variants  []string  // ids; none: each model of a variant by itself
	Levels    []string  // none: each by itself
	ExitGates []string  // none: spec.Record
	By        []string  // tags of queries: compare within each value of them too
	Metrics   []string  // none: those of the shipped criteria, and sub_em where there are answers
	Unit      stat.Unit // "": that of the decision in the first folder
	Margin    float64   // see compare.Config
	Force     bool      // compare over different corpora or labels
}

// Compared is what Compare found.
type Compared struct {
	Table    []paired.Comparison
	Rankings []paired.Ranking // of each metric, where more than two sides are compared
	// Notes are in what else than what is compared the sides differ.
	Notes     []string
	Regressed bool // something is significantly worse than in the first
}

// Compare pairs what was scored on both sides, and compares it.
func Compare(c CompareConfig) (Compared, error) {
	if err := c.check(); err != nil {
		return Compared{}, err
	}
	all, notes, err := c.load()
	if err != nil {
		return Compared{}, err
	}
	pairs, sides, err := c.pair(all)
	if err != nil {
		return Compared{}, err
	}
	ranked := len(sides) != 2*len(pairs)
	if ranked && len(c.By) > 0 {
		return Compared{}, fmt.Errorf("--by: found %d sides, want two", len(sides))
	}
	grouped, err := paired.Grouped(pairs, c.By)
	if err != nil {
		return Compared{}, fmt.Errorf("--by: %w", err)
	}
	table, err := paired.Compare(grouped, c.Metrics, compare.Config{Unit: c.Unit, Margin: c.Margin})
	if err != nil {
		return Compared{}, err
	}
	compared := Compared{Table: table, Notes: notes, Regressed: slices.ContainsFunc(table, func(d paired.Comparison) bool {
		return d.Regressed() && (!ranked || d.Baseline == sides[0].Name)
	})}
	for _, m := range c.Metrics {
		if !ranked {
			break
		}
		r, err := paired.Rank(sides, m, c.Unit, table)
		if err != nil {
			return Compared{}, err
		}
		compared.Rankings = append(compared.Rankings, r)
	}
	return compared, nil
}

// check refuses what names no two sides.
func (c *CompareConfig) check() error {
	for _, level := range c.Levels {
		if level != "L1" && level != "L2" {
			return fmt.Errorf("level: %s", diag.OneOf(level, []string{"L1", "L2"}))
		}
	}
	for _, exit := range c.ExitGates {
		if exit != spec.Record && exit != spec.Enforce {
			return fmt.Errorf("exit_gate: %s", diag.OneOf(exit, []string{spec.Record, spec.Enforce}))
		}
	}
	axes := 0
	for _, values := range [][]string{c.Models, c.Variants, c.Levels, c.ExitGates} {
		if len(values) > 1 {
			axes++
		}
		if twice := repeated(values); twice != "" {
			return fmt.Errorf("found %s twice: want values that differ", diag.Quote(twice))
		}
	}
	switch {
	case len(c.Dirs) == 0 || len(c.Dirs) == 1 && axes == 0:
		return errors.New("nothing to compare: want two folders of experiments, or one and two values of model, variant, level or exit_gate, as in reports/m1.8 model=lexical model=oracle")
	case len(c.Dirs) == 1 && axes > 1:
		return errors.New("found two values each of several of model, variant, level and exit_gate: want two of one, and at most one of the others")
	case len(c.Dirs) > 1 && max(len(c.Variants), len(c.Levels), len(c.ExitGates)) > 1:
		return errors.New("found two values of variant, level or exit_gate with several folders: want one, which selects, or one folder")
	}
	if c.ExitGates == nil {
		c.ExitGates = []string{spec.Record}
	}
	return nil
}

// repeated is the first value that stands again; "" if none does.
func repeated(values []string) string {
	for i, v := range values {
		if slices.Contains(values[:i], v) {
			return v
		}
	}
	return ""
}

// evaluated is a folder's runs, and its models in the order of its result: those of the spec
// where variants are named, else each with its variant.
type evaluated struct {
	dir    string
	models []string
	runs   []stat.Run
}

// load reads the folders. notes say in what they differ.
func (c *CompareConfig) load() (all []evaluated, notes []string, err error) {
	var first *result.Result
	var forced []string
	for _, dir := range c.Dirs {
		r, err := result.Load(record.Folder{Dir: dir})
		if err != nil {
			return nil, nil, err
		}
		of := c.narrowed(r)
		if first == nil {
			first = of
			notes = c.variations(of)
		}
		if c.Unit == "" && len(r.Decisions) > 0 {
			c.Unit = r.Decisions[0].Unit
		}
		between := c.Dirs[0] + " and " + dir + ": "
		settings, data := result.Differences(first, of)
		for _, what := range settings {
			notes = append(notes, between+what)
		}
		for _, what := range data {
			forced = append(forced, between+what)
		}
		e, err := c.evaluated(dir, r)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, e)
	}
	if len(forced) > 0 && !c.Force {
		return nil, nil, fmt.Errorf("not comparable: %s; want --force to do it all the same", strings.Join(forced, "; "))
	}
	c.setMetrics(all)
	for _, what := range forced {
		notes = append(notes, "forced: "+what)
	}
	return all, notes, nil
}

// setMetrics adds sub_em to the shipped metrics where answers were scored.
func (c *CompareConfig) setMetrics(all []evaluated) {
	if c.Metrics != nil {
		return
	}
	c.Metrics = plan.DecisionMetrics()
	answered := func(r stat.Run) bool { return r.Answer != nil }
	if slices.ContainsFunc(all, func(e evaluated) bool { return slices.ContainsFunc(e.runs, answered) }) {
		c.Metrics = append(c.Metrics, "sub_em")
	}
}

// evaluated is the folder's runs that are selected.
func (c *CompareConfig) evaluated(dir string, r *result.Result) (evaluated, error) {
	e := evaluated{dir: dir}
	runs, err := result.ReadRuns(record.Folder{Dir: dir}, r)
	if err != nil {
		return e, fmt.Errorf("%s: %w", dir, err)
	}
	var variants []string
	for _, run := range runs {
		if !slices.Contains(c.ExitGates, run.Exit) || c.Levels != nil && !slices.Contains(c.Levels, run.Level) {
			continue
		}
		model, variant := spec.SplitModel(run.Model)
		if !slices.Contains(variants, variant) {
			variants = append(variants, variant)
		}
		switch {
		case c.Variants == nil:
			model = run.Model
		case !slices.Contains(c.Variants, variant):
			continue
		}
		if !slices.Contains(e.models, model) {
			e.models = append(e.models, model)
		}
		e.runs = append(e.runs, run)
	}
	for _, v := range c.Variants {
		if slices.Equal(variants, []string{""}) {
			return e, fmt.Errorf("%s has no variants: its spec has no variants: section", dir)
		}
		if !slices.Contains(variants, v) {
			return e, fmt.Errorf("variant of %s: %s", dir, diag.OneOf(v, variants))
		}
	}
	for _, level := range c.Levels {
		if len(e.runs) > 0 && !slices.ContainsFunc(e.runs, func(r stat.Run) bool { return r.Level == level }) {
			return e, fmt.Errorf("%s has no run at level %s", dir, level)
		}
	}
	for _, exit := range c.ExitGates {
		if !slices.ContainsFunc(e.runs, func(r stat.Run) bool { return r.Exit == exit }) {
			return e, fmt.Errorf("%s has no run with exit gate %s", dir, exit)
		}
	}
	for _, m := range c.Models {
		if !slices.Contains(e.models, m) {
			return e, fmt.Errorf("model of %s: %s", dir, diag.OneOf(m, e.models))
		}
	}
	return e, nil
}

// side is the runs of a model, and of a level or exit setting if one is given; its name says
// what tells it from the others.
func (c *CompareConfig) side(e evaluated, model, level, exit string) paired.Side {
	s := paired.Side{Name: strings.Join(slices.DeleteFunc([]string{model, level, exit}, func(s string) bool { return s == "" }), " ")}
	if len(c.Dirs) > 1 {
		s.Name = filepath.ToSlash(e.dir) + ":" + s.Name
	}
	for _, r := range e.runs {
		if r.Model == model && (level == "" || r.Level == level) && (exit == "" || r.Exit == exit) {
			s.Runs = append(s.Runs, r)
		}
	}
	return s
}

// narrowed is of a result what the selected variants have.
func (c *CompareConfig) narrowed(r *result.Result) *result.Result {
	if c.Variants == nil {
		return r
	}
	of := *r
	of.Variants = slices.DeleteFunc(slices.Clone(r.Variants), func(v plan.Variation) bool { return !slices.Contains(c.Variants, v.ID) })
	of.Runs = slices.DeleteFunc(slices.Clone(r.Runs), func(run result.Run) bool {
		_, variant := spec.SplitModel(run.Model)
		return !slices.Contains(c.Variants, variant)
	})
	return &of
}

// variations says what the variants change that are compared or selected.
func (c *CompareConfig) variations(r *result.Result) (notes []string) {
	for i := 0; c.Variants != nil && i < len(r.Variants); i++ {
		notes = append(notes, r.Variants[i].String())
	}
	return notes
}

// withVariant is a model's id with the variant that is selected; "" stays, and so does an id
// where none is.
func (c *CompareConfig) withVariant(model string) string {
	if len(c.Variants) != 1 {
		return model
	}
	return spec.JoinVariant(model, c.Variants[0])
}

// pair makes the pairings: of two folders, variants, levels or exit settings model by model, of
// anything else each with each.
func (c *CompareConfig) pair(all []evaluated) (pairs []paired.Pair, sides []paired.Side, err error) {
	models, err := c.common(all)
	if err != nil {
		return nil, nil, err
	}
	for _, m := range models {
		switch {
		case len(c.Variants) > 1:
			for _, v := range c.Variants {
				sides = append(sides, c.side(all[0], spec.JoinVariant(m, v), "", ""))
			}
		case len(c.Levels) > 1:
			m = c.withVariant(m)
			sides = append(sides, c.side(all[0], m, c.Levels[0], ""), c.side(all[0], m, c.Levels[1], ""))
		case len(c.ExitGates) > 1:
			m = c.withVariant(m)
			sides = append(sides, c.side(all[0], m, "", c.ExitGates[0]), c.side(all[0], m, "", c.ExitGates[1]))
		default:
			for _, e := range all {
				name := m
				if m == "" {
					name = e.models[0]
				}
				sides = append(sides, c.side(e, c.withVariant(name), "", ""))
			}
		}
	}
	if len(all) != 2 && len(c.Variants) != 2 && len(c.Levels) < 2 && len(c.ExitGates) < 2 {
		return paired.All(sides), sides, nil
	}
	for i := 0; i < len(sides); i += 2 {
		pairs = append(pairs, paired.Pair{Old: sides[i], New: sides[i+1], Levels: len(c.Levels) > 1})
	}
	return pairs, sides, nil
}

// common are the models that all folders have; "" stands for the only one of each, if
// these have different names.
func (c *CompareConfig) common(all []evaluated) (models []string, err error) {
	if c.Models != nil {
		return c.Models, nil
	}
	single := true
	for _, m := range all[0].models {
		if !slices.ContainsFunc(all, func(e evaluated) bool { return !slices.Contains(e.models, m) }) {
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
