package harness

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/spec/yamlpos"
	"github.com/poimen-memory/mem/prompt"
)

// Experiment is a spec made ready to run: corpora read and packed, labels found, the
// matrix expanded, every file that the spec names read once.
type Experiment struct {
	Spec *spec.Spec

	cfg      Config
	count    Counter
	template Prompt // which prompt is sent
	prompts  *prompt.Builder
	answers  *prompt.Answers // nil: the spec asks for none
	sessions []*session
	jobs     []*job
	goldens  []golden
	stop     bool         // by Config.FailFast: begin nothing more
	failures atomic.Int32 // runs that were incomplete
}

// Prepare makes an experiment ready. Nothing is run or written. The error is a
// yamlpos.Errors where it is about the spec, its labels or its corpora, all at once.
func Prepare(ctx context.Context, cfg Config, s *spec.Spec) (*Experiment, error) {
	e := &Experiment{Spec: s, cfg: cfg.withDefaults()}
	if err := e.builder(); err != nil {
		return nil, err
	}
	if err := e.load(ctx); err != nil {
		return nil, err
	}
	e.jobs = e.matrix()
	pairTwins(e.jobs)
	choose(e.jobs, e.cfg.Select)
	var errs yamlpos.Errors
	errs = append(errs, e.checkNames()...)
	errs = append(errs, e.checkL2()...)
	errs = append(errs, e.checkDecision()...)
	errs = append(errs, e.checkCompare()...)
	errs = append(errs, e.readGoldens()...)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	return e, nil
}

func (e *Experiment) builder() error {
	s := e.Spec
	count, err := e.cfg.Counter(s.Tokenizer)
	if err != nil {
		return unread(s.Tokenizer.At, err)
	}
	e.count = count
	template, at, err := e.variant()
	if err != nil {
		return err
	}
	e.prompts, err = prompt.New(prompt.Config{
		Counter: count, System: s.System, Template: template, Budget: prompt.Budget(s.Budget.Value),
	})
	if err != nil {
		return yamlpos.Errors{at.Errorf("%v (%s)", err, count.Name())}
	}
	return e.answerer()
}

// answerer reads the template of the spec's answer.
func (e *Experiment) answerer() error {
	a := e.Spec.Answer
	if a == nil {
		return nil
	}
	template, at := prompt.AnswerTemplate, a.At
	if a.Template.Present() {
		text, wrong := readTemplate(a.Template)
		if wrong != nil {
			return yamlpos.Errors{wrong}
		}
		template, at = text, a.Template.Place
	}
	var err error
	if e.answers, err = e.prompts.Answers(template); err != nil {
		return yamlpos.Errors{at.Errorf("%v (%s)", err, e.Tokenizer())}
	}
	e.template.Answer = prompt.SHA(template)
	return nil
}

// variant is the template of the spec's prompt, or the configured one, and where it is
// asked for. A file that holds the paper's prompt is the paper's prompt.
func (e *Experiment) variant() (template string, at yamlpos.Place, err error) {
	template, at = e.cfg.Template, e.Spec.At
	e.template = Prompt{System: e.Spec.System}
	if p := e.Spec.Prompt; p != nil {
		at = p.Template.Place
		text, wrong := readTemplate(p.Template)
		if wrong != nil {
			return "", at, yamlpos.Errors{wrong}
		}
		if template = text; text != prompt.Figure10a {
			e.template.Note = "not the paper's prompt: template " + filepath.ToSlash(p.Template.Value)
		}
	}
	e.template.SHA = prompt.SHA(template)
	return template, at, nil
}

// load reads all corpora. A label must be found exactly once over its query's corpora, or
// at least once if it says all.
func (e *Experiment) load(ctx context.Context) error {
	var errs yamlpos.Errors
	hits := map[*spec.Evidence]int{}
	for i := range e.Spec.Corpora {
		c := &e.Spec.Corpora[i]
		queries, labels := asks(e.Spec, c)
		cfg := source(c, queries)
		cfg.Prompts = e.prompts
		sessions, err := corpus.Load(ctx, cfg)
		if err != nil {
			if errs = append(errs, positioned(c, err)...); ctx.Err() != nil {
				return ctx.Err()
			}
			continue
		}
		for _, s := range sessions {
			e.sessions = append(e.sessions, &session{Session: s, corpus: c})
			for _, asked := range s.Queries() {
				for n, label := range labels[asked.ID] {
					hits[label] += asked.Hits[n]
				}
			}
		}
	}
	if len(errs) == 0 { // else a label may belong into a corpus that could not be read
		errs = append(errs, e.judgeLabels(hits)...)
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
		asked := corpus.Query{ID: q.ID.Value, Text: q.Text.Value, Answers: q.Answers, All: q.AllAnswers.Value}
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
		list = append(list, source(&s.Corpora[i], queries))
	}
	return list
}

func source(c *spec.Corpus, queries []corpus.Query) corpus.Config {
	cfg := corpus.Config{
		ID: c.ID.Value, Path: c.Path.Value, Queries: queries,
		Pack:   corpus.Pack{Tokens: c.Chunk.Tokens.Value, Records: c.Chunk.Records.Value},
		Labels: c.Labels.Value, Synth: synth(c.Synth),
	}
	if c.Import != nil {
		cfg.Path, cfg.Format, cfg.Join = c.Import.Path.Value, c.Import.Format, c.Import.Join
	}
	return cfg
}

// positioned keeps a corpus's own positions; an error without one, such as a missing
// file, is the spec's.
func positioned(c *spec.Corpus, err error) yamlpos.Errors {
	if errs, ok := errors.AsType[yamlpos.Errors](err); ok {
		return errs
	}
	at := c.Path.Place
	if c.Import != nil {
		at = c.Import.Path.Place
	}
	if c.Synth != nil {
		at = c.Synth.At
	}
	if why, ok := errors.AsType[*corpus.FieldError](err); ok {
		at, err = synthField(c.Synth, why)
	}
	if why, ok := errors.AsType[*os.PathError](err); ok {
		for _, file := range files(c) {
			if why.Path == file.Value {
				at = file.Place
			}
		}
	}
	return unread(at, err)
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

// unread is what is wrong with a file that the spec names at a place.
func unread(at yamlpos.Place, err error) yamlpos.Errors {
	if why, ok := errors.AsType[*os.PathError](err); ok {
		return yamlpos.Errors{at.Errorf("%s: %v", why.Path, why.Err)}
	}
	return yamlpos.Errors{at.Errorf("%v", err)}
}

func (e *Experiment) judgeLabels(hits map[*spec.Evidence]int) (errs yamlpos.Errors) {
	for i := range e.Spec.Queries {
		for n := range e.Spec.Queries[i].Evidence {
			ev := &e.Spec.Queries[i].Evidence[n]
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

// checkNames refuses runs whose names, which are folders, are not names of their own: an
// import brings names that no spec has checked.
func (e *Experiment) checkNames() (errs yamlpos.Errors) {
	seen := map[string]string{}
	for _, j := range e.jobs {
		at := e.Spec.At
		if j.session != nil {
			at = j.session.corpus.At
		}
		key := strings.ToLower(j.Name)
		if other, ok := seen[key]; ok {
			errs = append(errs, at.Errorf("two runs are named %s and %s: want names that differ in more than case", other, j.Name))
		}
		seen[key] = j.Name
		for _, part := range strings.Split(j.Name, "/") {
			if err := spec.CheckName(part); err != nil {
				errs = append(errs, at.Errorf("a part of a run's name: %v", err))
			}
		}
	}
	return errs
}

// checkL2 refuses a matrix whose L2 has no L1 to rest on.
func (e *Experiment) checkL2() (errs yamlpos.Errors) {
	for _, j := range e.jobs {
		if j.Level == 2 && j.session == nil && len(j.sources) == 0 {
			return yamlpos.Errors{e.Spec.At.Errorf("levels: L2 reads the memories of recorded L1 runs: want L1 before L2 in levels, and record in exit_gate (or l2_source: chunks)")}
		}
	}
	return nil
}

// Cells lists the runs that Run would do, in the order of the result.
func (e *Experiment) Cells() []Cell {
	var cells []Cell
	for _, j := range e.jobs {
		if j.wanted {
			cells = append(cells, j.Cell)
		}
	}
	return cells
}

// Tokenizer names the vocabulary that counts: of a file, with a part of its hash.
func (e *Experiment) Tokenizer() string { return e.count.Name() }

// dir is where the experiment writes.
func (e *Experiment) dir() string { return filepath.Join(e.cfg.Out, e.Spec.Experiment.Value) }

// readTemplate reads a prompt's template. An empty one would stand for the usual prompt, and
// a server would be sent other bytes than those that are not UTF-8.
func readTemplate(at yamlpos.At[string]) (string, *yamlpos.Error) {
	text, wrong := readFile(at)
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

func readFile(at yamlpos.At[string]) (string, *yamlpos.Error) {
	data, err := os.ReadFile(at.Value)
	if err != nil {
		if why, ok := errors.AsType[*os.PathError](err); ok {
			err = why.Err
		}
		return "", at.Errorf("%s: %v", at.Value, err)
	}
	return string(data), nil
}
