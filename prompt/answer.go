package prompt

import _ "embed"

// AnswerTemplate is the prompt that asks for the answer from a memory alone, ψ(Q, M). The
// paper shows none, so it is our own.
//
//go:embed answer.txt
var AnswerTemplate string

// Answers assembles the prompts that ask for an answer, under a Builder's system message,
// counter and budget. It is safe for concurrent use.
type Answers struct {
	b        *Builder
	template template
	fixed    Tokens
}

// Answers reads a template with one each of {prompt} and {memory}, within their tags; ""
// is AnswerTemplate. The error is an *OverBudget when it is too long, with the system
// message, before any value.
func (b *Builder) Answers(text string) (*Answers, error) {
	if text == "" {
		text = AnswerTemplate
	}
	t, err := parseTemplate(text, problemPlace, memoryPlace)
	if err != nil {
		return nil, err
	}
	a := &Answers{b, t, Tokens{System: b.fixed.System, Template: t.count(b.counter)}}
	return a, b.budget.check(a.fixed)
}

// Fixed is what every prompt takes whatever its values: template and system message.
func (a *Answers) Fixed() Tokens { return a.fixed }

// Assemble builds the prompt about one memory; nil is none. Substitution is one pass. The
// error is an *OverBudget.
func (a *Answers) Assemble(problem Text, memory *Text) (Prompt, error) {
	return a.b.fill(a.template, a.fixed, problem, a.b.Memory(memory), Text{})
}
