package spec

import (
	"slices"

	"github.com/poimen-memory/mem/harness/spec/yamlpos"
)

// Decision is what the experiment decides (METRICS section 3), of each of its models at
// each of its levels apart, on the runs with the exit gate recorded.
type Decision struct {
	At      yamlpos.Place      `yaml:",pos"`
	ID      yamlpos.At[string] `yaml:"id,required" min:"1" is:"id"` // its name, as M1.8
	For     Subjects           `yaml:"for,required"`
	Require Criteria           `yaml:"require" min:"0" max:"1"` // METRIC: THRESHOLD, all to be reached; the shipped criteria if not given
}

// Subjects are what is decided on.
type Subjects struct {
	Models []yamlpos.At[string]   `yaml:"models,required" min:"1"`     // ids
	Levels yamlpos.At[Set[Level]] `yaml:"levels" enum:"L1,L2" min:"1"` // the spec's if not given
}

// Criteria are thresholds of metrics, which they must reach. Whether there is such a
// metric is for others to say.
type Criteria []Criterion

// Criterion is one threshold, from 0 to 1.
type Criterion struct {
	Metric    yamlpos.At[string]
	Threshold yamlpos.At[float64]
}

// DecodeYAML implements yamlpos.Unmarshaler.
func (c *Criteria) DecodeYAML(n yamlpos.Node) {
	pairs := n.Pairs()
	for _, p := range pairs {
		criterion := Criterion{Metric: p.Key}
		p.Value.Decode(&criterion.Threshold)
		*c = append(*c, criterion)
	}
	if n.Kind() == yamlpos.Map && len(pairs) == 0 {
		n.Errorf("found no criterion, want METRIC: THRESHOLD, or no require for the shipped criteria")
	}
}

// Compare is a comparison of the spec's other models with its baselines, on the runs with
// the exit gate recorded.
type Compare struct {
	At        yamlpos.Place        `yaml:",pos"`
	Baselines []yamlpos.At[string] `yaml:"baselines,required" min:"1"` // ids of models
	Metrics   []yamlpos.At[string] `yaml:"metrics" min:"1"`            // those of the shipped criteria if not given
}

// Prompt is a variant of the prompt, for an ablation: a template that is not the paper's.
type Prompt struct {
	At       yamlpos.Place      `yaml:",pos"`
	Template yamlpos.At[string] `yaml:"template,required" min:"1"` // file with exactly one each of {prompt}, {memory} and {chunk}
}

func (v *validator) decision() {
	d := v.Decision
	if d == nil {
		return
	}
	v.id(d.ID)
	v.modelSet(d.For.Models)
	for _, l := range d.For.Levels.Value {
		if !slices.Contains(v.Levels.Value, l) {
			v.errorf(d.For.Levels.Place, "found %v, want levels of the spec's %v", l, v.Levels.Value)
		}
	}
	v.recorded(d.At, "a decision")
}

func (v *validator) compare() {
	c := v.Spec.Compare
	if c == nil {
		return
	}
	v.modelSet(c.Baselines)
	if !v.models.open && len(c.Baselines) == len(v.models.known) {
		v.errorf(c.At, "found all models as baselines, want at least one that is compared with them")
	}
	v.recorded(c.At, "a comparison")
}

// modelSet wants known models, none of them twice.
func (v *validator) modelSet(list []yamlpos.At[string]) {
	seen := map[string]bool{}
	for _, m := range list {
		if v.refer(m, v.models); seen[m.Value] && m.Value != "" {
			v.errorf(m.Place, "found %q twice", m.Value)
		}
		seen[m.Value] = true
	}
}

// recorded: only with the exit gate recorded do all turns exist.
func (v *validator) recorded(at yamlpos.Place, what string) {
	if x := v.ExitGate.Value; len(x) > 0 && !slices.Contains(x, Record) {
		v.errorf(at, "found %s, which is made on runs with the exit gate recorded, want record in exit_gate, found %v", what, x)
	}
}
