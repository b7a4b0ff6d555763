package result

import (
	"fmt"
	"slices"
	"strings"

	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/prompt"
)

// Differences are in what two results differ beside their numbers: in settings, such as the
// prompt or a budget, and in data, over which numbers cannot be compared: other chunks or
// labels in the runs that both have, or another vocabulary that counts them.
func Differences(a, b *Result) (settings, data []string) {
	settings = otherSettings(plan.Variation{Prompt: a.Prompt, Budget: a.Budget}, plan.Variation{Prompt: b.Prompt, Budget: b.Budget})
	settings = append(settings, otherVariants(a.Variants, b.Variants)...)
	if a.Tokenizer != b.Tokenizer {
		data = append(data, fmt.Sprintf("another tokenizer: %s and %s", a.Tokenizer, b.Tokenizer))
	}
	return settings, append(data, otherInputs(a, b)...)
}

// otherSettings compares the prompts and budgets of two variants, or of two specs by themselves.
func otherSettings(a, b plan.Variation) (list []string) {
	if x, y := a.Prompt.SHA, b.Prompt.SHA; x != y {
		list = append(list, fmt.Sprintf("another template: %s and %s", x, y))
	}
	if a.Prompt.System != b.Prompt.System {
		list = append(list, "another system message")
	}
	if x, y := a.Prompt.Answer, b.Prompt.Answer; x != "" && y != "" && x != y { // else there is nothing to compare
		list = append(list, fmt.Sprintf("another answer template: %s and %s", x, y))
	}
	if a.Budget != b.Budget {
		list = append(list, "another budget: "+otherLimits(a.Budget, b.Budget))
	}
	return list
}

// otherLimits names the limits that differ.
func otherLimits(a, b prompt.Budget) string {
	var list []string
	for _, l := range []struct {
		name string
		a, b int
	}{
		{"window", a.Window, b.Window}, {"template", a.Template, b.Template}, {"question", a.Question, b.Question},
		{"memory", a.Memory, b.Memory}, {"chunk", a.Chunk, b.Chunk}, {"response", a.Response, b.Response},
	} {
		if l.a != l.b {
			list = append(list, fmt.Sprintf("%s %d and %d", l.name, l.a, l.b))
		}
	}
	return strings.Join(list, ", ")
}

// otherVariants compares the variants that both have, and names those that one has alone.
func otherVariants(a, b []plan.Variation) (list []string) {
	of := func(list []plan.Variation, id string) int {
		return slices.IndexFunc(list, func(v plan.Variation) bool { return v.ID == id })
	}
	for _, v := range a {
		i := of(b, v.ID)
		if i < 0 {
			list = append(list, "variant "+v.ID+" in the first alone")
			continue
		}
		for _, what := range otherSettings(v, b[i]) {
			list = append(list, "variant "+v.ID+": "+what)
		}
	}
	for _, v := range b {
		if of(a, v.ID) < 0 {
			list = append(list, "variant "+v.ID+" in the second alone")
		}
	}
	return list
}

// otherInputs compares what runs read. Memories that L2 reads are the model's own. Variants that
// one side has alone may pack otherwise: there one input in common is enough.
func otherInputs(a, b *Result) []string {
	type key struct {
		session, query, variant string
		level                   spec.Level
	}
	both := func(variant string) bool {
		has := func(r *Result) bool {
			return slices.ContainsFunc(r.Variants, func(v plan.Variation) bool { return v.ID == variant })
		}
		return has(a) && has(b)
	}
	inputs := func(r *Result) (keys []key, read map[key][]string) {
		read = map[key][]string{}
		for _, run := range r.Runs {
			if run.OverMemories() {
				continue
			}
			k := key{run.Session, run.Query, "", run.Level}
			if _, variant := spec.SplitModel(run.Model); both(variant) {
				k.variant = variant
			}
			if read[k] == nil {
				keys = append(keys, k)
			}
			if !slices.Contains(read[k], run.Input) {
				read[k] = append(read[k], run.Input)
			}
		}
		return keys, read
	}
	_, first := inputs(a)
	keys, second := inputs(b)
	var other []string
	for _, k := range keys {
		common := func(input string) bool { return slices.Contains(first[k], input) }
		if where := k.session + "/" + k.query; first[k] != nil && !slices.ContainsFunc(second[k], common) && !slices.Contains(other, where) {
			other = append(other, where)
		}
	}
	if other == nil {
		return nil
	}
	const shown = 3
	names := strings.Join(other[:min(len(other), shown)], ", ")
	return []string{fmt.Sprintf("another corpus: other chunks or labels of %s (%d)", names, len(other))}
}
