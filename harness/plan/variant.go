package plan

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/internal/digest"
	"github.com/poimen-memory/mem/prompt"
)

// Setup is what runs are made of that a variant may change: the prompt, its limits, and how
// sessions are chunked.
type Setup struct {
	Variant  *spec.Variant // nil: the spec by itself
	Template Template      // which prompt is sent
	Prompts  *prompt.Builder
	Answers  *prompt.Answers // nil: the spec asks for no answers
	Sessions []*Session      // in the same order in every setup

	spec   *spec.Spec // as the variant has it
	count  Counter
	around [2]string
}

// loadSessions takes the sessions of another setup that chunks them alike: how they are read
// depends on no prompt.
func (s *Setup) loadSessions(ctx context.Context, others []*Setup) error {
	for _, other := range others {
		if s.chunking() == other.chunking() {
			s.Sessions = other.Sessions
			return nil
		}
	}
	if err := loadCorpora(ctx, s); err != nil {
		return err
	}
	own := others[len(others)-1]
	name := func(s *Session) string { return s.Name() }
	if !slices.Equal(each(s.Sessions, name), each(own.Sessions, name)) {
		return diag.Errors{s.Variant.At.Errorf("the sessions changed while they were read: run the command again")}
	}
	return nil
}

func each[T, U any](list []T, of func(T) U) []U {
	values := make([]U, len(list))
	for i, x := range list {
		values[i] = of(x)
	}
	return values
}

// chunking tells setups apart whose chunks differ.
func (s *Setup) chunking() string {
	var text strings.Builder
	for i := range s.spec.Corpora {
		c := &s.spec.Corpora[i].Chunk
		fmt.Fprintf(&text, "%d tokens, %d records; ", c.Tokens.Value, c.Records.Value)
	}
	return text.String()
}

// Name is the id of the variant; "" of the spec by itself.
func (s *Setup) Name() string {
	if s.Variant == nil {
		return ""
	}
	return s.Variant.ID.Value
}

// System is the system message; "" is not sent.
func (s *Setup) System() string { return s.spec.System }

// AnswerTokens is the most that a reply with the answer may take.
func (s *Setup) AnswerTokens() int { return s.spec.Answer.MaxTokens.Value }

// Budget is the limits that prompts are held against.
func (s *Setup) Budget() prompt.Budget { return s.Prompts.Budget() }

// Headroom is what the spec's budget check wants.
func (s *Setup) Headroom() check.Headroom {
	c := s.spec.Checks.Budget.Value
	return check.Headroom{Budget: s.Budget(), Percentile: c.Percentile, Min: c.MinHeadroom}
}

// AroundMemory is what the template has before and after a memory, between its tags.
func (s *Setup) AroundMemory() (before, after string) { return s.around[0], s.around[1] }

// prepareTemplates reads what prompts are made of.
func (s *Setup) prepareTemplates(cfg Config) error {
	template, at, err := s.promptTemplate(cfg.Template)
	if err != nil {
		return err
	}
	s.Prompts, err = prompt.New(prompt.Config{
		Counter: s.count, System: s.spec.System, Template: template, Budget: prompt.Budget(s.spec.Budget.Value),
	})
	if err != nil {
		return diag.Errors{at.Errorf("%v (%s)", err, s.count.Name())}
	}
	parts, _ := prompt.Split(template) // which prompt.New accepted
	s.around[0], s.around[1], _ = strings.Cut(parts.Memory, "{memory}")
	return s.prepareAnswers()
}

// promptTemplate is the template of the spec's prompt, or the configured one, and the place that
// a complaint about it names. A file with the bytes of the paper's prompt counts as the paper's
// prompt.
func (s *Setup) promptTemplate(configured string) (template string, at diag.Place, err error) {
	template, at = configured, s.spec.At
	if s.Variant != nil {
		at = s.Variant.At
	}
	if template == "" {
		template = prompt.Figure10a
	}
	s.Template = Template{System: s.spec.System}
	if own := s.spec.Prompt; own != nil {
		if s.Variant == nil || s.Variant.Prompt != nil {
			at = own.Template.Place
		}
		text, wrong := readTemplate(own.Template)
		if wrong != nil {
			return "", at, diag.Errors{wrong}
		}
		if template = text; text != prompt.Figure10a {
			s.Template.Note = "not the paper's prompt: template " + filepath.ToSlash(own.Template.Value)
		}
	}
	s.Template.SHA = digest.Of(template)
	return template, at, nil
}

// prepareAnswers reads the template that asks for answers.
func (s *Setup) prepareAnswers() error {
	a := s.spec.Answer
	if a == nil {
		return nil
	}
	template, at := prompt.AnswerTemplate, a.At
	if a.Template.Present() {
		text, wrong := readTemplate(a.Template)
		if wrong != nil {
			return diag.Errors{wrong}
		}
		template, at = text, a.Template.Place
	}
	var err error
	if s.Answers, err = s.Prompts.Answers(template); err != nil {
		return diag.Errors{at.Errorf("%v (%s)", err, s.count.Name())}
	}
	s.Template.Answer = digest.Of(template)
	return nil
}
