package plan

import (
	"context"
	"errors"
	"os"
	"unicode/utf8"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/dataset"
	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/spec/yamlpos"
	"github.com/poimen-memory/mem/harness/synth"
	"github.com/poimen-memory/mem/internal/inputfile"
)

// loadCorpora reads all corpora. A label must be found exactly once over its query's corpora, or
// at least once if it says all.
func loadCorpora(ctx context.Context, s *Setup) error {
	var errs diag.Errors
	hits := map[*spec.Evidence]int{}
	for i := range s.spec.Corpora {
		c := &s.spec.Corpora[i]
		queries, labels := asks(s.spec, c)
		cfg := Source(c, queries)
		cfg.Prompts = s.Prompts
		sessions, err := corpus.Load(ctx, cfg)
		if err != nil {
			if errs = append(errs, positioned(c, err)...); ctx.Err() != nil {
				return ctx.Err()
			}
			continue
		}
		for _, read := range sessions {
			s.Sessions = append(s.Sessions, &Session{Session: read, Corpus: c})
			for _, asked := range read.Queries() {
				for n, label := range labels[asked.ID] {
					hits[label] += asked.Hits[n]
				}
			}
		}
	}
	if len(errs) == 0 { // else a label may belong into a corpus that could not be read
		errs = append(errs, checkLabels(s.spec, hits)...)
	}
	return errs.Err()
}

// asks are the spec's queries of a corpus, with the labels that may lie in it, and for
// each query the spec's evidence entries that its labels stand for.
func asks(s *spec.Spec, c *spec.Corpus) ([]corpus.Query, map[string][]*spec.Evidence) {
	var queries []corpus.Query
	labels := map[string][]*spec.Evidence{}
	for i := range s.Queries {
		q := &s.Queries[i]
		if !names(q.Corpora, c.ID.Value) {
			continue
		}
		asked := corpus.Query{ID: q.ID.Value, Text: q.Text.Value, Answers: q.Answers, All: q.AllAnswers.Value,
			Unanswerable: q.Answerable.Present() && !q.Answerable.Value, Tags: q.Tags}
		for n := range q.Evidence {
			ev := &q.Evidence[n]
			if ev.Corpus.Present() && ev.Corpus.Value != c.ID.Value {
				continue
			}
			labels[asked.ID] = append(labels[asked.ID], ev)
			asked.Labels = append(asked.Labels, corpus.Label{
				ID: ev.ID.Value, Match: ev.Match.Value, All: ev.All.Value, Pos: ev.At.Pos,
			})
		}
		queries = append(queries, asked)
	}
	return queries, labels
}

func names(list []yamlpos.At[string], id string) bool {
	for _, l := range list {
		if l.Value == id {
			return true
		}
	}
	return false
}

// Corpora are the corpora of a spec as its runs read them, in its order, but for Prompts.
func Corpora(s *spec.Spec) []corpus.Config {
	var list []corpus.Config
	for i := range s.Corpora {
		queries, _ := asks(s, &s.Corpora[i])
		list = append(list, Source(&s.Corpora[i], queries))
	}
	return list
}

// Source says where the sessions of a spec's corpus come from, but for Prompts.
func Source(c *spec.Corpus, queries []corpus.Query) corpus.Config {
	cfg := corpus.Config{
		ID: c.ID.Value, Path: c.Path.Value, Queries: queries,
		Pack:   corpus.Pack{Tokens: c.Chunk.Tokens.Value, Records: c.Chunk.Records.Value},
		Labels: c.Labels.Value,
	}
	switch {
	case c.Import != nil:
		cfg.Path, cfg.Reader = c.Import.Path.Value, dataset.Reader{Format: c.Import.Format, Join: c.Import.Join}
	case c.Synth != nil:
		cfg.Reader = synthConfig(c.Synth)
	}
	return cfg
}

// positioned keeps a corpus's own positions; an error without one, such as a missing
// file, is the spec's.
func positioned(c *spec.Corpus, err error) diag.Errors {
	if errs, ok := errors.AsType[diag.Errors](err); ok {
		return errs
	}
	at := c.Path.Place
	if c.Import != nil {
		at = c.Import.Path.Place
	}
	if c.Synth != nil {
		at = c.Synth.At
	}
	if why, ok := errors.AsType[*synth.FieldError](err); ok {
		at, err = synthField(c.Synth, why)
	}
	if why, ok := errors.AsType[*os.PathError](err); ok {
		for _, file := range files(c) {
			if why.Path == file.Value {
				at = file.Place
			}
		}
	}
	return unreadable(at, err)
}

// files are those that a corpus may name beside its own.
func files(c *spec.Corpus) []yamlpos.At[string] {
	list := []yamlpos.At[string]{c.Labels}
	if c.Synth != nil {
		list = append(list, c.Synth.Haystack.File)
	}
	if c.Synth != nil && c.Synth.From != nil {
		list = append(list, c.Synth.From.Path, c.Synth.From.Labels)
	}
	return list
}

// unreadable is what is wrong with a file that the spec names at a place.
func unreadable(at diag.Place, err error) diag.Errors {
	if why, ok := errors.AsType[*os.PathError](err); ok {
		return diag.Errors{at.Errorf("%s: %v", why.Path, why.Err)}
	}
	return diag.Errors{at.Errorf("%v", err)}
}

func checkLabels(s *spec.Spec, hits map[*spec.Evidence]int) (errs diag.Errors) {
	for i := range s.Queries {
		for n := range s.Queries[i].Evidence {
			ev := &s.Queries[i].Evidence[n]
			what, where := "record "+ev.ID.Value, "the corpora of the query"
			if ev.Match.Present() {
				what = "the text"
			}
			if ev.Corpus.Present() {
				where = "corpus " + ev.Corpus.Value
			}
			switch {
			case hits[ev] == 0:
				errs = append(errs, ev.At.Errorf("%s is not in %s%s", what, where, instead(ev)))
			case hits[ev] > 1 && !ev.All.Value:
				errs = append(errs, ev.At.Errorf("%s is %d times in %s: want once, or name a corpus, or say {match: …, all: true}", what, hits[ev], where))
			}
		}
	}
	return errs
}

// instead says what a label that is nowhere could have been.
func instead(ev *spec.Evidence) string {
	if ev.Match.Present() {
		return ": want one that stands in a record's text, byte for byte"
	}
	return ": want a record's id, or {match: TEXT} for the place of a text"
}

// readTemplate reads a prompt's template. An empty one would stand for the usual prompt, and
// a server would be sent other bytes than those that are not UTF-8.
func readTemplate(at yamlpos.At[string]) (string, *diag.Error) {
	text, wrong := readFile(at, inputfile.MaxTemplate)
	switch {
	case wrong != nil:
		return "", wrong
	case text == "":
		return "", at.Errorf("%s: is empty, want a template", at.Value)
	case !utf8.ValidString(text):
		return "", at.Errorf("%s: is not UTF-8, want the whole file in UTF-8", at.Value)
	}
	return text, nil
}

func readFile(at yamlpos.At[string], max int64) (string, *diag.Error) {
	data, err := inputfile.Read(at.Value, max)
	if err != nil {
		if why, ok := errors.AsType[*os.PathError](err); ok {
			err = why.Err
		}
		return "", at.Errorf("%s: %v", at.Value, err)
	}
	return string(data), nil
}
