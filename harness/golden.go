package harness

import (
	"errors"
	"fmt"
	"strings"

	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/spec/yamlpos"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/prompt"
)

// golden is a golden prompt of the spec, assembled.
type golden struct {
	spec   *spec.Golden
	prompt prompt.Prompt
	err    error // the budget refused it
}

// PromptAt says which prompt to assemble: of a turn of a session (by its name, or the
// corpus's id where that has one session), for a query, with the memory before the turn.
type PromptAt struct {
	Session, Query string
	Turn           int     // from 1; loop.AnswerTurn: the prompt that asks for the answer
	Memory         *string // nil: none
}

// Prompt assembles one prompt without running anything.
func (e *Experiment) Prompt(at PromptAt) (prompt.Prompt, error) {
	s, err := e.session(at.Session)
	if err != nil {
		return prompt.Prompt{}, err
	}
	q, err := query(s, at.Query)
	if err != nil {
		return prompt.Prompt{}, err
	}
	var memory *prompt.Text
	if at.Memory != nil {
		m := e.prompts.Measure(*at.Memory)
		memory = &m
	}
	if at.Turn == loop.AnswerTurn && e.answers != nil {
		return e.answers.Assemble(e.prompts.Measure(q.Text), memory)
	}
	chunk, err := chunkAt(s, at.Turn)
	if err != nil {
		return prompt.Prompt{}, err
	}
	return e.prompts.Assemble(e.prompts.Measure(q.Text), memory, chunk)
}

// Template says which prompt is assembled.
func (e *Experiment) Template() Prompt { return e.template }

// Budget is the limits that prompts are held against.
func (e *Experiment) Budget() prompt.Budget { return e.prompts.Budget() }

func (e *Experiment) session(name string) (*session, error) {
	var known []string
	for _, s := range e.sessions {
		if s.Name() == name {
			return s, nil
		}
		known = append(known, s.Name())
	}
	return nil, fmt.Errorf("session: %s", yamlpos.OneOf(name, known))
}

func query(s *session, id string) (corpus.Asked, error) {
	var known []string
	for _, q := range s.Queries() {
		if q.ID == id {
			return q, nil
		}
		known = append(known, q.ID)
	}
	return corpus.Asked{}, fmt.Errorf("query of %s: %s", s.Name(), yamlpos.OneOf(id, known))
}

func chunkAt(s *session, turn int) (prompt.Chunk, error) {
	n := 0
	for chunk, err := range s.Chunks() {
		if n++; n == turn || err != nil {
			return chunk, err
		}
	}
	return prompt.Chunk{}, fmt.Errorf("%s has %d chunks, found chunk %d", s.Name(), s.Len(), turn)
}

func (e *Experiment) readGoldens() (errs yamlpos.Errors) {
	for i := range e.Spec.Golden {
		g := &e.Spec.Golden[i]
		at := PromptAt{Session: g.Corpus.Value, Query: g.Query.Value, Turn: g.Turn.Value}
		if g.Memory.Present() {
			text, err := readFile(g.Memory)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			text = strings.TrimSpace(text) // as a candidate is trimmed; the file's last newline is the editor's
			at.Memory = &text
		}
		p, err := e.Prompt(at)
		if _, over := errors.AsType[*prompt.OverBudget](err); err != nil && !over {
			errs = append(errs, g.At.Errorf("%v", err))
			continue
		}
		e.goldens = append(e.goldens, golden{spec: g, prompt: p, err: err})
	}
	return errs
}

// Goldens are the experiment's golden prompts as they are now, to be held against their
// files or written to them.
func (e *Experiment) Goldens() []check.Golden {
	var list []check.Golden
	for _, g := range e.goldens {
		list = append(list, check.Golden{
			File: g.spec.File.Value, Prompt: g.prompt.User, Err: g.err, Pos: g.spec.At.Pos,
			Update: fmt.Sprintf("mem golden update %s --reason \"…\"", word(e.Spec.File)),
		})
	}
	return list
}

// word is a path as one word of a shell's command.
func word(path string) string {
	if strings.ContainsAny(path, " \t\n\"'`$&|;<>()*?[]#~") {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}
