package render_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/render"
	"github.com/poimen-memory/mem/harness/stat"
)

// What has no evidence or no run has no number: it is not 0.
func TestByLength(t *testing.T) {
	row := func(length int, counts stat.Counts, calls int, depths ...harness.DepthRow) harness.LengthRow {
		return harness.LengthRow{Corpus: "needles", Length: length, Calls: calls, Depths: depths,
			GateRow: harness.GateRow{Model: "m", Level: 1, ExitGate: "record", Counts: counts}}
	}
	r := &harness.Result{Experiment: "x", ByLength: []harness.LengthRow{
		row(8192, stat.Counts{Runs: 2, MemoryTokens: 30}, 5, harness.DepthRow{From: 0, To: 50, Evidence: 4, Written: 3}, harness.DepthRow{From: 50, To: 100}),
		row(32768, stat.Counts{}, 0, harness.DepthRow{From: 0, To: 50}, harness.DepthRow{From: 50, To: 100}),
	}}
	var out bytes.Buffer
	if err := (render.Terminal{Width: 100}).Result(&out, r); err != nil {
		t.Fatal(err)
	}
	var got [][]string
	for line := range strings.Lines(out.String()) {
		if strings.HasPrefix(line, "m ") {
			got = append(got, strings.Fields(line))
		}
	}
	want := [][]string{
		{"m", "needles", "8192", "2", "–", "–", "–", "2.5", "15"},
		{"m", "needles", "32768", "0", "–", "–", "–", "–", "–"},
		{"m", "needles", "8192", "3/4", "–"},
		{"m", "needles", "32768", "–", "–"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s\n%s", diff, out.String())
	}
}
