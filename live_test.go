package mem_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/poimen-memory/mem/harness/spec"
)

// TestLiveSpecsAreValid: every spec that docs/live.md shows can be run as it stands.
func TestLiveSpecsAreValid(t *testing.T) {
	text, err := os.ReadFile("docs/live.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(text, -1)
	if len(blocks) < 4 {
		t.Fatalf("%d specs, want one for each kind of server", len(blocks))
	}
	for _, b := range blocks {
		s, err := spec.Parse("docs/live.md", b[1])
		if err != nil {
			t.Errorf("%v\n%s", err, b[1])
			continue
		}
		for _, m := range s.Models {
			env := func(string) (string, bool) { return "set", true }
			if m.Live == nil {
				t.Errorf("%s: %s is not live", s.Experiment.Value, m.ID.Value)
			} else if _, errs := m.Live.Expand(env); errs != nil {
				t.Error(errs)
			}
		}
	}
}
