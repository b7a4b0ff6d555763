package spec

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/spec/yamlpos"
)

// Variant is a setting of the experiment in which each model is evaluated: the spec with the
// fields that are given in place of its own. A variant without any is the spec as it is.
type Variant struct {
	At     diag.Place         `yaml:",pos"`
	ID     yamlpos.At[string] `yaml:"id,required" min:"1" is:"id"` // its name; the model m with it is m@ID
	Prompt *Prompt            `yaml:"prompt"`                      // another template
	System yamlpos.At[string] `yaml:"system"`                      // another system message; "": none
	Budget yamlpos.At[Limits] `yaml:"budget"`                      // other limits; one that is not given is the spec's
	Chunk  Chunk              `yaml:"chunk"`                       // another packing, of all corpora
}

// Limits are those of a Budget that a variant has of its own.
//
// The fields are those of Budget, so that the one converts to the other.
type Limits struct {
	Window   int `yaml:"window" min:"1" max:"2147483647"`   // prompt and response together
	Template int `yaml:"template" min:"1" max:"2147483647"` // template and system message together
	Question int `yaml:"question" min:"1" max:"2147483647"` // the query
	Memory   int `yaml:"memory" min:"1" max:"2147483647"`   // the memory; a candidate over it is not written
	Chunk    int `yaml:"chunk" min:"1" max:"2147483647"`    // one chunk as rendered
	Response int `yaml:"response" min:"1" max:"2147483647"` // the reply, its reasoning included
}

// changes reports whether the variant has a field of its own.
func (v *Variant) changes() bool {
	return v.Prompt != nil || v.System.Present() || v.Budget.Present() || v.Chunk.At.Present()
}

// Changes says what the variant changes, each change as a phrase; none: the spec as it is.
func (v *Variant) Changes() (list []string) {
	if v.Prompt != nil {
		list = append(list, "template "+filepath.ToSlash(v.Prompt.Template.Value))
	}
	switch {
	case v.System.Value != "":
		list = append(list, "a system message")
	case v.System.Present():
		list = append(list, "no system message")
	}
	given := v.Budget.Value
	for _, f := range []struct {
		name  string
		limit int
	}{
		{"window", given.Window}, {"template", given.Template}, {"question", given.Question},
		{"memory", given.Memory}, {"chunk", given.Chunk}, {"response", given.Response},
	} {
		if f.limit > 0 {
			list = append(list, fmt.Sprintf("%s budget %d", f.name, f.limit))
		}
	}
	if v.Chunk.At.Present() {
		list = append(list, "chunks of "+v.Chunk.String())
	}
	return list
}

// variantMark stands between a model and a variant; no id has it.
const variantMark = "@"

// SplitModel is the spec's model and the variant that the id of an expanded model names; the
// variant is "" where the spec has none.
func SplitModel(id string) (model, variant string) {
	model, variant, _ = strings.Cut(id, variantMark)
	return model, variant
}

// JoinVariant is the id of a model, or the name of a corpus, with a variant.
func JoinVariant(id, variant string) string {
	if variant == "" {
		return id
	}
	return id + variantMark + variant
}

// With is the spec as a variant has it; nil: the spec itself.
func (s *Spec) With(v *Variant) *Spec {
	if v == nil || !v.changes() {
		return s
	}
	of := *s
	if v.Prompt != nil {
		of.Prompt = v.Prompt
	}
	if v.System.Present() {
		of.System = v.System.Value
	}
	of.Budget.Value = s.Budget.Value.with(Budget(v.Budget.Value))
	if a := s.Answer; a != nil && !a.MaxTokens.Present() {
		own := *a
		own.MaxTokens.Value = of.Budget.Value.Response
		of.Answer = &own
	}
	of.Corpora = chunked(s.Corpora, v.Chunk, of.Budget.Value.Chunk)
	return &of
}

// chunked are corpora with a packing in place of theirs, or with their own, which by default
// depends on the limit of a chunk.
func chunked(corpora []Corpus, own Chunk, limit int) []Corpus {
	list := slices.Clone(corpora)
	for i := range list {
		switch c := &list[i]; {
		case own.At.Present():
			c.Chunk = own
		case !c.Chunk.At.Present():
			c.Chunk.Tokens.Value = min(ChunkTokens, limit)
		}
	}
	return list
}

// with has the limits that are given in place of b's.
func (b Budget) with(given Budget) Budget {
	for _, f := range []struct{ of, given *int }{
		{&b.Window, &given.Window}, {&b.Template, &given.Template}, {&b.Question, &given.Question},
		{&b.Memory, &given.Memory}, {&b.Chunk, &given.Chunk}, {&b.Response, &given.Response},
	} {
		if *f.given > 0 {
			*f.of = *f.given
		}
	}
	return b
}

// expandVariants makes of each model one for each variant, and of each name of a model those
// of all its variants, so that all that is made of models is made of these.
func (s *Spec) expandVariants() {
	if len(s.Variants) == 0 {
		return
	}
	var models []Model
	for _, m := range s.Models {
		for i := range s.Variants {
			of := m
			of.Variant = &s.Variants[i]
			of.ID.Value = JoinVariant(m.ID.Value, of.Variant.ID.Value)
			models = append(models, of)
		}
	}
	s.Models = models
	if d := s.Decision; d != nil {
		d.For.Models = s.withVariants(d.For.Models, d.For.Variants)
	}
	if c := s.Compare; c != nil {
		c.Baselines = s.withVariants(c.Baselines, nil)
	}
}

// withVariants are the ids that names of models stand for: m for all variants of m, or for
// those of only.
func (s *Spec) withVariants(models, only []yamlpos.At[string]) (ids []yamlpos.At[string]) {
	for _, m := range models {
		for _, id := range s.idsOf(m.Value) {
			_, variant := SplitModel(id)
			if only == nil || slices.ContainsFunc(only, func(v yamlpos.At[string]) bool { return v.Value == variant }) {
				ids = append(ids, yamlpos.At[string]{Place: m.Place, Value: id})
			}
		}
	}
	return ids
}

// idsOf are the ids of a model with each variant, or the one that is named with its own.
func (s *Spec) idsOf(model string) (ids []string) {
	if strings.Contains(model, variantMark) || len(s.Variants) == 0 {
		return []string{model}
	}
	for i := range s.Variants {
		ids = append(ids, JoinVariant(model, s.Variants[i].ID.Value))
	}
	return ids
}

// collectVariants checks the ids of variants, and knows models with them.
func (v *validator) collectVariants() {
	v.variants = v.unique("variants", ids(v.Variants, func(x Variant) entry { return entry{x.At, x.ID} }))
	plain := v.models.known
	for _, m := range plain {
		for _, variant := range v.variants.known {
			v.models.known = append(v.models.known, JoinVariant(m, variant))
		}
	}
}

// variantSettings judges each variant as it judges the spec: limits that fit, and chunks within them.
func (v *validator) variantSettings() {
	var same *Variant
	for i := range v.Variants {
		x := &v.Variants[i]
		if !x.changes() {
			if same != nil && v.decoded {
				v.errorf(x.At, "found a second variant that changes nothing, after %s: want prompt, system, budget or chunk in it", diag.Quote(same.ID.Value))
			}
			same = x
			continue
		}
		v.variantBudget(x)
	}
}

// variantBudget names the variant's own place, for the spec by itself is judged apart.
func (v *validator) variantBudget(x *Variant) {
	b := v.With(x).Budget.Value
	if x.Budget.Present() && b.sum() > b.Window {
		v.errorf(x.Budget.Place, "found template %d + question %d + memory %d + chunk %d + response %d = %d tokens with variant %s, want at most the window of %d",
			b.Template, b.Question, b.Memory, b.Chunk, b.Response, b.sum(), x.ID.Value, b.Window)
	}
	if a := v.Answer; x.Budget.Present() && a != nil && a.MaxTokens.Value > b.Response && a.MaxTokens.Value <= v.Budget.Value.Response {
		v.errorf(x.Budget.Place, "found response %d with variant %s, which is below answer.max_tokens, %d: want at least that", b.Response, x.ID.Value, a.MaxTokens.Value)
	}
	if n := x.Chunk.Tokens; n.Present() && n.Value > b.Chunk {
		v.errorf(n.Place, "found %d, which is above budget.chunk with variant %s, %d: want at most that, or budget: {chunk: %d} in the variant", n.Value, x.ID.Value, b.Chunk, n.Value)
	}
	for _, c := range v.Corpora {
		if n := c.Chunk.Tokens; !x.Chunk.At.Present() && n.Present() && n.Value > b.Chunk && n.Value <= v.Budget.Value.Chunk {
			v.errorf(x.Budget.Place, "found chunk %d with variant %s, below the %d tokens that corpus %s is packed to: want chunk: {tokens: %d} in the variant",
				b.Chunk, x.ID.Value, n.Value, c.ID.Value, b.Chunk)
		}
	}
}

// referVariant wants ref, where it is given, to be a variant of the spec.
func (v *validator) referVariant(ref yamlpos.At[string]) {
	if ref.Value != "" && len(v.Variants) == 0 && v.decoded {
		v.errorf(ref.Place, "found variant %s, but the spec has none: want variants: [{id: %s, …}] in it", diag.Quote(ref.Value), ref.Value)
		return
	}
	v.refer(ref, v.variants)
}

// subjects wants variants beside models that are named without one.
func (v *validator) subjects(of Subjects) {
	for _, ref := range of.Variants {
		v.referVariant(ref)
	}
	for _, m := range of.Models {
		if model, variant := SplitModel(m.Value); len(of.Variants) > 0 && variant != "" {
			v.errorf(m.Place, "found %s beside variants, want the model alone, %s", diag.Quote(m.Value), model)
		}
	}
}
