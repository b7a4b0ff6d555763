package result

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/stat"
)

// Lines is what a baseline keeps of a result: every count, and no text of a session or a
// model. One line of JSON each: the runs and checks by how they ended, what was decided,
// what prompts take over each corpus, and for each model, level and exit setting what its
// runs, and their answers, came to, and which queries' turns are wrong.
func (r *Result) Lines() (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	lines := []any{
		map[string]any{"experiment": r.Experiment, "tokenizer": r.Tokenizer, "budget": r.Budget},
		map[string]any{"runs": r.states()},
		map[string]any{"checks": r.statuses()},
	}
	for _, d := range r.Decisions {
		lines = append(lines, map[string]any{"decision": d.ID, "model": d.Model, "level": d.Level, "verdict": d.Verdict})
	}
	for _, t := range r.Budgets {
		lines = append(lines, map[string]any{"budget": t})
	}
	for _, row := range r.Gates {
		lines = append(lines, countsLine{row.Model, row.Level, row.ExitGate, row.Excluded, r.sums(row), row.Counts, wrongTurns(row)})
	}
	for _, row := range r.Answers {
		e, _ := row.Metric("sub_em")
		lines = append(lines, answersLine{row.Model, row.Level, row.ExitGate, row.Runs, row.NoAnswer, e.X, row.Gates})
	}
	for _, line := range lines {
		if err := e.Encode(line); err != nil {
			return "", fmt.Errorf("%s: %w", r.Experiment, err)
		}
	}
	return b.String(), nil
}

// countsLine is a GateRow with sums over its runs' facts.
type countsLine struct {
	Model    string      `json:"model"`
	Level    spec.Level  `json:"level"`
	ExitGate string      `json:"exit_gate"`
	Excluded int         `json:"excluded_runs"`
	Sums     sums        `json:"sums"`
	Counts   stat.Counts `json:"counts"`
	// Wrong names the queries whose turns are wrong.
	Wrong map[string]wrongCounts `json:"wrong"`
}

// wrongCounts are how many turns of a query are wrong in which way.
type wrongCounts struct {
	Missed    int `json:"missed,omitempty"`
	Noise     int `json:"noise,omitempty"`
	NotParsed int `json:"not_parsed,omitempty"`
	EarlyExit int `json:"early_exit,omitempty"`
}

func wrongTurns(row GateRow) map[string]wrongCounts {
	queries := map[string]wrongCounts{}
	for _, q := range row.Queries {
		c := q.Counts
		if w := (wrongCounts{c.FalseNeg, c.FalsePos, c.ParseFailed(), c.ExitEarly}); w != (wrongCounts{}) {
			queries[q.Query] = w
		}
	}
	return queries
}

// answersLine is an AnswerRow with the sum of sub_em over its runs.
type answersLine struct {
	Model    string           `json:"model"`
	Level    spec.Level       `json:"level"`
	ExitGate string           `json:"exit_gate"`
	Answers  int              `json:"answers"`
	None     int              `json:"no_answer"`
	SubEM    float64          `json:"sub_em"`
	Gates    stat.AnswerTable `json:"gates"`
}

type sums struct {
	ChunksSeen     int `json:"chunks_seen"`
	ChunksUsed     int `json:"chunks_used"`
	MemoryTokens   int `json:"final_memory_tokens"`
	Calls          int `json:"calls"`
	Exits          int `json:"exits"`
	BudgetExceeded int `json:"budget_exceeded"`
	ParseFailed    int `json:"parse_failed"`
}

func (r *Result) sums(row GateRow) (s sums) {
	for _, run := range r.Runs {
		if run.Model != row.Model || run.Level != row.Level || run.ExitGate != row.ExitGate {
			continue
		}
		s.ChunksSeen += run.ChunksSeen
		s.ChunksUsed += run.ChunksUsed
		s.MemoryTokens += run.MemoryTokens
		s.Calls += run.Calls
		s.Exits += run.Exits
		s.BudgetExceeded += run.BudgetExceeded
		s.ParseFailed += run.ParseFailed
	}
	return s
}

func (r *Result) states() map[record.State]int {
	n := map[record.State]int{}
	for _, run := range r.Runs {
		n[run.State]++
	}
	return n
}

// statuses counts by check and status.
func (r *Result) statuses() map[string]map[check.Status]int {
	n := map[string]map[check.Status]int{}
	for _, c := range r.Checks {
		if n[c.Check] == nil {
			n[c.Check] = map[check.Status]int{}
		}
		n[c.Check][c.Status]++
	}
	return n
}
