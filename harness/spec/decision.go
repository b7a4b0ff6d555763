package spec

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/spec/yamlpos"
)

// Decision is what the experiment decides, of each of its models at each of its levels apart,
// on the runs with the exit gate recorded (docs/statistics.md).
type Decision struct {
	At            diag.Place          `yaml:",pos"`
	ID            yamlpos.At[string]  `yaml:"id,required" min:"1" is:"id"` // its name, as M1.8
	For           Subjects            `yaml:"for,required"`
	Unit          yamlpos.At[string]  `yaml:"unit" enum:"auto,query,session"`     // what a verdict holds for: new questions on new sessions (auto), new questions on these sessions (query), these questions on new sessions (session)
	Looks         []yamlpos.At[int]   `yaml:"looks" min:"1"`                      // numbers of queries (sessions, with unit: session) at which it is to be decided, ascending; one look at any number if not given
	Pick          yamlpos.At[string]  `yaml:"pick" enum:"best,each"`              // best: one of the models is to be chosen, so that each more model has to be surer; each: every model is a question of its own
	MissingAtMost yamlpos.At[float64] `yaml:"missing_at_most" min:"0" max:"0.05"` // share of turns without a reply above which nothing is decided; 0.01 if not given
	Require       Criteria            `yaml:"require" min:"-1" max:"1"`           // METRIC: THRESHOLD, all to be reached; or METRIC: {at_least: THRESHOLD, by: TAG, floor: THRESHOLD}; the shipped criteria if not given
}

// Values of Decision.Pick.
const (
	PickBest = "best"
	PickEach = "each"
)

// Subjects are what is decided on.
type Subjects struct {
	Models   []yamlpos.At[string]   `yaml:"models,required" min:"1"`     // ids; of a model with variants, all of them are decided on, of model@variant that one
	Variants []yamlpos.At[string]   `yaml:"variants" min:"1"`            // ids of those that are decided on; all, if not given
	Levels   yamlpos.At[Set[Level]] `yaml:"levels" enum:"L1,L2" min:"1"` // the spec's if not given
}

// Criteria are thresholds of metrics, which they must reach. Whether there is such a
// metric, and within which numbers its threshold is, is for others to say.
type Criteria []Criterion

// Criterion is what one metric must reach: a bare threshold, or a threshold by groups.
type Criterion struct {
	Metric    yamlpos.At[string]
	Threshold yamlpos.At[Threshold] `yaml:"at_least,required" min:"-1" max:"1"` // for all queries together
	By        yamlpos.At[string]    `yaml:"by" min:"1"`                         // a tag of the queries: the queries of each value of it must reach the floor too
	Floor     yamlpos.At[Threshold] `yaml:"floor" min:"-1" max:"1"`             // for each group of by; at_least if not given
}

// Threshold is a number on the scale of a metric.
type Threshold float64

// DecodeYAML implements yamlpos.Unmarshaler. A percentage is not a share.
func (t *Threshold) DecodeYAML(n yamlpos.Node) {
	if k := n.Kind(); k == yamlpos.Int || k == yamlpos.Float {
		if percent, err := strconv.ParseFloat(n.Text(), 64); err == nil && percent > 1 && percent <= 100 {
			n.Errorf("found %s, want a number from -1 to 1; did you mean %v?", n.Text(), percent/100)
			return
		}
	}
	var x float64
	if n.Decode(&x) {
		*t = Threshold(x)
	}
}

// DecodeYAML implements yamlpos.Unmarshaler.
func (c *Criteria) DecodeYAML(n yamlpos.Node) {
	pairs := n.Pairs()
	for _, p := range pairs {
		criterion := Criterion{Metric: p.Key}
		if p.Value.Kind() == yamlpos.Map {
			p.Value.Decode(&criterion)
		} else {
			p.Value.Decode(&criterion.Threshold)
		}
		*c = append(*c, criterion)
	}
	if n.Kind() == yamlpos.Map && len(pairs) == 0 {
		n.Errorf("found no criterion, want METRIC: THRESHOLD, or no require for the shipped criteria")
	}
}

// Compare is a comparison of the spec's other models with its baselines, on the runs with
// the exit gate recorded.
type Compare struct {
	At        diag.Place           `yaml:",pos"`
	Baselines []yamlpos.At[string] `yaml:"baselines,required" min:"1"`     // ids of models, or model@variant
	Metrics   []yamlpos.At[string] `yaml:"metrics" min:"1"`                // those of the shipped criteria if not given
	Unit      yamlpos.At[string]   `yaml:"unit" enum:"auto,query,session"` // what intervals hold for, as in decision; the decision's if not given
}

// Prompt is a variant of the prompt, for an ablation: a template that is not the paper's.
type Prompt struct {
	At       diag.Place         `yaml:",pos"`
	Template yamlpos.At[string] `yaml:"template,required" min:"1"` // file with exactly one each of {prompt}, {memory} and {chunk}
}

func (v *validator) decision() {
	d := v.Decision
	if d == nil {
		return
	}
	if !d.ID.Present() || len(d.For.Models) == 0 {
		v.errorf(d.At, "found an incomplete decision, want one like %s", v.exampleDecision())
	}
	v.id(d.ID)
	v.modelSet(d.For.Models)
	v.subjects(d.For)
	v.looks(d.Looks)
	for _, l := range d.For.Levels.Value {
		if !slices.Contains(v.Levels.Value, l) {
			v.errorf(d.For.Levels.Place, "found %v, want levels of the spec's %v", l, v.Levels.Value)
		}
	}
	v.recorded(d.At, "a decision")
}

// exampleDecision is a complete decision on the spec's first model.
func (v *validator) exampleDecision() string {
	model := "my-model"
	if len(v.models.known) > 0 {
		model = v.models.known[0]
	}
	return fmt.Sprintf("{id: D1, for: {models: [%s]}, unit: query, require: {recall_committed: 0.85, specificity_strict: 0.85, exit_useful: 0.80, first_try_parse: 0.95}}", model)
}

// looks wants numbers that rise: each look is made on more than the one before.
func (v *validator) looks(looks []yamlpos.At[int]) {
	for i, n := range looks {
		switch {
		case n.Present() && n.Value < 1:
			v.errorf(n.Place, "found %d, want a number of queries (sessions, with unit: session) of at least 1", n.Value)
		case i > 0 && n.Present() && looks[i-1].Present() && n.Value <= looks[i-1].Value:
			v.errorf(n.Place, "found %d after %d, want numbers that rise, as in looks: [20, 50, 100]", n.Value, looks[i-1].Value)
		}
	}
}

func (v *validator) compare() {
	c := v.Spec.Compare
	if c == nil {
		return
	}
	v.modelSet(c.Baselines)
	if !v.models.open && len(v.withVariants(c.Baselines, nil)) == len(v.Models)*max(1, len(v.Variants)) {
		v.errorf(c.At, "found all models as baselines, want at least one that is compared with them")
	}
	v.recorded(c.At, "a comparison")
}

// modelSet wants known models, none of them twice.
func (v *validator) modelSet(list []yamlpos.At[string]) {
	seen := map[string]bool{}
	for _, m := range list {
		v.refer(m, v.models)
		for _, id := range v.idsOf(m.Value) {
			if seen[id] && m.Value != "" {
				v.errorf(m.Place, "found %q twice", id)
				break
			}
			seen[id] = true
		}
	}
}

// recorded: only with the exit gate recorded do all turns exist.
func (v *validator) recorded(at diag.Place, what string) {
	if x := v.ExitGate.Value; len(x) > 0 && !slices.Contains(x, Record) {
		v.errorf(at, "found %s, which is made on runs with the exit gate recorded, want record in exit_gate, found %v", what, x)
	}
}
