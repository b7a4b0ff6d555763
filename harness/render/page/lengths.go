package page

import (
	"fmt"
	"math"
	"strings"

	"github.com/poimen-memory/mem/harness/render/internal/layout"
	"github.com/poimen-memory/mem/harness/render/internal/view"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/stat"
)

// lengthChart is one metric against length and depth: a panel for each model, level, exit
// setting and corpus, all on one scale.
type lengthChart struct {
	Name, What string
	Scale      []string // the lower bound of each step of shading
	Shade      string   // the class of its steps: a rate's, or an amount's
	Panels     []panel
}

// commonLabels is what is the same for all panels.
func commonLabels(rows []result.LengthRow) (said []string) {
	for _, of := range panelLabels() {
		if texts := layout.Each(rows, of); len(texts) > 0 && view.AllEqual(texts) {
			said = append(said, texts[0])
		}
	}
	return said
}

// panelLabels are what a panel is of, beside its model.
func panelLabels() []func(result.LengthRow) string {
	return []func(result.LengthRow) string{
		func(r result.LengthRow) string { return "level " + r.Level.String() },
		func(r result.LengthRow) string { return "exit gate: " + r.ExitGate },
		func(r result.LengthRow) string { return "corpus " + r.Corpus },
	}
}

// panelTitle is the model, and what is not common.
func panelTitle(row result.LengthRow, all []result.LengthRow) string {
	parts := []string{row.Model}
	for _, of := range panelLabels() {
		if !view.AllEqual(layout.Each(all, of)) {
			parts = append(parts, of(row))
		}
	}
	return strings.Join(parts, ", ")
}

// panel is a map of lengths and depths, below a plot of all depths whose columns are the map's.
type panel struct {
	Title   string
	Lengths []string
	Rows    []mapRow // all depths first
	Plot    plot
}

type mapRow struct {
	Depth string
	Cells []mapCell
}

// Columns are those of the table.
func (p panel) Columns() int { return 1 + len(p.Lengths) }

// mapCell is an estimate as it stands in a map. Class is empty where it is undefined.
type mapCell struct{ Class, Value, Bounds, Count, Title string }

// steps is how many shades a map has.
const steps = 10

// yardstick is how a metric is written, shaded and drawn.
type yardstick struct {
	name, format string
	shade        string
	full         float64 // the end of the shading
	top          float64 // the end of the plot
	budget       bool    // the end of the plot is the budget
}

// lengthCharts has one for each metric that is measured at depths.
func lengthCharts(r *result.Result) (list []lengthChart) {
	if len(r.ByLength) == 0 {
		return nil
	}
	for _, name := range result.Mapped() {
		y := newYardstick(name, r)
		l := lengthChart{Name: name, What: y.what(), Shade: y.shade}
		for i := range steps {
			l.Scale = append(l.Scale, view.FormatNumber(float64(i)*y.full/steps))
		}
		for _, rows := range panels(r.ByLength) {
			p := y.panel(rows)
			p.Title = panelTitle(rows[0], r.ByLength)
			l.Panels = append(l.Panels, p)
		}
		list = append(list, l)
	}
	return list
}

func (y yardstick) what() string {
	switch y.name {
	case result.FinalMemory:
		return "tokens of the memory after the last turn, mean over runs; the dashes are the budget"
	case result.Calls:
		return "calls of a run, those that ask a turn again included, mean over runs"
	}
	d, _ := stat.Define(y.name)
	return d.Formula
}

// panels parts rows by what they are of; those of one panel stand together.
func panels(rows []result.LengthRow) (list [][]result.LengthRow) {
	type key struct {
		corpus, model, exit string
		level               spec.Level
	}
	of := func(r result.LengthRow) key { return key{r.Corpus, r.Model, r.ExitGate, r.Level} }
	for i, r := range rows {
		if i == 0 || of(r) != of(rows[i-1]) {
			list = append(list, nil)
		}
		list[len(list)-1] = append(list[len(list)-1], r)
	}
	return list
}

// newYardstick is from 0 to 1 for a rate. For an amount it ends at a round number above all
// that is shown, in a plot of memories at their budget.
func newYardstick(name string, r *result.Result) yardstick {
	y := yardstick{name: name, format: "%.2f", shade: "rate", full: 1, top: 1}
	if name != result.FinalMemory && name != result.Calls {
		return y
	}
	y.shade, y.format = "amount", "%.1f"
	shaded, drawn := 0.0, 0.0
	for _, row := range r.ByLength {
		e := view.Estimate(row, name)
		shaded, drawn = max(shaded, figureOr0(e.Value)), max(drawn, figureOr0(e.Value), figureOr0(e.Upper))
		for _, d := range row.Depths {
			shaded = max(shaded, figureOr0(view.Estimate(d, name).Value))
		}
	}
	y.full, y.top = round(shaded), round(drawn)
	if name == result.FinalMemory {
		y.format = "%.0f"
		if r.Budget.Memory > 0 {
			y.top, y.budget = float64(r.Budget.Memory), true
		}
	}
	return y
}

func figureOr0(v *float64) float64 {
	if v == nil {
		return 0
	}
	return *v
}

// round is the next 1, 2 or 5 with zeros.
func round(v float64) float64 {
	if v <= 0 {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(v)))
	for _, n := range []float64{1, 2, 5} {
		if v <= n*unit {
			return n * unit
		}
	}
	return 10 * unit
}

func (y yardstick) panel(rows []result.LengthRow) panel {
	p := panel{Plot: y.plot(rows), Rows: []mapRow{{Depth: "all"}}}
	for _, r := range rows {
		p.Lengths = append(p.Lengths, r.LengthName())
		p.Rows[0].Cells = append(p.Rows[0].Cells, y.cell(view.Estimate(r, y.name)))
	}
	for i, d := range rows[0].Depths {
		row := mapRow{Depth: view.DepthName(d)}
		for _, r := range rows {
			row.Cells = append(row.Cells, y.cell(view.Estimate(view.DepthAt(r, i), y.name)))
		}
		p.Rows = append(p.Rows, row)
	}
	return p
}

func (y yardstick) cell(e stat.Estimate) mapCell {
	c := mapCell{Value: view.Undefined, Bounds: layout.Clean(e.Reason)}
	if e.Value == nil {
		return c
	}
	step := min(int(*e.Value/y.full*steps), steps-1)
	c.Class = fmt.Sprintf("%s s%d", y.shade, max(step, 0))
	c.Value, c.Bounds, c.Count = fmt.Sprintf(y.format, *e.Value), "no interval", fmt.Sprint("n ", e.Queries)
	if e.Lower != nil && e.Upper != nil {
		c.Bounds = fmt.Sprintf(y.format+"–"+y.format, *e.Lower, *e.Upper)
	}
	c.Title = strings.Join(append([]string{view.FormatCounts(e)}, e.Notes...), "; ")
	return c
}

// plot is a metric against length in pixels: a line through the estimates, broken where one
// is undefined, and their intervals.
type plot struct {
	Width           int
	Line, Intervals string // SVG paths
	Dots            []dot
	Top, Alt        string
	Budget          bool // its top is the budget
}

type dot struct{ X, Y float64 }

// A plot stands in a table: its columns are the table's, in pixels.
const (
	plotMargin = 70 // the first column, of depths
	plotColumn = 72
	plotTop    = 10
	plotFloor  = 90
)

func (y yardstick) plot(rows []result.LengthRow) plot {
	p := plot{Width: plotMargin + plotColumn*len(rows), Top: view.FormatNumber(y.top), Budget: y.budget}
	move := "M"
	for i, r := range rows {
		e := view.Estimate(r, y.name)
		p.Alt += fmt.Sprintf(" %s: %s;", r.LengthName(), layout.Clean(e.String()))
		if e.Value == nil {
			move = "M"
			continue
		}
		d := dot{float64(plotMargin + plotColumn*i + plotColumn/2), y.at(*e.Value)}
		p.Dots = append(p.Dots, d)
		p.Line += fmt.Sprintf("%s%.0f %.1f", move, d.X, d.Y)
		move = "L"
		if e.Lower != nil && e.Upper != nil {
			p.Intervals += fmt.Sprintf("M%.0f %.1fh8m-4 0V%.1fm-4 0h8", d.X-4, y.at(*e.Lower), y.at(*e.Upper))
		}
	}
	return p
}

// at is a height in a plot; what is beyond its ends stands at them.
func (y yardstick) at(v float64) float64 {
	return plotFloor - (plotFloor-plotTop)*max(0, min(v/y.top, 1))
}
