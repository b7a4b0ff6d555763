package harness

import (
	"slices"

	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/prompt"
)

// Planned is a run that would be done, with what it would take.
type Planned struct {
	Cell
	Estimate
}

// Estimate is what runs would take if every reply parsed at the first try. A run whose
// replies never do takes loop.Attempts times as much.
type Estimate struct {
	Runs       int
	Calls      int     // of models: one a chunk
	Bound      bool    // Calls is the most: an enforced exit gate stops early, an L1 run may leave no memory
	Prompt     int     // tokens sent at most: with a full memory from the second turn on
	Completion int     // tokens received at most: each reply as long as the budget's response
	USD        float64 // by the prices of the spec, of these tokens
	Unpriced   int     // runs of models without a price, which are not in USD
}

// Retries is the most that replies which do not parse multiply an Estimate by.
const Retries = loop.Attempts

// Add is both together.
func (a Estimate) Add(b Estimate) Estimate {
	return Estimate{
		Runs: a.Runs + b.Runs, Calls: a.Calls + b.Calls, Bound: a.Bound || b.Bound,
		Prompt: a.Prompt + b.Prompt, Completion: a.Completion + b.Completion,
		USD: a.USD + b.USD, Unpriced: a.Unpriced + b.Unpriced,
	}
}

// Total is what the runs of one model would take.
type Total struct {
	Model string // its id
	Estimate
}

// ByModel adds a plan up by models, in their first order.
func ByModel(plan []Planned) []Total {
	var totals []Total
	for _, r := range plan {
		i := slices.IndexFunc(totals, func(t Total) bool { return t.Model == r.Model })
		if i < 0 {
			totals, i = append(totals, Total{Model: r.Model}), len(totals)
		}
		totals[i].Estimate = totals[i].Add(r.Estimate)
	}
	return totals
}

// Sum is a plan as a whole.
func Sum(plan []Planned) (sum Estimate) {
	for _, r := range plan {
		sum = sum.Add(r.Estimate)
	}
	return sum
}

// Plan lists the runs that Run would do, in the order of the result.
func (e *Experiment) Plan() []Planned {
	var plan []Planned
	for _, j := range e.jobs {
		if j.wanted {
			plan = append(plan, Planned{j.Cell, e.estimate(j)})
		}
	}
	return plan
}

// estimate: a live run that replays another one takes at most an answer of its own.
func (e *Experiment) estimate(j *job) Estimate {
	replays := j.live() && j.twin != ""
	if replays && e.answers == nil {
		return Estimate{Runs: 1}
	}
	est := e.answerEstimate(j.query)
	est.Runs, est.Bound = 1, true
	if !replays {
		sections := e.sections(j)
		calls := len(sections)
		est.Bound = j.session == nil || j.ExitGate == spec.Enforce && calls > 1
		est.Calls += calls
		est.Prompt += e.promptTokens(j.query, sections)
		est.Completion += calls * e.prompts.Budget().Response
	}
	if p := j.model.Price; p != nil {
		est.USD = p.Of(est.Prompt, est.Completion)
	} else {
		est.Unpriced = 1
	}
	return est
}

// answerEstimate is what an answer from a full memory takes, nothing where none is asked for.
func (e *Experiment) answerEstimate(query string) Estimate {
	if e.answers == nil {
		return Estimate{}
	}
	t := e.answers.Fixed()
	t.Problem, t.Memory = e.prompts.Measure(query).Tokens, e.prompts.Budget().Memory
	return Estimate{Calls: 1, Prompt: t.Prompt(), Completion: e.Spec.Answer.MaxTokens.Value}
}

// sections are the tokens of each chunk; at L2 over memories, of a full one for each L1 run.
func (e *Experiment) sections(j *job) []int {
	if j.session != nil {
		return j.session.ChunkTokens()
	}
	head := e.prompts.Chunk(prompt.Record{Role: "memory"}).Tokens
	return slices.Repeat([]int{head + e.prompts.Budget().Memory}, j.turns)
}

func (e *Experiment) promptTokens(query string, sections []int) int {
	t := e.prompts.Fixed()
	t.Problem, t.Memory = e.prompts.Measure(query).Tokens, e.prompts.Memory(nil).Tokens
	sum := 0
	for _, section := range sections {
		t.Section = section
		sum += t.Prompt()
		t.Memory = max(t.Memory, e.prompts.Budget().Memory)
	}
	return sum
}
