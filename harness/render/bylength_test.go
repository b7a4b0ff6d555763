package render_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/render"
	"github.com/poimen-memory/mem/harness/stat"
)

// figure is an estimate of a metric; bounds are two numbers or none.
func figure(metric string, units int, value float64, bounds ...float64) stat.Metric {
	m := stat.Metric{Name: metric, Estimate: stat.Estimate{Value: &value, Units: units, X: value * 8, N: 8}}
	if len(bounds) == 2 {
		m.Lower, m.Upper = &bounds[0], &bounds[1]
	}
	return m
}

func undefinedFigure(metric, reason string) stat.Metric {
	return stat.Metric{Name: metric, Estimate: stat.Estimate{Reason: reason}}
}

// laddered is two lengths and two depths of a model, every number another.
func laddered(model, corpus string) *harness.Result {
	row := func(length, calls int, metrics []stat.Metric, depths ...harness.DepthRow) harness.LengthRow {
		return harness.LengthRow{Corpus: corpus, Length: length, Calls: calls, Depths: depths,
			GateRow: harness.GateRow{Model: model, Level: 1, ExitGate: "record", Metrics: metrics, Counts: stat.Counts{Runs: 2}}}
	}
	depth := func(from, to, evidence, written int, metrics ...stat.Metric) harness.DepthRow {
		return harness.DepthRow{From: from, To: to, Evidence: evidence, Written: written, Metrics: metrics}
	}
	none := undefinedFigure("recall_committed", "no sample")
	r := &harness.Result{Schema: harness.SchemaVersion, Experiment: "x", ByLength: []harness.LengthRow{
		row(8192, 5, []stat.Metric{figure("recall_committed", 12, 0.75, 0.41, 0.93), figure("final_memory", 2, 15, 3, 27), figure("calls", 2, 2.5)},
			depth(0, 50, 4, 3, figure("recall_committed", 2, 0.625, 0.11, 0.97), figure("final_memory", 2, 100), figure("calls", 2, 2.5)),
			depth(50, 100, 0, 0, none, undefinedFigure("final_memory", "no sample"), undefinedFigure("calls", "no sample"))),
		row(32768, 0, []stat.Metric{figure("recall_committed", 3, 0.25, 0.02, 0.64), undefinedFigure("final_memory", "no complete runs"), undefinedFigure("calls", "no complete runs")},
			depth(0, 50, 0, 0, figure("recall_committed", 1, 0.125)),
			depth(50, 100, 9, 1, figure("recall_committed", 7, 0, 0, 0.31))),
	}}
	r.Budget.Memory = 1024
	return r
}

// What has no evidence or no run has no number: it is not 0.
func TestByLength(t *testing.T) {
	var out bytes.Buffer
	if err := (render.Terminal{Width: 120}).Result(&out, laddered("m", "needles")); err != nil {
		t.Fatal(err)
	}
	var got [][]string
	for line := range strings.Lines(out.String()) {
		if strings.HasPrefix(line, "m ") {
			got = append(got, strings.Fields(line))
		}
	}
	want := [][]string{
		{"m", "needles", "8192", "2", "0.750", "0.410–0.930", "–", "–", "2.5", "15"},
		{"m", "needles", "32768", "2", "0.250", "0.020–0.640", "–", "–", "–", "–"},
		{"m", "needles", "8192", "3/4", "–"},
		{"m", "needles", "32768", "–", "1/9"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s\n%s", diff, out.String())
	}
}

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
	r := laddered("m", "needles")
	html := page(t, render.Report{Result: r})
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
	if cmp.Equal(before, drawn(t, page(t, render.Report{Result: r}), "recall_committed")) {
		t.Error("the map of transposed cells is the same")
	}
}

// TestHTMLPlot: dots stand over the map's columns, at the heights of their numbers; an
// undefined one is not drawn at all, and the words for those who do not see it say why.
func TestHTMLPlot(t *testing.T) {
	html := page(t, render.Report{Result: laddered("m", "needles")})
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

// TestNoLadderNoSection: a page without lengths says nothing of them.
func TestNoLadderNoSection(t *testing.T) {
	if html := page(t, render.Report{Result: passed()}); strings.Contains(html, `id="ladder"`) || strings.Contains(html, `class="panel"`) {
		t.Error("an experiment without lengths has maps")
	}
}

// TestOneDepth has plots and no rows of depths, and no table of them elsewhere.
func TestOneDepth(t *testing.T) {
	r := laddered("m", "needles")
	for i := range r.ByLength {
		r.ByLength[i].Depths = nil
	}
	if rows := drawn(t, page(t, render.Report{Result: r}), "recall_committed"); len(rows) != 1 {
		t.Errorf("rows: %v", rows)
	}
	var out bytes.Buffer
	if err := (render.Terminal{}).Result(&out, r); err != nil {
		t.Fatal(err)
	}
	if err := render.Markdown(&out, r); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "depth") {
		t.Errorf("depths are shown:\n%s", out.String())
	}
}

// TestDepthsThatAreMissing from the rows of a changed folder are not measured.
func TestDepthsThatAreMissing(t *testing.T) {
	r := laddered("m", "needles")
	last := &r.ByLength[len(r.ByLength)-1]
	last.Depths = last.Depths[:1]
	rows := drawn(t, page(t, render.Report{Result: r}), "recall_committed")
	if got := fmt.Sprint(rows[len(rows)-1]); !strings.Contains(got, "not measured") {
		t.Errorf("the last depth is %s", got)
	}
	var out bytes.Buffer
	if err := (render.Terminal{}).Result(&out, r); err != nil {
		t.Fatal(err)
	}
	if err := render.Markdown(&out, r); err != nil {
		t.Fatal(err)
	}
}

// TestMapsInMarkdown are folded, each number with its interval and queries.
func TestMapsInMarkdown(t *testing.T) {
	var out bytes.Buffer
	if err := render.Markdown(&out, laddered("m", "needles")); err != nil {
		t.Fatal(err)
	}
	want := "<summary><code>recall_committed</code> by length and depth; n is queries</summary>\n\n" +
		"| model | corpus | length | 0–50 % | 50–100 % |\n| --- | --- | ---: | ---: | ---: |\n" +
		"| <code>m</code> | <code>needles</code> | 8192 | 0.62 [0.11, 0.97] (n 2) | – |\n" +
		"| <code>m</code> | <code>needles</code> | 32768 | 0.12 (n 1) | 0 [0, 0.31] (n 7) |\n"
	if !strings.Contains(out.String(), want) {
		t.Errorf("want\n%s\nin\n%s", want, out.String())
	}
}

// TestMapsOfManyModelsFitAComment: GitHub refuses longer ones.
func TestMapsOfManyModelsFitAComment(t *testing.T) {
	r := laddered("m", "needles")
	for i := range 200 {
		r.ByLength = append(r.ByLength, laddered(fmt.Sprintf("model-%d", i), "needles").ByLength...)
	}
	var out bytes.Buffer
	if err := render.Markdown(&out, r); err != nil {
		t.Fatal(err)
	}
	if n := len([]rune(out.String())); n > 65536 || !strings.Contains(out.String(), "386 more lengths") {
		t.Errorf("%d characters, or not said what is left out", n)
	}
}
