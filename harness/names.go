package harness

import (
	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/spec"
)

// RunNames are those of an experiment.
func RunNames(e Experiment) []string {
	return each(e.Selected(), func(r *plan.Run) string { return r.Name })
}

// QueryIDs are those of an experiment.
func QueryIDs(e Experiment) []string {
	return each(e.Selected(), func(r *plan.Run) string { return r.Query })
}

// SessionNames are those of an experiment.
func SessionNames(e Experiment) []string {
	return each(e.Sessions, (*plan.Session).Name)
}

// ModelIDs are those of an experiment.
func ModelIDs(e Experiment) []string {
	return each(e.Spec.Models, func(m spec.Model) string { return m.ID.Value })
}

func each[T any](list []T, word func(T) string) []string {
	words := make([]string, len(list))
	for i, x := range list {
		words[i] = word(x)
	}
	return words
}
