package corpus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/poimen-memory/mem/harness/spec/yamlpos"
	"github.com/poimen-memory/mem/prompt"
)

// Synth says what to synthesize: needles in a haystack and documents among distractors, in
// the tasks that RULER (arXiv 2404.06654) and MemAgent (arXiv 2507.02259) evaluate on, and a
// coding agent's session. What is zero, but for Task and Lengths, is as the task has it.
//
// Every sample has places, keys and values of its own, which depend on nothing but the
// fields of Synth and the tokenizer. Statements that the question asks for are evidence;
// those of other keys are hard negatives. Of a value that changes over time each statement
// is evidence, for nobody can know that it will be replaced; the newest one is the answer.
//
// A sample of task qa is a question of the data set From: its gold documents, at places of
// their own in every sample, among distractors that are drawn, the question's own ones
// first, until there is room for none. Evidence is what the data set says; of squad, the
// paragraphs with the answers. No two documents have the same text or, of hotpotqa, the same
// title. That a distractor has the answer's words is let be: a data set of short answers has
// few documents without. Samples ask different questions, the same ones at each length.
type Synth struct {
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

// FieldError is what is wrong with one field of a Synth.
type FieldError struct {
	Field string // in lower case; tokens is that of Lengths
	Err   error  // without the field's name
}

func (e *FieldError) Error() string { return "synth: " + e.Field + ": " + e.Err.Error() }

func wrong(field, format string, args ...any) error {
	return &FieldError{field, fmt.Errorf(format, args...)}
}

// sentences is how many a record of a haystack has. A needle stands before one of them.
const sentences = 5

// Tasks are the tasks that Synth knows.
func Tasks() []string { return slices.Sorted(maps.Keys(families())) }

// Haystacks are what Synth.Haystack may be.
func Haystacks() []string { return []string{"file", "needles", "noise", "text"} }

// Check says what is wrong with the fields, but for what needs a tokenizer: whether the
// needles fit.
func (s Synth) Check() error {
	f, known := families()[s.Task]
	if !known {
		return wrong("task", "%s", yamlpos.OneOf(s.Task, Tasks()))
	}
	if len(s.Lengths) == 0 || slices.Min(s.Lengths) < 1 {
		return wrong("tokens", "want at least one length, above 0")
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
	case s.Needles*s.Values > 500:
		return wrong("needles", "found %d of %d values, want at most 500 in all: haystack needles has as many as fit", s.Needles, s.Values)
	case s.Depth == "grid" && len(f.write(s, new(random)).statements()) > gridDepths:
		return wrong("depth", "grid has %d places, want no more statements than that", gridDepths)
	}
	return errors.Join(s.checkDepth(), s.checkHaystack(f))
}

func (s Synth) checkCounts() error {
	for _, count := range []struct {
		field string
		n     int
	}{{"samples", s.Samples}, {"needles", s.Needles}, {"values", s.Values}, {"queries", s.Queries}} {
		if count.n < 0 {
			return wrong(count.field, "found %d, want at least 1, or 0 for the task's own number", count.n)
		}
	}
	return nil
}

// checkQA says what is wrong with the fields of task qa.
func (s Synth) checkQA() error {
	if s.Needles+s.Values+s.Queries > 0 || s.Haystack+s.File != "" {
		return wrong("needles, values, queries and haystack", "found one with task qa, want none: it hides the documents of its data set")
	}
	if err := s.From.check(); err != nil {
		return wrong("from", "%w", err)
	}
	return s.withDefaults(family{}).checkDepth()
}

func (s Synth) checkDepth() error {
	depth, err := strconv.ParseFloat(s.Depth, 64)
	if percentage := err == nil && 0 <= depth && depth <= 100; !percentage && s.Depth != "uniform" && s.Depth != "grid" {
		return wrong("depth", "found %q, want uniform, grid or a percentage from 0 to 100", s.Depth)
	}
	return nil
}

func (s Synth) checkHaystack(f family) error {
	switch {
	case f.haystack == "session" && s.Haystack != "session":
		return wrong("haystack", "found %s, want none: a session is its own", s.Haystack)
	case f.haystack != "session" && !slices.Contains(Haystacks(), s.Haystack):
		return wrong("haystack", "%s", yamlpos.OneOf(s.Haystack, Haystacks()))
	case s.Haystack == "needles" && s.Task == "vt":
		return wrong("haystack", "found needles, want noise, text or file: vt has chains")
	case (s.Haystack == "file") != (s.File != ""):
		return wrong("haystack", "want a file for haystack file, and for no other")
	}
	return nil
}

func (s Synth) withDefaults(f family) Synth {
	s.Samples, s.Depth, s.Haystack = cmp.Or(s.Samples, 1), cmp.Or(s.Depth, "uniform"), cmp.Or(s.Haystack, f.haystack)
	s.Needles, s.Values, s.Queries = cmp.Or(s.Needles, f.needles), cmp.Or(s.Values, f.values), cmp.Or(s.Queries, f.queries)
	return s
}

// synthesize are the sessions of a Synth, not yet made.
func (l *loader) synthesize(ctx context.Context) ([]part, error) {
	if err := l.Synth.Check(); err != nil {
		return nil, err
	}
	sample, err := l.maker(ctx)
	if err != nil {
		return nil, err
	}
	var parts []part
	for _, tokens := range l.Synth.Lengths {
		for n := range max(1, l.Synth.Samples) {
			p, err := sample(tokens, n)
			if err != nil {
				return nil, err
			}
			q := &p.own[0].Query
			q.ID = strings.TrimPrefix(l.ID+"-"+p.name, "-")
			if slices.ContainsFunc(l.Queries, func(other Query) bool { return other.ID == q.ID }) {
				return nil, fmt.Errorf("the query's id %q is taken by a query of the spec", q.ID)
			}
			parts = append(parts, p)
		}
	}
	return parts, nil
}

// maker is what makes the n-th sample, from 0, of so many tokens.
func (l *loader) maker(ctx context.Context) (func(tokens, n int) (part, error), error) {
	f := families()[l.Synth.Task]
	s := l.Synth.withDefaults(f)
	if s.Task == "qa" {
		return l.quizzes(ctx, s)
	}
	file, err := s.readFile()
	return func(tokens, n int) (part, error) {
		name := s.name(tokens, n)
		one := &synthetic{Synth: s, name: name, fullName: within(l.ID, name), meter: meter{l.Prompts}, tokens: tokens, query: len(l.Queries)}
		one.make(f, s.seed(tokens, n), file)
		if err := one.fit(ctx); err != nil {
			return part{}, err
		}
		one.place()
		return one.part(), nil
	}, err
}

// seed is what all of a sample is drawn from.
func (s Synth) seed(tokens, n int) random { return random(uint64(s.Seed)).of(tokens, n) }

// name numbers the samples: 01, or 8k-01 where there are several lengths.
func (s Synth) name(tokens, n int) string {
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

// synthetic is one sample. Its records are made when they are read, each from its number
// alone, so that a session of any length takes no memory.
type synthetic struct {
	Synth
	meter
	name     string
	fullName string // its name with that of the corpus
	tokens   int
	query    int // index of its query among those of the session
	seed     random
	riddle   riddle
	hay      filler
	records  int
	placed   []placed // in the order of the text
}

// placed is a statement before a sentence of the haystack, both counted from 0.
type placed struct {
	statement
	at int
}

// The streams of a sample's seed.
const (
	streamTask = iota
	streamPlace
	streamHay
)

func (s *synthetic) make(f family, seed random, file []string) {
	s.seed = seed
	task := seed.of(streamTask)
	s.riddle = f.write(s.Synth, &task)
	s.hay = f.hay(s, file)
}

// fit finds how many records of the haystack there is room for, beside all statements.
func (s *synthetic) fit(ctx context.Context) error {
	needles, room := 0, s.tokens
	for _, st := range s.riddle.statements() {
		needles += max(s.measure(" "+st.text), s.measure(" "+st.tool))
	}
	for room -= needles; ctx.Err() == nil; s.records++ {
		role, hay := s.hay(s.records)
		if room -= s.cost(role, hay.text()); room < 0 {
			break
		}
	}
	if s.records == 0 && ctx.Err() == nil {
		return wrong("tokens", "found %d, want room for the %d tokens of the needles and for a record", s.tokens, needles)
	}
	return ctx.Err()
}

// meter counts tokens.
type meter struct{ prompts *prompt.Builder }

func (m meter) measure(text string) int { return m.prompts.Measure(text).Tokens }

// cost is what a record adds to a session. It ends where the next one begins, for some
// vocabularies count a blank line by what follows it.
func (m meter) cost(role, text string) int {
	return m.measure(prompt.Render(prompt.Record{Role: role, Text: text})+"\n\n[") - m.measure("[")
}

// gridDepths is how many depths RULER has.
const gridDepths = 40

// place draws where the statements stand. Those of a chain keep their order.
func (s *synthetic) place() {
	draw := s.seed.of(streamPlace)
	last := s.records*sentences - 1
	grid := draw.shuffle(gridDepths, min(len(s.riddle.statements()), gridDepths))
	percent, fixed := strconv.ParseFloat(s.Depth, 64)
	for _, chain := range s.riddle.chains {
		at := make([]int, len(chain))
		for i, st := range chain {
			switch {
			case s.Depth == "grid":
				at[i], grid = grid[0]*last/(gridDepths-1), grid[1:]
			case fixed == nil && st.queried:
				at[i] = int(percent / 100 * float64(last))
			default:
				at[i] = draw.below(last + 1)
			}
		}
		slices.Sort(at)
		for i, st := range chain {
			s.placed = append(s.placed, placed{st, at[i]})
		}
	}
	slices.SortStableFunc(s.placed, func(a, b placed) int { return cmp.Compare(a.at, b.at) })
}

func (s *synthetic) part() part {
	return part{name: s.name, read: s.read, own: []imported{{Query: s.riddle.query}}, tokens: s.tokens, depth: s.depth()}
}

// depth is where the first queried statement stands, in percent of the text.
func (s *synthetic) depth() float64 {
	i := slices.IndexFunc(s.placed, func(p placed) bool { return p.queried })
	return 100 * float64(s.placed[i].at) / float64(max(1, s.records*sentences-1))
}

func (s *synthetic) read() iter.Seq2[*record, error] {
	return func(yield func(*record, error) bool) {
		left := s.placed
		for i := range s.records {
			n := 0
			for n < len(left) && left[n].at < (i+1)*sentences {
				n++
			}
			if !yield(s.record(i, left[:n], len(s.placed)-len(left)), nil) {
				return
			}
			left = left[n:]
		}
	}
}

// record is the i-th record with its statements; before is how many stand before it. Only
// a record with statements has an id: labels need it, and ids take memory.
func (s *synthetic) record(i int, with []placed, before int) *record {
	role, hay := s.hay(i)
	r := &record{at: yamlpos.Pos{File: s.fullName}, number: i + 1, filling: hay.cycled && len(with) == 0}
	r.Role = role
	if len(with) > 0 {
		r.id = fmt.Sprintf("needle-%d", before+1)
	}
	var text strings.Builder
	add := func(sentence string) span {
		if text.Len() > 0 {
			text.WriteByte(' ')
		}
		from := text.Len()
		text.WriteString(sentence)
		return span{s.query, from, text.Len()}
	}
	for n, sentence := range hay.sentences {
		for len(with) > 0 && with[0].at == i*sentences+n {
			if at := add(with[0].in(role)); with[0].queried {
				r.spans = append(r.spans, at)
			} else {
				r.hard = append(r.hard, at)
			}
			with = with[1:]
		}
		if at := add(sentence); hay.hard {
			r.hard = append(r.hard, at)
		}
	}
	r.Text = text.String()
	return r
}
