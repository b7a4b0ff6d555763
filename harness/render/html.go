package render

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/stat"
)

// Report is what report.html shows: a result, the turns of its runs as their logs tell
// them, and what a clock touched.
type Report struct {
	Result *harness.Result
	Turns  map[string][]Turn // by run name; a run that is not in it has no timeline
	Timing string            // timing.json as it is, or "": the one part that differs from run to run
}

// Turn is one turn of a run. Texts are as they were, hostile or not: they are escaped
// where they are shown.
type Turn struct {
	Parsed     bool     `json:"p,omitempty"`
	Update     bool     `json:"u,omitempty"` // as said
	Exit       bool     `json:"x,omitempty"` // as said
	Written    bool     `json:"w,omitempty"`
	OverBudget bool     `json:"o,omitempty"`
	Tokens     int      `json:"t,omitempty"` // of the memory after the turn
	Memory     *string  `json:"m,omitempty"` // the new memory, where one was written
	Prompt     string   `json:"q,omitempty"` // what was sent, where the journal holds it
	Digest     string   `json:"d,omitempty"` // of the first request
	Calls      []Answer `json:"c,omitempty"`
}

// Answer is one attempt at a turn.
type Answer struct {
	Reply     string `json:"r,omitempty"`
	Reasoning string `json:"s,omitempty"`
	Error     string `json:"e,omitempty"` // transport: no reply came
	Wrong     string `json:"w,omitempty"` // why the reply does not parse, and where
}

var (
	//go:embed report.html.tmpl
	reportPage string
	//go:embed report.css
	reportStyle string
	//go:embed report.js
	reportScript string
)

// HTML writes a report as one page that needs no network and no server. Without
// JavaScript it shows all but the full texts of turns, which are embedded compressed.
func HTML(w io.Writer, r Report) error {
	page, err := newPage(r)
	if err != nil {
		return err
	}
	t, err := template.New("report").Funcs(template.FuncMap{"clean": clean, "figure": figure, "lines": lines}).Parse(reportPage)
	if err != nil {
		return err
	}
	return t.Execute(w, page)
}

// lines is a text of several lines, each made harmless.
func lines(s string) string { return strings.Join(cleanLines(s), "\n") }

// htmlPage is what the template is given: texts and numbers that are ready to stand in it.
type htmlPage struct {
	*harness.Result
	Sentence  string
	State     string // passed, failed, undecided, unjudged
	Style     template.CSS
	Script    template.JS
	Decided   []htmlDecision
	Groups    []htmlGroup
	Ladders   []htmlLadder
	Common    string // what all panels of ladders share
	Failures  []check.Result
	Checks    []*kind
	Answered  *htmlAnswers // nil: no answers were asked for
	Timelines []timeline
	Pairs     []htmlPair
	Rows      []htmlBudget
	Details   []htmlDetail
	Timing    string
}

// htmlDetail is a run's turns, compressed, for the script to open.
type htmlDetail struct{ Run, Data string }

type htmlBudget struct {
	check.BudgetTable
	Title string
}

func newPage(r Report) (htmlPage, error) {
	p := htmlPage{
		Result: r.Result, Sentence: total(r.Result).String(), State: stateOf(harness.Exit(r.Result)),
		Style: template.CSS(reportStyle), Script: template.JS(reportScript), Timing: r.Timing,
	}
	for _, d := range r.Result.Decisions {
		p.Decided = append(p.Decided, newDecision(d))
	}
	for _, row := range r.Result.Gates {
		p.Groups = append(p.Groups, newGroup(row))
	}
	p.Ladders, p.Common = ladders(r.Result), strings.Join(common(r.Result.ByLength), ", ")
	p.Checks, p.Failures = kinds(r.Result.Checks), failures(r.Result.Checks)
	for _, t := range r.Result.Budgets {
		p.Rows = append(p.Rows, htmlBudget{t, fmt.Sprintf("%s, counted with %s", t.Corpus, t.Tokenizer)})
	}
	p.Answered = newAnswers(r.Result.Answers)
	p.Timelines = timelines(r)
	p.Pairs = pairs(r.Result)
	var err error
	p.Details, err = details(r)
	return p, err
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

// details compresses the turns of each run: a page of 100,000 turns stays small, and a
// browser inflates a run when it is opened.
func details(r Report) (list []htmlDetail, err error) {
	for _, run := range r.Result.Runs {
		turns, ok := r.Turns[run.Name]
		if !ok {
			continue
		}
		var b bytes.Buffer
		z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
		if err != nil {
			return nil, err
		}
		if err := json.NewEncoder(z).Encode(turns); err != nil {
			return nil, err
		}
		if err := z.Close(); err != nil {
			return nil, err
		}
		list = append(list, htmlDetail{run.Name, base64.URLEncoding.EncodeToString(b.Bytes())})
	}
	return list, nil
}

// htmlDecision is a decision with its criteria drawn against their thresholds.
type htmlDecision struct {
	harness.Decision
	Head     string
	Notes    []string
	Criteria []htmlCriterion
}

type htmlCriterion struct {
	stat.Judgment
	Text, Counts string
	Bar          bar
}

// bar is an interval on a scale from 0 to 1, in units of a drawing 200 wide.
type bar struct {
	From, To, At, Threshold float64
	Drawn                   bool
}

const barWidth = 200

func newDecision(d harness.Decision) htmlDecision {
	h := htmlDecision{Decision: d, Head: fmt.Sprintf("%s: %s at %s", d.ID, d.Model, d.Level), Notes: decisionNotes(d)}
	if d.Skipped != "" {
		h.Notes = []string{d.Skipped}
	}
	for _, j := range d.Criteria {
		h.Criteria = append(h.Criteria, htmlCriterion{
			Judgment: j, Text: j.Estimate.String(), Counts: share(j.Estimate), Bar: barOf(j.Estimate.Value, j.Lower, j.Upper, j.Threshold),
		})
	}
	return h
}

func barOf(value, lower, upper *float64, threshold float64) bar {
	b := bar{Threshold: barWidth * threshold}
	if value == nil || lower == nil || upper == nil {
		return b
	}
	b.Drawn = true
	b.At, b.From, b.To = barWidth**value, barWidth**lower, barWidth**upper
	return b
}

// htmlGroup is one small multiple: a model at a level and exit setting.
type htmlGroup struct {
	harness.GateRow
	Title   string
	Update  []stacked
	Exit    stacked
	Metrics []htmlMetric
	Rows    []htmlQuery
	Growth  string // memory_slope
}

type htmlMetric struct {
	Name, Text string
	Bar        bar
}

type htmlQuery struct {
	harness.QueryRow
	Right, Wrong, Failed int
}

// stacked is a bar of shares, each with what it counts.
type stacked struct {
	Label string
	Parts []slice
	Total int
}

type slice struct {
	Name, Class string
	N           int
	X, Width    float64
}

func stack(label string, parts ...slice) stacked {
	s := stacked{Label: label}
	for _, p := range parts {
		s.Total += p.N
	}
	x := 0.0
	for _, p := range parts {
		if p.N == 0 {
			continue
		}
		p.X, p.Width = x, barWidth*float64(p.N)/float64(s.Total)
		x += p.Width
		s.Parts = append(s.Parts, p)
	}
	return s
}

// shown are the metrics with an interval that a small multiple draws.
func shown() []string {
	return []string{"recall_strict", "recall_committed", "specificity_strict", "exit_safe", "exit_timely", "first_try_parse", "balanced_accuracy"}
}

func newGroup(row harness.GateRow) htmlGroup {
	c := row.Counts
	g := htmlGroup{GateRow: row, Title: fmt.Sprintf("%s, %s, exit gate %s", row.Model, row.Level, row.ExitGate)}
	g.Update = []stacked{
		stack("on evidence", slice{Name: "yes, right", Class: "right", N: c.TruePos}, slice{Name: "no, wrong", Class: "wrong", N: c.FalseNeg},
			slice{Name: "not parsed", Class: "failed", N: c.FailedPos}),
		stack("without evidence", slice{Name: "no, right", Class: "right", N: c.TrueNeg}, slice{Name: "yes, wrong", Class: "wrong", N: c.FalsePos},
			slice{Name: "not parsed", Class: "failed", N: c.FailedNeg}),
	}
	g.Exit = stack("exit", slice{Name: "early", Class: "wrong", N: c.ExitEarly}, slice{Name: "on time", Class: "right", N: c.ExitOnTime},
		slice{Name: "late", Class: "late", N: c.ExitLate}, slice{Name: "never", Class: "never", N: c.ExitNever})
	for _, name := range shown() {
		if e, ok := row.Metric(name); ok {
			g.Metrics = append(g.Metrics, htmlMetric{name, rateText(e), barOf(e.Value, e.Lower, e.Upper, -1)})
		}
	}
	if e, ok := row.Metric("memory_slope"); ok {
		g.Growth = rateText(e)
	}
	for _, q := range row.Queries {
		g.Rows = append(g.Rows, htmlQuery{q, q.Counts.TruePos + q.Counts.TrueNeg, q.Counts.FalsePos + q.Counts.FalseNeg, q.Counts.ParseFailed()})
	}
	return g
}

// rateText is an estimate without its number of queries, which its neighbours share.
func rateText(e stat.Estimate) string {
	if e.Value == nil || e.Lower == nil || e.Upper == nil {
		return e.String()
	}
	return fmt.Sprintf("%.3f [%.3f, %.3f]", *e.Value, *e.Lower, *e.Upper)
}

// htmlPair is L1 and L2 of one query and model side by side.
type htmlPair struct {
	Query, Model string
	Lower        []harness.Run
	Upper        harness.Run
}

// pairs puts each L2 run over memories beside the L1 runs that it rests on.
func pairs(r *harness.Result) (list []htmlPair) {
	for _, upper := range r.Runs {
		if upper.Level != 2 || upper.Session != harness.MemoriesSession || upper.ExitGate != "record" {
			continue
		}
		p := htmlPair{Query: upper.Query, Model: upper.Model, Upper: upper}
		for _, run := range r.Runs {
			if run.Level == 1 && run.Query == upper.Query && run.Model == upper.Model && run.Trial == upper.Trial && run.ExitGate == "record" {
				p.Lower = append(p.Lower, run)
			}
		}
		list = append(list, p)
	}
	return list
}

// timelines draws every run, the worst first.
func timelines(r Report) (list []timeline) {
	for i, run := range r.Result.Runs {
		if run.State != harness.Skipped {
			t := newTimeline(run, r.Turns[run.Name], r.Result.Budget.Memory)
			t.Order = i
			list = append(list, t)
		}
	}
	flips := flipsOf(list)
	for i := range list {
		list[i].Flips = flips[list[i].cell()]
	}
	slices.SortStableFunc(list, func(a, b timeline) int { return b.badness() - a.badness() })
	return list
}

// flipsOf counts, for runs that differ in their trial alone, turns on which the trials'
// update gates disagree.
func flipsOf(list []timeline) map[string]int {
	said := map[string]map[int][2]bool{} // cell → turn → seen no, seen yes
	for _, t := range list {
		cell := t.cell()
		if said[cell] == nil {
			said[cell] = map[int][2]bool{}
		}
		for i, turn := range t.turns {
			if turn.Parsed {
				s := said[cell][i]
				s[one(turn.Update)] = true
				said[cell][i] = s
			}
		}
	}
	flips := map[string]int{}
	for cell, turns := range said {
		for _, s := range turns {
			if s[0] && s[1] {
				flips[cell]++
			}
		}
	}
	return flips
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (t timeline) cell() string {
	return strings.Join([]string{t.Run.Session, t.Run.Query, t.Run.Level.String(), t.Run.Model, t.Run.ExitGate}, "\x00")
}
