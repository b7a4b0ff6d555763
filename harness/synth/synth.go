// Package synth generates sessions: needles in a haystack and documents among distractors, in
// the tasks that RULER (arXiv 2404.06654) and MemAgent (arXiv 2507.02259) evaluate on, and the
// session of a coding agent.
package synth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/diag"
)

// Config says what to generate. A field that is zero has the default of the task; Task and
// Lengths have none.
//
// Every sample has places, keys and values of its own, which depend on nothing but the
// fields of Config and the tokenizer. Statements that the question asks for are evidence;
// those of other keys are hard negatives. Of a value that changes over time each statement
// is evidence, because a reader cannot know that it will be replaced; the newest one is the
// answer.
//
// A sample of task qa is a question of the data set From: its gold documents, at places of
// their own in every sample, among distractors that are drawn, the question's own ones
// first, until no more fit. Evidence is what the data set says; of squad, the
// paragraphs with the answers. No two documents have the same text or, of hotpotqa, the same
// title. Distractors may contain words of the answer: a data set of short answers
// has few documents without. Samples ask different questions, the same ones at each length.
type Config struct {
	Task     string // one of Tasks
	Lengths  []int  // tokens of a session as rendered, at most; each has Samples sessions
	Samples  int    // 1 if zero
	Needles  int    // keys; vt: chains
	Values   int    // of a key; vt: hops of a chain; session: over time
	Queries  int    // keys that are asked for; vt: always one chain
	Depth    string // uniform, the default; grid: of 40 depths, each at most once; or a percentage
	Seed     int64
	Haystack string // noise, text, needles, or file
	File     string // of haystack file: its sentences, again and again
	From     From   // of task qa
}

// FieldError is an error in one field of a Config.
type FieldError struct {
	Field string // in lower case; tokens is that of Lengths
	Err   error  // without the field's name
}

func (e *FieldError) Error() string { return "synth: " + e.Field + ": " + e.Err.Error() }

func wrong(field, format string, args ...any) error {
	return &FieldError{field, fmt.Errorf(format, args...)}
}

// What a Config may ask for in all.
const (
	maxTokens  = 1 << 30 // of all sessions
	maxSamples = 100_000 // at all lengths
	maxCount   = 500     // needles, values, queries; and needles times values
)

// sentences is how many a record of a haystack has. A needle stands before one of them.
const sentences = 5

// Tasks are the values of Config.Task.
func Tasks() []string { return slices.Sorted(maps.Keys(families())) }

// Haystacks are the values of Config.Haystack.
func Haystacks() []string { return []string{"file", "needles", "noise", "text"} }

// Check says what is wrong with the fields. Whether the needles fit is not checked: that needs
// a tokenizer.
func (s Config) Check() error {
	f, known := families()[s.Task]
	if !known {
		return wrong("task", "%s", diag.OneOf(s.Task, Tasks()))
	}
	if len(s.Lengths) == 0 || slices.Min(s.Lengths) < 1 || slices.Max(s.Lengths) > maxTokens {
		return wrong("tokens", "found %v, want at least one length, each from 1 to %d", s.Lengths, maxTokens)
	}
	if err := s.checkCounts(); err != nil {
		return err
	}
	if s.Task == "qa" {
		return s.checkQA()
	}
	if s.From != (From{}) {
		return wrong("from", "found it with task %s, want it with task qa only", s.Task)
	}
	s = s.withDefaults(f)
	switch {
	case s.Queries > s.Needles:
		return wrong("queries", "found %d, want at most the needles, %d", s.Queries, s.Needles)
	case s.Task == "vt" && s.Queries != 1:
		return wrong("queries", "found %d, want 1: vt asks for one chain", s.Queries)
	case s.Needles*s.Values > maxCount:
		return wrong("needles", "found %d of %d values, want at most %d in all: haystack needles has as many as fit", s.Needles, s.Values, maxCount)
	case s.Depth == "grid" && len(f.write(s, new(random)).statements()) > gridDepths:
		return wrong("depth", "grid has %d places, want no more statements than that", gridDepths)
	}
	return errors.Join(s.checkDepth(), s.checkHaystack(f))
}

func (s Config) checkCounts() error {
	for _, count := range []struct {
		field string
		n     int
		most  int
	}{
		{"samples", s.Samples, maxSamples / len(s.Lengths)}, {"needles", s.Needles, maxCount},
		{"values", s.Values, maxCount}, {"queries", s.Queries, maxCount},
	} {
		switch {
		case count.n < 0:
			return wrong(count.field, "found %d, want at least 1, or 0 for the task's own number", count.n)
		case count.n > count.most:
			return wrong(count.field, "found %d, want at most %d", count.n, count.most)
		}
	}
	return s.checkTotal()
}

// checkTotal bounds the work: every session is generated and counted before anything runs.
func (s Config) checkTotal() error {
	total, samples := 0, max(1, s.Samples)
	for _, tokens := range s.Lengths {
		total += tokens * samples
	}
	if total > maxTokens {
		return wrong("tokens", "found %d in all, with %d samples of a length, want at most %d", total, samples, maxTokens)
	}
	return nil
}

// checkQA says what is wrong with the fields of task qa.
func (s Config) checkQA() error {
	if s.Needles+s.Values+s.Queries > 0 || s.Haystack+s.File != "" {
		return wrong("needles, values, queries and haystack", "found one with task qa, want none: it hides the documents of its data set")
	}
	if err := s.From.check(); err != nil {
		return wrong("from", "%w", err)
	}
	return s.withDefaults(family{}).checkDepth()
}

func (s Config) checkDepth() error {
	depth, err := strconv.ParseFloat(s.Depth, 64)
	if percentage := err == nil && 0 <= depth && depth <= 100; !percentage && s.Depth != "uniform" && s.Depth != "grid" {
		return wrong("depth", "found %q, want uniform, grid or a percentage from 0 to 100", s.Depth)
	}
	return nil
}

func (s Config) checkHaystack(f family) error {
	switch {
	case f.haystack == "session" && s.Haystack != "session":
		return wrong("haystack", "found %s, want none: a session is its own", s.Haystack)
	case f.haystack != "session" && !slices.Contains(Haystacks(), s.Haystack):
		return wrong("haystack", "%s", diag.OneOf(s.Haystack, Haystacks()))
	case s.Haystack == "needles" && s.Task == "vt":
		return wrong("haystack", "found needles, want noise, text or file: vt has chains")
	case (s.Haystack == "file") != (s.File != ""):
		return wrong("haystack", "want a file for haystack file, and for no other")
	}
	return nil
}

func (s Config) withDefaults(f family) Config {
	s.Samples, s.Depth, s.Haystack = cmp.Or(s.Samples, 1), cmp.Or(s.Depth, "uniform"), cmp.Or(s.Haystack, f.haystack)
	s.Needles, s.Values, s.Queries = cmp.Or(s.Needles, f.needles), cmp.Or(s.Values, f.values), cmp.Or(s.Queries, f.queries)
	return s
}

// Sources are the sessions, not generated yet. It is a corpus.Reader: cfg has the ID, the
// Prompts that count tokens, and the Queries whose ids are taken.
func (s Config) Sources(ctx context.Context, cfg corpus.Config) ([]corpus.Source, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	sample, err := s.maker(ctx, cfg)
	if err != nil {
		return nil, err
	}
	var sources []corpus.Source
	for _, tokens := range s.Lengths {
		for n := range max(1, s.Samples) {
			made, err := sample(tokens, n)
			if err != nil {
				return nil, err
			}
			q := &made.Queries[0].Query
			q.Tags = s.tags(q.Tags, tokens, made.Depth)
			q.ID = strings.TrimPrefix(cfg.ID+"-"+made.Name, "-")
			if slices.ContainsFunc(cfg.Queries, func(other corpus.Query) bool { return other.ID == q.ID }) {
				return nil, fmt.Errorf("the query's id %q is taken by a query of the spec", q.ID)
			}
			sources = append(sources, made)
		}
	}
	return sources, nil
}

// tags say of which kind a sample is: its task, its length, and the fifth of the text in which
// its first needle stands; of task qa also what the data set says.
func (s Config) tags(also map[string]string, tokens int, depth float64) map[string]string {
	const band = 20 // percent
	from := min(int(depth)/band*band, 100-band)
	tags := map[string]string{"task": s.Task, "length": Length(tokens), "depth": fmt.Sprintf("%d–%d %%", from, from+band)}
	for name, value := range also {
		if _, taken := tags[name]; !taken {
			tags[name] = value
		}
	}
	return tags
}

// maker makes the n-th sample, from 0, of so many tokens.
func (s Config) maker(ctx context.Context, cfg corpus.Config) (func(tokens, n int) (corpus.Source, error), error) {
	f := families()[s.Task]
	s = s.withDefaults(f)
	if s.Task == "qa" {
		return s.quizzes(ctx, cfg)
	}
	file, err := readSentences(s.File)
	return func(tokens, n int) (corpus.Source, error) {
		name := s.name(tokens, n)
		made := &synthetic{Config: s, name: name, fullName: cfg.SessionName(name), meter: meter{cfg.Prompts}, tokens: tokens}
		made.make(f, s.seed(tokens, n), file)
		if err := made.fit(ctx); err != nil {
			return corpus.Source{}, err
		}
		made.place()
		return made.source(), nil
	}, err
}

// seed is what all of a sample is drawn from.
func (s Config) seed(tokens, n int) random { return random(uint64(s.Seed)).of(tokens, n) }

// name numbers the samples: 01, or 8k-01 where there are several lengths.
func (s Config) name(tokens, n int) string {
	number := fmt.Sprintf("%0*d", len(strconv.Itoa(s.Samples)), n+1)
	if len(s.Lengths) == 1 {
		return number
	}
	return Length(tokens) + "-" + number
}

// Length is a number of tokens as people of the field write it: 8k is 8192, 1m is 1048576.
func Length(tokens int) string {
	switch {
	case tokens > 0 && tokens%(1<<20) == 0:
		return strconv.Itoa(tokens>>20) + "m"
	case tokens > 0 && tokens%(1<<10) == 0:
		return strconv.Itoa(tokens>>10) + "k"
	}
	return strconv.Itoa(tokens)
}
