package render_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/poimen-memory/mem/harness/render"
	"github.com/poimen-memory/mem/harness/render/internal/rendertest"
	"github.com/poimen-memory/mem/harness/stat/decide"
)

// TestNearMissIsNotRounded: a bound below the threshold is not shown as the threshold.
func TestNearMissIsNotRounded(t *testing.T) {
	r := rendertest.Passed()
	r.Decisions = decided().Decisions[:1]
	d := &r.Decisions[0]
	d.Criteria = slices.Clone(d.Criteria)
	near, rate := 0.84996, 0.9
	d.Criteria[0].Claimed, d.Criteria[0].Lower, d.Criteria[0].Upper, d.Criteria[0].Estimate.Value = 0.85, &near, &rate, &rate
	d.Criteria[0].Verdict = decide.Inconclusive
	if text := shown(t, render.Terminal{}, r); !strings.Contains(text, "(84.996–90)  needs 85 %") {
		t.Errorf("found\n%s", text)
	}
}

// TestNextCommand: what to look at next is a run that the command finds, of the model that did not pass.
func TestNextCommand(t *testing.T) {
	r := broken()
	text := shown(t, render.Terminal{Folder: "out/it's"}, r)
	for _, want := range []string{`  mem show 'out/it'\''s' hotpot/q00   (the worst run)` + "\n", "\n  out/it's/report.html\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if text := shown(t, render.Terminal{}, r); strings.Contains(text, "mem show") {
		t.Errorf("a command without a folder:\n%s", text)
	}
}

// TestAmongSeveral: of several experiments one that passed is a line, and one that did not is shown.
func TestAmongSeveral(t *testing.T) {
	if text := shown(t, render.Terminal{Among: true, Folder: "x"}, rendertest.Passed()); strings.Count(text, "\n") != 1 {
		t.Errorf("found\n%s", text)
	}
	for _, r := range []int{0, 1} {
		text := shown(t, render.Terminal{Among: true, Detail: []render.Detail{render.Brief, render.Quiet}[r]}, broken())
		if !strings.Contains(text, "✗ golden: ") {
			t.Errorf("failures are missing:\n%s", text)
		}
	}
}
