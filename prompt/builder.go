package prompt

import (
	_ "embed"
	"errors"
)

// Figure10a is the paper's prompt (arXiv 2602.10560, Figure 10a), byte for byte.
// It is the contract that the model was aligned to, not a text to improve.
//
//go:embed figure-10a.txt
var Figure10a string

// NoMemory is what stands for M_0. The paper's traces show this string; an empty
// element would tell the model that a memory exists and is empty.
const NoMemory = "No previous memory"

// Config says how prompts are built. Counter is required; the zero value of the rest
// is the paper's template, no system message, and the seed's budget.
type Config struct {
	Counter  Counter
	System   string
	Template string
	Budget   Budget
}

// Builder assembles prompts under one configuration. It is safe for concurrent use.
type Builder struct {
	counter  Counter
	system   string
	template template
	budget   Budget
	fixed    Tokens // System and Template
	noMemory Text
}

// Prompt is what one call sends. An empty System is not sent.
type Prompt struct {
	System, User string
	Tokens       Tokens
}

// New checks the template and the budget. The error is an *OverBudget when the
// template or the system message alone is too long.
func New(cfg Config) (*Builder, error) {
	if cfg.Counter == nil {
		return nil, errors.New("prompt: a token counter is required")
	}
	if cfg.Template == "" {
		cfg.Template = Figure10a
	}
	b := &Builder{counter: cfg.Counter, system: cfg.System, budget: cfg.Budget.WithDefaults()}
	if err := b.budget.Check(); err != nil {
		return nil, err
	}
	var err error
	if b.template, err = parseTemplate(cfg.Template, problemPlace, memoryPlace, sectionPlace); err != nil {
		return nil, err
	}
	b.noMemory = b.Measure(NoMemory)
	b.fixed = Tokens{System: cfg.Counter.Count(cfg.System), Template: b.template.count(cfg.Counter)}
	return b, b.budget.check(b.fixed)
}

// Budget is the limits in force, defaults filled in.
func (b *Builder) Budget() Budget { return b.budget }

// Fixed is what every prompt takes whatever its values: template and system message.
func (b *Builder) Fixed() Tokens { return b.fixed }

// Measure prepares a text for a place of the template: escaped and counted.
func (b *Builder) Measure(raw string) Text {
	t := Text{Raw: raw}
	t.Sent, t.Reserved, t.GateTags = Escape(raw)
	t.Tokens = b.counter.Count(t.Sent)
	return t
}

// Chunk renders records as one chunk.
func (b *Builder) Chunk(records ...Record) Chunk {
	return Chunk{Text: b.Measure(Render(records...)), Records: len(records)}
}

// Memory is M_{t-1} as a prompt shows it: nil is NoMemory.
func (b *Builder) Memory(memory *Text) Text {
	if memory == nil {
		return b.noMemory
	}
	return *memory
}

// Assemble builds the prompt of one turn; memory is nil at t = 1. Substitution is one
// pass: a "{memory}" inside a value stays as it is. The error is an *OverBudget.
func (b *Builder) Assemble(problem Text, memory *Text, chunk Chunk) (Prompt, error) {
	return b.fill(b.template, b.fixed, problem, b.Memory(memory), chunk.Text)
}

// fill puts values into a template, which takes fixed with the system message.
func (b *Builder) fill(t template, fixed Tokens, problem, memory, section Text) (Prompt, error) {
	p := Prompt{System: b.system, Tokens: fixed}
	p.Tokens.Problem, p.Tokens.Memory, p.Tokens.Section = problem.Tokens, memory.Tokens, section.Tokens
	if err := b.budget.check(p.Tokens); err != nil {
		return Prompt{}, err
	}
	p.User = t.substitute([3]string{problem.Sent, memory.Sent, section.Sent})
	if err := b.whole(p); err != nil {
		return Prompt{}, err
	}
	return p, nil
}

// whole counts the assembled prompt, which takes a thousand times as long as to add up its
// components, where that sum is so near the limit that the borders decide.
func (b *Builder) whole(p Prompt) error {
	limit := b.budget.Prompt()
	if p.Tokens.Prompt() <= limit-slack {
		return nil
	}
	if n := p.Tokens.System + b.counter.Count(p.User); n > limit {
		return &OverBudget{Whole, n, limit}
	}
	return nil
}
