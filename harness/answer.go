package harness

import (
	"context"

	"github.com/poimen-memory/mem/gate"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/prompt"
)

// Answer is what a run's model answered from the final memory.
type Answer struct {
	Text       *string           `json:"text"`                 // nil: no reply held an answer
	Attempts   int               `json:"attempts"`             // calls
	Failures   []gate.Kind       `json:"no_answer,omitempty"`  // why replies held none, one a reply
	References []string          `json:"references,omitempty"` // of the query
	All        bool              `json:"all,omitempty"`        // References are the parts of the right answer; else wordings of it
	Score      *stat.AnswerScore `json:"score,omitempty"`      // nil: there are no references. Without a text: 0
}

// AnswerRow is what the answers of one model were worth at one level and exit setting, over
// its complete runs.
type AnswerRow struct {
	Model        string           `json:"model"`
	Level        spec.Level       `json:"level"`
	ExitGate     string           `json:"exit_gate"`
	Runs         int              `json:"runs"`      // that were asked
	NoAnswer     int              `json:"no_answer"` // of them, whose replies held no answer
	Unreferenced []string         `json:"queries_without_references,omitempty"`
	Metrics      []stat.Metric    `json:"metrics"` // sub_em, answer_em, answer_f1
	Gates        stat.AnswerTable `json:"gates"`
}

// Metric is the row's metric of that name; ok is false if it has none.
func (r AnswerRow) Metric(name string) (e stat.Estimate, ok bool) {
	return metricNamed(r.Metrics, name)
}

// ask asks for the answer of a run whose loop has ended. It is no event of the run. Once ctx
// is cancelled nothing is asked; a call in hand is finished, as a turn's is.
func (e *Experiment) ask(ctx context.Context, j *job, t *tally, memory *prompt.Text) (*Answer, error) {
	if e.answers == nil {
		return nil, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p, err := e.answers.Assemble(e.prompts.Measure(j.query), memory)
	if err != nil {
		return nil, err
	}
	t.asking(p.Tokens.Prompt())
	said, err := loop.AskAnswer(context.WithoutCancel(ctx), t, p, e.Spec.Answer.MaxTokens.Value)
	if err != nil {
		return nil, err
	}
	t.usage.helped += one(said.Attempts > 1 && said.Text != "")
	return j.scored(said), nil
}

// scored is an answer with what it is worth.
func (j *job) scored(said loop.Answer) *Answer {
	a := &Answer{Attempts: said.Attempts, Failures: said.Failures, References: j.references.Answers, All: j.references.All}
	if said.Text != "" {
		a.Text = &said.Text
	}
	if len(a.References) > 0 {
		score := stat.ScoreAnswer(said.Text, a.References, a.All)
		a.Score = &score
	}
	return a
}

// answerRows has a row for each gate row whose runs were asked for answers.
func (e *Experiment) answerRows(gates []GateRow, runs []*done) (rows []AnswerRow) {
	if e.answers == nil {
		return nil
	}
	for _, g := range gates {
		row := AnswerRow{Model: g.Model, Level: g.Level, ExitGate: g.ExitGate}
		of := selected(runs, g.Model, g.Level, g.ExitGate)
		seen := map[string]bool{}
		for _, d := range of {
			if d.State == Complete {
				row.add(d.Run, seen)
			}
		}
		if row.Runs == 0 {
			continue
		}
		row.Gates = stat.CrossAnswers(observations(of))
		for _, name := range AnswerMetrics() {
			m, _ := g.Metric(name)
			row.Metrics = append(row.Metrics, stat.Metric{Name: name, Estimate: m})
		}
		rows = append(rows, row)
	}
	return rows
}

// AnswerMetrics are those of the answer step.
func AnswerMetrics() []string { return []string{"sub_em", "answer_em", "answer_f1"} }

func (r *AnswerRow) add(run Run, seen map[string]bool) {
	r.Runs++
	r.NoAnswer += one(run.Answer.Text == nil)
	if run.Answer.Score == nil && !seen[run.Query] {
		seen[run.Query] = true
		r.Unreferenced = append(r.Unreferenced, run.Query)
	}
}
