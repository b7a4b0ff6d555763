package forecast

import (
	"iter"
	"slices"

	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/prompt"
)

// Planned is a run and what it would take.
type Planned struct {
	plan.Cell
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

// ByModel adds plans up by models, in their first order.
func ByModel(runs iter.Seq[Planned]) []Total {
	var totals []Total
	index := map[string]int{}
	for r := range runs {
		i, known := index[r.Model]
		if !known {
			i = len(totals)
			totals, index[r.Model] = append(totals, Total{Model: r.Model}), i
		}
		totals[i].Estimate = totals[i].Add(r.Estimate)
	}
	return totals
}

// Sum is a plan as a whole.
func Sum(runs iter.Seq[Planned]) (sum Estimate) {
	for r := range runs {
		sum = sum.Add(r.Estimate)
	}
	return sum
}

// Runs gives the selected runs of plans with what each would take, as often as it is asked:
// there may be a million.
func Runs(plans ...*plan.Plan) iter.Seq[Planned] {
	estimators := make([]estimator, len(plans))
	for i, p := range plans {
		estimators[i] = newEstimator(p)
	}
	return func(yield func(Planned) bool) {
		for _, e := range estimators {
			for _, r := range e.Runs {
				if r.Selected && !yield(Planned{r.Cell, e.run(r)}) {
					return
				}
			}
		}
	}
}

// estimator keeps what reading a session for a question takes: many runs do.
type estimator struct {
	*plan.Plan
	readings map[reading]Estimate
}

func newEstimator(p *plan.Plan) estimator { return estimator{p, map[reading]Estimate{}} }

// reading is what the tokens of a run depend on.
type reading struct {
	setup    *plan.Setup
	session  *plan.Session
	question string
	turns    int
	replays  bool
}

// run estimates a run. A live run that replays another one takes at most an answer of its own.
func (e estimator) run(r *plan.Run) Estimate {
	replays := r.Live() && r.ReplayOf != ""
	if replays && r.Setup.Answers == nil {
		return Estimate{Runs: 1}
	}
	key := reading{r.Setup, r.Session, r.Question, r.Turns, replays}
	est, known := e.readings[key]
	if !known {
		est = e.read(r, replays)
		e.readings[key] = est
	}
	est.Runs = 1
	est.Bound = replays || r.OverMemories() || r.ExitGate == spec.Enforce && r.Turns > 1
	if price := r.Spec.Price; price != nil {
		est.USD = price.Of(est.Prompt, est.Completion)
	} else {
		est.Unpriced = 1
	}
	return est
}

// read is what the calls of a run take.
func (e estimator) read(r *plan.Run, replays bool) Estimate {
	est := answerEstimate(r.Setup, r.Question)
	if !replays {
		sections := sections(r)
		est.Calls += len(sections)
		est.Prompt += promptTokens(r.Setup, r.Question, sections)
		est.Completion += len(sections) * r.Setup.Budget().Response
	}
	return est
}

// answerEstimate is what an answer from a full memory takes, nothing where none is asked for.
func answerEstimate(s *plan.Setup, query string) Estimate {
	if s.Answers == nil {
		return Estimate{}
	}
	t := s.Answers.Fixed()
	t.Problem, t.Memory = s.Prompts.Measure(query).Tokens, s.Prompts.Budget().Memory
	return Estimate{Calls: 1, Prompt: t.Prompt(), Completion: s.AnswerTokens()}
}

// sections are the tokens of each chunk; at L2 over memories, of a full one for each L1 run.
func sections(r *plan.Run) []int {
	if !r.OverMemories() {
		return r.Session.ChunkTokens()
	}
	head := r.Setup.Prompts.Chunk(prompt.Record{Role: "memory"}).Tokens
	return slices.Repeat([]int{head + r.Setup.Budget().Memory}, r.Turns)
}

func promptTokens(s *plan.Setup, query string, sections []int) int {
	t := s.Prompts.Fixed()
	t.Problem, t.Memory = s.Prompts.Measure(query).Tokens, s.Prompts.Memory(nil).Tokens
	sum := 0
	for _, section := range sections {
		t.Section = section
		sum += t.Prompt()
		t.Memory = max(t.Memory, s.Prompts.Budget().Memory)
	}
	return sum
}
