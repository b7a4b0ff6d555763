package page

import (
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/internal/parallel"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/render/internal/layout"
	"github.com/poimen-memory/mem/harness/render/internal/view"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/stat/glossary"
)

var (
	//go:embed report.html.tmpl
	reportPage string
	//go:embed report.css
	reportStyle string
	//go:embed report.js
	reportScript string
)

// Write writes a result and the turns of its runs. It reads the runs concurrently and holds
// of each only what the page shows.
func Write(w io.Writer, r *result.Result, turns result.Turns) error {
	page, err := newPage(r, turns)
	if err != nil {
		return err
	}
	t, err := template.New("report").Funcs(template.FuncMap{"clean": layout.Clean, "figure": view.FormatRate, "lines": lines, "entry": entry}).Parse(reportPage)
	if err != nil {
		return err
	}
	return t.Execute(w, page)
}

// lines is a text of several lines, each made harmless.
func lines(s string) string { return strings.Join(layout.CleanLines(s), "\n") }

// pageData is what the template is given: texts and numbers that are ready to stand in it.
type pageData struct {
	*result.Result
	Sentence   string
	Unlike     []string // which prompts are not the paper's
	State      string   // passed, failed, undecided, unjudged
	Style      template.CSS
	Script     template.JS
	Decided    []decision
	Groups     []gateGroup
	Lengths    []lengthChart
	Common     string // what all panels of charts share
	Failures   []check.Result
	Checks     []*view.CheckCount
	Answered   *answerTable // nil: no answers were asked for
	Tagged     []tagTable
	Timelines  []timeline
	Pairs      []levelPair
	Rows       []budgetTable
	Sure       []sureGate // of models that were asked for log probabilities
	SureLegend string
	SureNotes  []string
	Glossary   []glossary.Entry // of the metrics that the page shows
	Details    []runDetail
}

// runDetail is a run's turns, compressed, for the script to open.
type runDetail struct{ Run, Data string }

type budgetTable struct {
	check.BudgetTable
	Title string
}

func newPage(r *result.Result, read result.Turns) (pageData, error) {
	p := pageData{
		Result: r, Sentence: view.NewSentence(r).String(), Unlike: view.OtherPrompts(r), State: stateOf(result.Exit(r)),
		Style: template.CSS(reportStyle), Script: template.JS(reportScript),
	}
	for _, d := range r.Decisions {
		p.Decided = append(p.Decided, newDecision(d))
	}
	for _, row := range r.Gates {
		p.Groups = append(p.Groups, newGroup(row))
	}
	p.Lengths, p.Common = lengthCharts(r), strings.Join(commonLabels(r.ByLength), ", ")
	p.Checks, p.Failures = view.CountChecks(r.Checks), view.Failures(r.Checks)
	for _, t := range r.Budgets {
		p.Rows = append(p.Rows, budgetTable{t, fmt.Sprintf("%s, counted with %s", t.Corpus, t.Tokenizer)})
	}
	p.Answered = newAnswers(r.Answers)
	for _, tag := range r.Tags() {
		p.Tagged = append(p.Tagged, newTagTable(tag, view.RowsOf(r.ByTag, tag)))
	}
	p.Pairs = pairs(r)
	p.Glossary = entries(r)
	p.Sure, p.SureNotes = sureGates(r.Gates)
	p.SureLegend = view.ConfidenceLegend
	err := p.readRuns(read)
	for i := range p.Decided {
		p.Decided[i].Worst = worst(p.Decided[i], p.Timelines)
	}
	return p, err
}

// mostWorst is how many runs a decision links.
const mostWorst = 5

// worst are the runs with something wrong that a decision rests on, of timelines in that order.
func worst(d decision, lines []timeline) (list []timeline) {
	for _, t := range lines {
		of := t.Run
		if len(list) < mostWorst && t.Badness() > 0 && of.Model == d.Model && of.Level == d.Level && of.ExitGate == spec.Record && d.Skipped == "" {
			list = append(list, t)
		}
	}
	return list
}

// readRuns reads the turns of all runs that were not skipped. The run that went worst stands
// first in the page.
func (p *pageData) readRuns(read result.Turns) error {
	var orders []int // in the result
	for i, run := range p.Runs {
		if run.State != record.Skipped {
			orders = append(orders, i)
		}
	}
	drawn, packed, errs := make([]timeline, len(orders)), make([]string, len(orders)), make([]error, len(orders))
	packers := sync.Pool{New: func() any { return newPacker() }}
	parallel.Do(runtime.NumCPU(), len(orders), func(i int) {
		z := packers.Get().(*packer)
		defer packers.Put(z)
		run := p.Runs[orders[i]]
		drawn[i], packed[i], errs[i] = readRun(z, run, read(run), p.Budget.Memory, !p.NoText)
		drawn[i].Order = orders[i]
	})
	for i, t := range drawn {
		if packed[i] != "" {
			p.Details = append(p.Details, runDetail{t.Run.Name, packed[i]})
		}
	}
	slices.SortStableFunc(drawn, func(a, b timeline) int { return b.Badness() - a.Badness() })
	p.Timelines = drawn
	return errors.Join(errs...)
}

func stateOf(exit int) string {
	switch exit {
	case 0:
		return "passed"
	case 1:
		return "failed"
	case 4:
		return "undecided"
	}
	return "unjudged"
}

// levelPair is L1 and L2 of one query and model side by side.
type levelPair struct {
	Query, Model string
	Lower        []result.Run
	Upper        result.Run
}

// pairs puts each L2 run over memories beside the L1 runs whose memories it read.
func pairs(r *result.Result) (list []levelPair) {
	type key struct {
		query, model string
		trial        int
	}
	keyOf := func(run result.Run) key { return key{run.Query, run.Model, run.Trial} }
	lower := map[key][]result.Run{}
	for _, run := range r.Runs {
		if run.Level == 1 && run.ExitGate == spec.Record {
			lower[keyOf(run)] = append(lower[keyOf(run)], run)
		}
	}
	for _, run := range r.Runs {
		if run.Level == 2 && run.OverMemories() && run.ExitGate == spec.Record {
			list = append(list, levelPair{Query: run.Query, Model: run.Model, Lower: lower[keyOf(run)], Upper: run})
		}
	}
	return list
}
