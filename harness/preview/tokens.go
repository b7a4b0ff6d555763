package preview

import (
	"fmt"
	"slices"

	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/render"
	"github.com/poimen-memory/mem/prompt"
)

// Tokens is what a prompt of the turn takes, with a title.
func (t Turn) Tokens(p *plan.Plan, shown prompt.Prompt) (title string, rows []render.TokenRow) {
	n, b := shown.Tokens, p.Budget()
	rows = []render.TokenRow{
		{Component: string(prompt.System), Tokens: n.System, Limit: b.Template - n.Template},
		{Component: string(prompt.Template), Tokens: n.Template, Limit: b.Template},
		{Component: string(prompt.Problem), Tokens: n.Problem, Limit: b.Question},
		{Component: string(prompt.Memory), Tokens: n.Memory, Limit: b.Memory},
		{Component: string(prompt.Section), Tokens: n.Section, Limit: b.Chunk},
		{Component: string(prompt.Whole), Tokens: n.Prompt(), Limit: b.Prompt()},
	}
	title = fmt.Sprintf("%s, chunk %d, tokens of %s", t.Session, t.Number, p.Tokenizer())
	if t.Answer {
		title = fmt.Sprintf("%s, the answer, tokens of %s", t.Session, p.Tokenizer())
		rows = slices.DeleteFunc(rows, func(r render.TokenRow) bool { return r.Component == string(prompt.Section) })
	}
	return title, rows
}
