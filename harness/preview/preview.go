// Package preview plans prompts and budgets without runs: of a spec, or of a session in a file
// with a question that no spec has.
package preview

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/models"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/spec/yamlpos"
)

// Turn is the turn of a session that a prompt is shown of.
type Turn struct {
	Session string // in Spec: a corpus, or CORPUS/SAMPLE; else a file
	Query   string // id in Spec, or the text of another question
	Number  int    // from 1
	Answer  bool   // in place of a turn: the prompt that asks for the answer
	Memory  string // file of the memory before the turn, - for stdin; "": none
	Run     string // in place of Memory: the run whose memory it is
	Variant string // id in Spec; "": that of Run, or the spec by itself
	Out     string // folder of the experiments' folders, where Run is
	File
}

// File says how a session in a file is read.
type File struct {
	Tokenizer   string // see models.Tokenizer
	ChunkTokens int    // how full chunks are packed
}

// Spec reduces a spec to what the prompt needs, so that a mistake elsewhere, such as a label
// that is not found, does not hide what the model sees. given is nil for a session in a file.
func (t Turn) Spec(given *spec.Spec) (*spec.Spec, error) {
	if given == nil {
		return t.File.spec(t.Session, t.Query)
	}
	if t.Answer && given.Answer == nil {
		return nil, fmt.Errorf("--answer: %s has no answer: section, so no model is asked for one", given.File)
	}
	given, err := t.withVariant(given)
	if err != nil {
		return nil, err
	}
	if err := t.keepCorpus(given); err != nil {
		return nil, err
	}
	if !id.MatchString(t.Query) {
		given.Queries = append(given.Queries, literal(t.Query, given.Corpora[0].ID))
	}
	withoutRuns(given)
	return given, nil
}

// withVariant is the spec as the variant has it that is named, or in which the run was made.
func (t Turn) withVariant(s *spec.Spec) (*spec.Spec, error) {
	variant := t.Variant
	for part := range strings.SplitSeq(t.Run, "/") {
		_, of := spec.SplitModel(part)
		if of != "" && variant != "" && of != variant {
			return nil, fmt.Errorf("--variant: found %s, but %s is a run of variant %s", diag.Quote(variant), t.Run, of)
		}
		variant = cmp.Or(of, variant)
	}
	if variant == "" {
		return s, nil
	}
	var known []string
	for i := range s.Variants {
		known = append(known, s.Variants[i].ID.Value)
	}
	i := slices.Index(known, variant)
	switch {
	case known == nil:
		return nil, fmt.Errorf("--variant: found %s, but %s has no variants", diag.Quote(variant), s.File)
	case i < 0:
		return nil, fmt.Errorf("--variant: %s", diag.OneOf(variant, known))
	}
	of := *s.With(&s.Variants[i])
	of.Variants = nil
	return &of, nil
}

// withoutRuns leaves of a spec what its prompts are made of.
func withoutRuns(s *spec.Spec) {
	s.Models, s.Golden, s.Expect, s.Compare, s.Decision = nil, nil, nil, nil, nil
	for i := range s.Queries {
		s.Queries[i].Evidence = nil
	}
}

// id is what the id of a query looks like.
var id = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

func (t Turn) keepCorpus(s *spec.Spec) error {
	name, _, _ := strings.Cut(t.Session, "/")
	var known []string
	for _, c := range s.Corpora {
		known = append(known, c.ID.Value)
	}
	i := slices.Index(known, name)
	if i < 0 {
		return fmt.Errorf("--project: %s", diag.OneOf(name, known))
	}
	s.Corpora = s.Corpora[i : i+1]
	return nil
}

// spec is the spec of a session in a file and a literal question.
func (f File) spec(path, question string) (*spec.Spec, error) {
	tokenizer, err := models.Tokenizer(f.Tokenizer)
	if err != nil {
		return nil, err
	}
	file := diag.Place{Pos: diag.Pos{File: path}}
	c := spec.Corpus{At: file}
	c.ID.Value = path
	c.Path = yamlpos.At[string]{Value: path, Place: file}
	c.Chunk.Tokens.Value = f.ChunkTokens
	return &spec.Spec{
		File: path, At: file, Tokenizer: tokenizer, Answer: &spec.Answer{At: file},
		Corpora: []spec.Corpus{c}, Queries: []spec.Query{literal(question, c.ID)},
	}, nil
}

// literal is a question that is its own id.
func literal(text string, corpus yamlpos.At[string]) spec.Query {
	q := spec.Query{Corpora: []yamlpos.At[string]{corpus}}
	q.ID.Value, q.Text.Value = text, text
	return q
}
