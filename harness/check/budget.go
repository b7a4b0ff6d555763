package check

import (
	"fmt"
	"slices"

	"github.com/poimen-memory/mem/harness/dist"
	"github.com/poimen-memory/mem/prompt"
)

// Usage is what the prompts over one corpus take, in tokens, each slice in any order.
type Usage struct {
	Fixed     prompt.Tokens // template and system message
	Questions []int
	Chunks    []int // one a chunk of the corpus, whether a run sent it or not
	Memories  []int // one a prompt
	Prompts   []int // one a prompt
	Answers   []int // whole prompts that asked for an answer
}

// Headroom are the limits that a corpus's prompts are held against.
type Headroom struct {
	Budget     prompt.Budget
	Percentile int // of chunk size, nearest rank; at which the headroom is taken
	Min        int // tokens that must stay free at that chunk size
}

// BudgetTable is a corpus's prompts by component.
type BudgetTable struct {
	Corpus     string      `json:"corpus"`
	Tokenizer  string      `json:"tokenizer"`
	Rows       []BudgetRow `json:"components"`
	Percentile int         `json:"percentile"`
	// Headroom is what a prompt leaves free under window − response that is made of the
	// chunk at Percentile, the longest question and a full memory; AtMax the same with
	// the largest chunk. Negative: it does not fit.
	Headroom int `json:"headroom"`
	AtMax    int `json:"headroom_at_max"`
}

// BudgetRow is the distribution of one component, in tokens.
type BudgetRow struct {
	Component prompt.Component `json:"component"`
	P50       int              `json:"p50"`
	At        int              `json:"at_percentile"`
	P95       int              `json:"p95"`
	P99       int              `json:"p99"`
	Max       int              `json:"max"`
	Limit     int              `json:"limit"`
}

// Table measures a corpus's prompts.
func (h Headroom) Table(corpus, tokenizer string, u Usage) BudgetTable {
	b := h.Budget
	t := BudgetTable{Corpus: corpus, Tokenizer: tokenizer, Percentile: h.Percentile}
	for _, c := range []struct {
		name   prompt.Component
		tokens []int
		limit  int
	}{
		{prompt.Template, []int{u.Fixed.Template + u.Fixed.System}, b.Template},
		{prompt.Problem, u.Questions, b.Question},
		{prompt.Memory, u.Memories, b.Memory},
		{prompt.Section, u.Chunks, b.Chunk},
		{prompt.Whole, u.Prompts, b.Prompt()},
	} {
		t.Rows = append(t.Rows, h.row(c.name, c.tokens, c.limit))
	}
	if len(u.Answers) > 0 {
		t.Rows = append(t.Rows, h.row(prompt.AnswerPrompt, u.Answers, b.Prompt()))
	}
	full := b.Prompt() - u.Fixed.Prompt() - t.row(prompt.Problem).Max - b.Memory
	t.Headroom = full - t.row(prompt.Section).At
	t.AtMax = full - t.row(prompt.Section).Max
	return t
}

func (h Headroom) row(name prompt.Component, tokens []int, limit int) BudgetRow {
	sorted := slices.Sorted(slices.Values(tokens))
	return BudgetRow{
		Component: name, Limit: limit,
		P50: dist.Percentile(sorted, 50), At: dist.Percentile(sorted, h.Percentile),
		P95: dist.Percentile(sorted, 95), P99: dist.Percentile(sorted, 99), Max: dist.Percentile(sorted, 100),
	}
}

func (t BudgetTable) row(c prompt.Component) BudgetRow {
	i := slices.IndexFunc(t.Rows, func(r BudgetRow) bool { return r.Component == c })
	return t.Rows[i]
}

// Check judges a table: every component within its limit also at its largest, and the
// headroom kept. The median says nothing: overflow appears at the percentile (M1.3 a7).
func (h Headroom) Check(t BudgetTable) Result {
	section := t.row(prompt.Section)
	if section.Max == 0 {
		return Skipped("budget", t.Corpus, "the corpus has no chunk")
	}
	for _, r := range t.Rows {
		if r.Max > r.Limit {
			return fail("budget", t.Corpus, "%s is over budget: limit %d tokens, p50 %d, p%d %d, max %d (%s)",
				r.Component, r.Limit, r.P50, h.Percentile, r.At, r.Max, t.Tokenizer)
		}
	}
	where := fmt.Sprintf("with a full memory, the longest question and a p%d chunk of %d tokens (%s)", h.Percentile, section.At, t.Tokenizer)
	if t.Headroom < h.Min {
		return fail("budget", t.Corpus, "headroom is %d tokens, want at least %d, %s", t.Headroom, h.Min, where)
	}
	if t.AtMax < 0 {
		return fail("budget", t.Corpus, "prompt is over budget by %d tokens with the largest chunk of %d, a full memory and the longest question (%s)",
			-t.AtMax, section.Max, t.Tokenizer)
	}
	return pass("budget", t.Corpus, "headroom %d tokens %s", t.Headroom, where)
}
