package page_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/poimen-memory/mem/harness/render/internal/rendertest"
)

var (
	mapRow  = regexp.MustCompile(`(?s)<tr><th scope="row">([^<]*)</th>(.*?)</tr>`)
	mapCell = regexp.MustCompile(`(?s)<td class="([^"]*)"[^>]*>(.*?)</td>`)
	tags    = regexp.MustCompile(`<[^>]*>`)
)

// drawn is the map of a metric on a page: the row's depth, and each cell's class and text.
func drawn(t *testing.T, html, metric string) (rows [][]string) {
	t.Helper()
	_, part, found := strings.Cut(html, "<summary><strong>"+metric+"</strong>")
	if !found {
		t.Fatalf("no map of %s", metric)
	}
	part, _, _ = strings.Cut(part, "</details>")
	for _, m := range mapRow.FindAllStringSubmatch(part, -1) {
		row := []string{m[1]}
		for _, c := range mapCell.FindAllStringSubmatch(m[2], -1) {
			row = append(row, c[1]+": "+strings.Join(strings.Fields(tags.ReplaceAllString(c[2], " ")), " "))
		}
		rows = append(rows, row)
	}
	return rows
}

// TestHTMLMap: every cell stands where its length and depth are, with its interval and its
// queries; what is undefined has a reason and no shade.
func TestHTMLMap(t *testing.T) {
	r := rendertest.WithLengths("m", "needles")
	html := written(t, report{Result: r})
	for metric, want := range map[string][][]string{
		"recall_committed": {
			{"all", "rate s7: 0.75 0.41–0.93 n 12", "rate s2: 0.25 0.02–0.64 n 3"},
			{"0–50 %", "rate s6: 0.62 0.11–0.97 n 2", "rate s1: 0.12 no interval n 1"},
			{"50–100 %", "none: – no sample", "rate s0: 0.00 0.00–0.31 n 7"},
		},
		"final_memory": {
			{"all", "amount s1: 15 3–27 n 2", "none: – no complete runs"},
			{"0–50 %", "amount s9: 100 no interval n 2", "none: – not measured"},
			{"50–100 %", "none: – no sample", "none: – not measured"},
		},
	} {
		if diff := cmp.Diff(want, drawn(t, html, metric)); diff != "" {
			t.Errorf("%s (-want +page):\n%s", metric, diff)
		}
	}
	before := drawn(t, html, "recall_committed")
	a, b := &r.ByLength[0].Depths[1], &r.ByLength[1].Depths[0]
	a.Metrics, b.Metrics = b.Metrics, a.Metrics
	if cmp.Equal(before, drawn(t, written(t, report{Result: r}), "recall_committed")) {
		t.Error("the map of transposed cells is the same")
	}
}

// TestHTMLPlot: dots stand over the map's columns, at the heights of their numbers; an
// undefined one is not drawn at all, and the words for those who do not see it say why.
func TestHTMLPlot(t *testing.T) {
	html := written(t, report{Result: rendertest.WithLengths("m", "needles")})
	for _, want := range []string{
		// recall: 80 pixels from 1 at 10 to 0 at 90
		`<path class="line" d="M106 30.0L178 70.0"/>`,
		`<circle class="at" cx="106" cy="30" r="4"/><circle class="at" cx="178" cy="70" r="4"/>`,
		`<path class="interval" d="M102 57.2h8m-4 0V15.6m-4 0h8M174 88.4h8m-4 0V38.8m-4 0h8"/>`,
		`aria-label="all depths, by length: 8k: 0.750 [0.410, 0.930] (12 queries); 32k: 0.250 [0.020, 0.640] (3 queries);"`,
		// memory: the budget, 1024, is its top; the second length has none
		`<text x="62" y="14" text-anchor="end">1024</text>`, `>budget</text>`,
		`<path class="line" d="M106 88.8"/>`,
		`8k: 15.000 [3.000, 27.000] (2 queries); 32k: – (no complete runs);`,
	} {
		if !strings.Contains(html, want) {
			t.Errorf("the page does not hold %s", want)
		}
	}
}

// TestNoLengthsNoSection: a page without lengths says nothing of them.
func TestNoLengthsNoSection(t *testing.T) {
	if html := written(t, report{Result: rendertest.Passed()}); strings.Contains(html, `id="lengths"`) || strings.Contains(html, `class="panel"`) {
		t.Error("an experiment without lengths has maps")
	}
}

// TestOneDepth: a row without depths has a plot, and one line in the map.
func TestOneDepth(t *testing.T) {
	r := rendertest.WithLengths("m", "needles")
	for i := range r.ByLength {
		r.ByLength[i].Depths = nil
	}
	if rows := drawn(t, written(t, report{Result: r}), "recall_committed"); len(rows) != 1 {
		t.Errorf("rows: %v", rows)
	}
}

// TestDepthsThatAreMissing from the rows of a changed folder are shown as not measured.
func TestDepthsThatAreMissing(t *testing.T) {
	r := rendertest.WithLengths("m", "needles")
	last := &r.ByLength[len(r.ByLength)-1]
	last.Depths = last.Depths[:1]
	rows := drawn(t, written(t, report{Result: r}), "recall_committed")
	if got := fmt.Sprint(rows[len(rows)-1]); !strings.Contains(got, "not measured") {
		t.Errorf("the last depth is %s", got)
	}
}
