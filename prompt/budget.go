package prompt

import (
	"fmt"
	"math"
)

// Budget holds the limits of a prompt's components, in tokens. A zero field takes the
// default, the seed's budget table (M1.3).
type Budget struct {
	Window   int `json:"window"`   // prompt and response together; 32768
	Template int `json:"template"` // template and system message together; 400
	Question int `json:"question"` // 256
	Memory   int `json:"memory"`   // 1024
	Chunk    int `json:"chunk"`    // 5000
	Response int `json:"response"` // kept free for the reply; 2048
}

// WithDefaults fills the zero fields.
func (b Budget) WithDefaults() Budget {
	set := func(field *int, value int) {
		if *field == 0 {
			*field = value
		}
	}
	set(&b.Window, 32768)
	set(&b.Template, 400)
	set(&b.Question, 256)
	set(&b.Memory, 1024)
	set(&b.Chunk, 5000)
	set(&b.Response, 2048)
	return b
}

// Prompt is the limit of an assembled prompt: the window less the response.
func (b Budget) Prompt() int { return b.Window - b.Response }

// Check refuses limits that are none, and those that do not fit the window together.
func (b Budget) Check() error {
	if least := min(b.Window, b.Template, b.Question, b.Memory, b.Chunk, b.Response); least < 1 {
		return fmt.Errorf("found a limit of %d tokens, want 1 or more", least)
	}
	if b.Window > math.MaxInt32 {
		return fmt.Errorf("found a window of %d tokens, want at most %d", b.Window, math.MaxInt32)
	}
	if most := max(b.Template, b.Question, b.Memory, b.Chunk, b.Response); most > b.Window {
		return fmt.Errorf("found a limit of %d tokens, want at most the window of %d", most, b.Window)
	}
	if sum := b.Template + b.Question + b.Memory + b.Chunk + b.Response; sum > b.Window {
		return fmt.Errorf("template %d + question %d + memory %d + chunk %d + response %d = %d tokens, over the window of %d",
			b.Template, b.Question, b.Memory, b.Chunk, b.Response, sum, b.Window)
	}
	return nil
}

// Tokens is what each component of one prompt takes, in tokens.
type Tokens struct {
	System, Template, Problem, Memory, Section int
}

// slack bounds, in tokens, how far the sum of the components may be from the count of the
// assembled prompt: at each of the six borders between template and values, merges add or
// save a few. It is measured, not proved: at most six in all, over 180,000 prompts of texts
// made to disturb their neighbours, in each vocabulary that we scan.
const slack = 6 * 8

// Prompt is the sum of the components, within slack of the assembled prompt's count.
func (t Tokens) Prompt() int { return t.System + t.Template + t.Problem + t.Memory + t.Section }

// Component names a part of a prompt that has a limit.
type Component string

// The components that an OverBudget error can name.
const (
	Template Component = "template"
	System   Component = "system"
	Problem  Component = "problem"
	Memory   Component = "memory"
	Section  Component = "section"
	Whole    Component = "prompt" // all together

	AnswerPrompt Component = "answer" // of Answers, all together
)

// OverBudget says which component of a prompt is too long. Nothing is ever cut to fit.
type OverBudget struct {
	Component     Component
	Tokens, Limit int
}

func (e *OverBudget) Error() string {
	return fmt.Sprintf("%s is over budget: %d tokens, limit %d", e.Component, e.Tokens, e.Limit)
}

// check returns the first component over its limit, in the order of the prompt. Where all
// are within theirs the sum is too, for the limits fit the window together.
func (b Budget) check(t Tokens) error {
	for _, c := range [...]OverBudget{
		{Template, t.Template, b.Template},
		{System, t.System, b.Template - t.Template},
		{Problem, t.Problem, b.Question},
		{Memory, t.Memory, b.Memory},
		{Section, t.Section, b.Chunk},
	} {
		if c.Tokens > c.Limit {
			over := c // a copy, so that a prompt that fits allocates nothing here
			return &over
		}
	}
	return nil
}
