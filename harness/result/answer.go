package result

import (
	"errors"
	"fmt"

	"github.com/poimen-memory/mem/gate"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/harness/stat/answer"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/journal"
)

// Answer is what a run's model answered from the final memory.
type Answer struct {
	Text       *string     `json:"text"`                 // nil: no reply held an answer
	Attempts   int         `json:"attempts"`             // calls
	Failures   []gate.Kind `json:"no_answer,omitempty"`  // why replies held none, one a reply
	References []string    `json:"references,omitempty"` // of the query
	All        bool        `json:"all,omitempty"`        // References are the parts of the right answer; else wordings of it
	// Unanswerable: the right answer says that the session does not hold it.
	Unanswerable bool          `json:"unanswerable,omitempty"`
	Score        *answer.Score `json:"score,omitempty"` // nil: there are no references. Without a text: 0
}

// AnswerRow is the scores of the answers of one model at one level and exit setting, over
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

// answer folds the calls for the answer.
func (t *runFold) answer(calls []journal.Call) {
	if t.planned.Setup.Answers == nil || len(calls) == 0 {
		return
	}
	p, err := t.planned.Setup.Answers.Assemble(t.problem, t.memory)
	if err == nil {
		t.expected, t.explains = p, true
		t.sent.Answers = []int{p.Tokens.Prompt()}
	}
	a := Answer{References: t.planned.References.Answers, All: t.planned.References.All, Unanswerable: t.planned.References.Unanswerable}
	for i, c := range calls {
		if again := i+1 < len(calls) && calls[i+1].Attempt == c.Attempt; c.Error != "" && again {
			continue
		}
		t.Calls++
		t.asked = append(t.asked, [2]int{c.Turn, c.Attempt})
		sent, tokens, known := t.request(c)
		t.answerAsked(sent, known)
		if t.answered.add(c, tokens); c.Error != "" {
			return // the answer is yet to be asked for
		}
		a.add(c)
	}
	t.answered.helped += count(a.Attempts > 1 && a.Text != nil)
	a.score()
	t.Answer = &a
}

// answerAsked holds a request for the answer against the one that the plan would send.
func (t *runFold) answerAsked(sent loop.Request, known bool) {
	other := !known || t.explains && (sent.System != t.expected.System || sent.User != t.expected.User)
	switch limit := t.planned.Setup.AnswerTokens(); {
	case sent.MaxTokens != limit:
		t.otherAnswer = fmt.Sprintf("answer.max_tokens was %d when recorded, is %d now", sent.MaxTokens, limit)
	case other:
		t.otherAnswer = "the prompt that asks for the answer is another now"
	}
}

// add folds a reply.
func (a *Answer) add(c journal.Call) {
	a.Attempts++
	text, err := loop.ParseAnswer(loop.Completion{Text: c.Reply, Reasoning: c.Reasoning, Finish: c.Finish})
	if syntax, ok := errors.AsType[*gate.SyntaxError](err); ok {
		a.Failures = append(a.Failures, syntax.Kind)
		return
	}
	a.Text = &text
}

// score scores the answer by its references, or by whether it abstains; there is no score without
// either.
func (a *Answer) score() {
	text := ""
	if a.Text != nil {
		text = *a.Text
	}
	var score answer.Score
	switch {
	case a.Unanswerable:
		score = answer.Abstention(text)
	case len(a.References) == 0:
		return
	default:
		score = answer.Compare(text, a.References, a.All)
	}
	a.Score = &score
}

// answerRows has a row for each gate row whose runs were asked for answers.
func answerRows(s *summary, gates []GateRow) (rows []AnswerRow) {
	if s.plan.Answers == nil {
		return nil
	}
	for _, g := range gates {
		row := AnswerRow{Model: g.Model, Level: g.Level, ExitGate: g.ExitGate}
		of := selected(s.runs, g.Model, g.Level, g.ExitGate)
		seen := map[string]bool{}
		for _, d := range of {
			if d.State == record.Complete {
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
	r.NoAnswer += count(run.Answer.Text == nil)
	if run.Answer.Score == nil && !seen[run.Query] {
		seen[run.Query] = true
		r.Unreferenced = append(r.Unreferenced, run.Query)
	}
}
