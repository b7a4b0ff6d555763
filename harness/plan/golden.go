package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/spec/yamlpos"
	"github.com/poimen-memory/mem/internal/inputfile"
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
	Variant        string  // id; "": the spec by itself
	Session, Query string  // Session is empty with L1Memory
	L1Memory       *string // the L1 memory that is the chunk of an L2 turn; nil: a session's chunk is
	Turn           int     // from 1; loop.AnswerTurn: the prompt that asks for the answer
	Memory         *string // nil: none
}

// Prompt assembles one prompt without running anything.
func (p *Plan) Prompt(at PromptAt) (prompt.Prompt, error) {
	s, err := p.setupOf(at.Variant)
	if err != nil {
		return prompt.Prompt{}, err
	}
	return s.prompt(at)
}

func (s *Setup) prompt(at PromptAt) (prompt.Prompt, error) {
	if at.L1Memory != nil {
		return s.level2Prompt(at)
	}
	session, err := s.session(at.Session)
	if err != nil {
		return prompt.Prompt{}, err
	}
	q, err := query(session, at.Query)
	if err != nil {
		return prompt.Prompt{}, err
	}
	memory := s.measure(at.Memory)
	if at.Turn == loop.AnswerTurn && s.Answers != nil {
		return s.Answers.Assemble(s.Prompts.Measure(q.Text), memory)
	}
	chunk, err := chunkAt(session, at.Turn)
	if err != nil {
		return prompt.Prompt{}, err
	}
	return s.Prompts.Assemble(s.Prompts.Measure(q.Text), memory, chunk)
}

// level2Prompt assembles the prompt of an L2 turn over memories.
func (s *Setup) level2Prompt(at PromptAt) (prompt.Prompt, error) {
	for i := range s.spec.Queries {
		if q := &s.spec.Queries[i]; q.ID.Value == at.Query {
			return s.Prompts.Assemble(s.Prompts.Measure(q.Text.Value), s.measure(at.Memory), s.memoryChunk(*at.L1Memory))
		}
	}
	return prompt.Prompt{}, fmt.Errorf("query: found %s, want one of the spec's queries", at.Query)
}

func (s *Setup) measure(memory *string) *prompt.Text {
	if memory == nil {
		return nil
	}
	m := s.Prompts.Measure(*memory)
	return &m
}

// memoryChunk is the chunk that L2 makes of an L1 memory.
func (s *Setup) memoryChunk(memory string) prompt.Chunk {
	return s.Prompts.Chunk(prompt.Record{Role: "memory", Text: memory})
}

func (s *Setup) session(name string) (*Session, error) {
	var known []string
	for _, session := range s.Sessions {
		if session.Name() == name {
			return session, nil
		}
		known = append(known, session.Name())
	}
	return nil, fmt.Errorf("session: %s", diag.OneOf(name, known))
}

func query(s *Session, id string) (corpus.Asked, error) {
	var known []string
	for _, q := range s.Queries() {
		if q.ID == id {
			return q, nil
		}
		known = append(known, q.ID)
	}
	return corpus.Asked{}, fmt.Errorf("query of %s: %s", s.Name(), diag.OneOf(id, known))
}

func chunkAt(s *Session, turn int) (prompt.Chunk, error) {
	n := 0
	for chunk, err := range s.Chunks() {
		if n++; n == turn || err != nil {
			return chunk, err
		}
	}
	return prompt.Chunk{}, fmt.Errorf("found turn %d, want 1 to %d: %s has %s", turn, s.Len(), s.Name(), diag.Count(s.Len(), "chunk"))
}

func (p *Plan) readGoldens() (errs diag.Errors) {
	for i := range p.Spec.Golden {
		g := &p.Spec.Golden[i]
		at := PromptAt{Variant: g.Variant.Value, Session: g.Corpus.Value, Query: g.Query.Value, Turn: g.Turn.Value}
		var wrong [2]*diag.Error
		at.Memory, wrong[0] = readMemory(g.Memory)
		at.L1Memory, wrong[1] = readMemory(g.L1Memory)
		if wrong[0] != nil || wrong[1] != nil {
			errs = append(errs, slices.DeleteFunc(wrong[:], func(e *diag.Error) bool { return e == nil })...)
			continue
		}
		assembled, err := p.Prompt(at)
		if _, over := errors.AsType[*prompt.OverBudget](err); err != nil && !over {
			errs = append(errs, g.At.Errorf("%v", err))
			continue
		}
		p.goldens = append(p.goldens, golden{spec: g, prompt: assembled, err: err})
	}
	return errs
}

// readMemory reads a memory from a file; nil where none is named. It is trimmed as a candidate
// is: the file's last newline is the editor's.
func readMemory(at yamlpos.At[string]) (*string, *diag.Error) {
	if !at.Present() {
		return nil, nil
	}
	text, wrong := readFile(at, inputfile.MaxMemory)
	if wrong != nil {
		return nil, wrong
	}
	text = strings.TrimSpace(text)
	return &text, nil
}

// Goldens are the experiment's golden prompts as they are now, to be held against their
// files or written to them.
func (p *Plan) Goldens() []check.Golden {
	var list []check.Golden
	for _, g := range p.goldens {
		list = append(list, check.Golden{
			File: g.spec.File.Value, Prompt: g.prompt.User, Err: g.err, Pos: g.spec.At.Pos,
			Update: fmt.Sprintf("mem golden update %s --reason \"…\"", word(p.Spec.File)),
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
