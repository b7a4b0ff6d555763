package dataset_test

import (
	"fmt"
	"testing"

	"github.com/poimen-memory/mem/harness/corpus/corpustest"
	"github.com/poimen-memory/mem/harness/dataset"
	"github.com/poimen-memory/mem/harness/spec"
)

// A spec may import every format, and knows which of them bring questions and have samples.
func TestSpecKnowsFormats(t *testing.T) {
	for _, format := range dataset.Formats() {
		accepts := func(query string) bool {
			content := fmt.Sprintf("experiment: x\ncorpora: [{id: a, import: {format: %s, path: f}}]\nmodels: [{id: m, policy: oracle}]\n%s", format, query)
			_, err := spec.Load(corpustest.WriteFile(t, "s.yaml", content))
			return err == nil
		}
		if !accepts("queries: [{id: q, text: Q}]\n") {
			t.Errorf("%s: refused", format)
		}
		if got := accepts(""); got != dataset.Labelled(format) {
			t.Errorf("%s: a spec without queries is accepted: %v", format, got)
		}
		if got := accepts("queries: [{id: q, text: Q, corpora: [a/1]}]\n"); got != dataset.Sampled(format) {
			t.Errorf("%s: a query of a sample is accepted: %v", format, got)
		}
	}
}
