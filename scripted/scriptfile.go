package scripted

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/poimen-memory/mem/gate"
	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/spec/yamlpos"
	"github.com/poimen-memory/mem/internal/digest"
	"github.com/poimen-memory/mem/loop"
)

// Bounds of a script, which is held as a whole.
const (
	maxUpdate  = 1 << 24 // bytes that {text, times} expands to
	maxUpdates = 1 << 26 // bytes of all updates
)

// scriptFile, entryFields and attemptFields are the file as it is written.
type scriptFile struct {
	Place   diag.Place    `yaml:",pos"`
	Turns   []entryFields `yaml:"turns" max:"10000"` // each is compared with those before
	Default *entryFields  `yaml:"default"`
	Answer  answerFields  `yaml:"answer"`
}

// answerFields is written as a text, or as a list of attempts.
type answerFields struct {
	diag.Place
	attempts []attemptFields
}

// DecodeYAML implements yamlpos.Unmarshaler.
func (a *answerFields) DecodeYAML(n yamlpos.Node) {
	a.Place = n.Place()
	switch n.Kind() {
	case yamlpos.List:
		n.Decode(&a.attempts)
	case yamlpos.Map, yamlpos.Null:
		n.Want("a text, or a list of attempts, each {raw: TEXT} or {error: TEXT}")
	default:
		said := attemptFields{Place: a.Place}
		n.Decode(&said.Raw)
		a.attempts = []attemptFields{said}
	}
}

type entryFields struct {
	Place    diag.Place                  `yaml:",pos"`
	Turn     yamlpos.At[int]             `yaml:"turn" min:"1"`
	Turns    turnRange                   `yaml:"turns"`
	Attempts yamlpos.At[[]attemptFields] `yaml:"attempts" min:"1"`

	// The one attempt of a short entry.
	Check  yamlpos.At[string] `yaml:"check" enum:"yes,no"`
	Update updateText         `yaml:"update"`
	Next   yamlpos.At[string] `yaml:"next" enum:"continue,end"`
	Think  yamlpos.At[string] `yaml:"think"`
	Raw    yamlpos.At[string] `yaml:"raw"`
	Error  yamlpos.At[string] `yaml:"error" min:"1"`
	Finish yamlpos.At[string] `yaml:"finish" enum:"stop,length"`
	Repeat yamlpos.At[int]    `yaml:"repeat" min:"1"`
}

type attemptFields struct {
	Place  diag.Place         `yaml:",pos"`
	Check  yamlpos.At[string] `yaml:"check" enum:"yes,no"`
	Update updateText         `yaml:"update"`
	Next   yamlpos.At[string] `yaml:"next" enum:"continue,end"`
	Think  yamlpos.At[string] `yaml:"think"`
	Raw    yamlpos.At[string] `yaml:"raw"`
	Error  yamlpos.At[string] `yaml:"error" min:"1"`
	Finish yamlpos.At[string] `yaml:"finish" enum:"stop,length"`
	Repeat yamlpos.At[int]    `yaml:"repeat" min:"1"`
}

// turnRange is written `3-7`.
type turnRange struct {
	diag.Place
	first, last int
}

// DecodeYAML implements yamlpos.Unmarshaler.
func (t *turnRange) DecodeYAML(n yamlpos.Node) {
	t.Place = n.Place()
	from, to, _ := strings.Cut(n.Text(), "-")
	first, err1 := strconv.ParseUint(from, 10, 31)
	last, err2 := strconv.ParseUint(to, 10, 31)
	if n.Kind() != yamlpos.Text || err1 != nil || err2 != nil || first < 1 || last < first {
		n.Want("a range from a turn to the same or a later one, such as 3-7")
		return
	}
	t.first, t.last = int(first), int(last)
}

// updateText is written as a text, or as {text, times}.
type updateText struct {
	diag.Place
	text   string
	times  int  // that text is repeated; 0: once
	unread bool // it is there, but was complained about
}

// DecodeYAML implements yamlpos.Unmarshaler.
func (u *updateText) DecodeYAML(n yamlpos.Node) {
	u.Place = n.Place()
	switch n.Kind() {
	case yamlpos.Map:
		u.repeated(n)
	case yamlpos.List:
		u.unread = true
		n.Want("text, or a map of text and times")
	default:
		u.unread = !n.Decode(&u.text)
	}
}

func (u *updateText) repeated(n yamlpos.Node) {
	var repeated struct {
		Text  string `yaml:"text,required" min:"1"`
		Times int    `yaml:"times,required" min:"1"`
	}
	switch {
	case !n.Decode(&repeated):
		u.unread = true
	case repeated.Times > maxUpdate/len(repeated.Text):
		u.unread = true
		n.Errorf("found %d bytes %d times, want %d bytes at most", len(repeated.Text), repeated.Times, maxUpdate)
	default:
		u.text, u.times = repeated.Text, repeated.Times
	}
}

// ParseScript reads a script. File is its name in messages. The error is a
// diag.Errors with everything that is wrong in it.
func ParseScript(file string, data []byte) (*Script, error) {
	var f scriptFile
	var unread diag.Errors
	if err := yamlpos.Decode(file, data, &f); err != nil && !errors.As(err, &unread) {
		return nil, err
	}
	c := compiler{unread: unread, errs: slices.Clone(unread)}
	s := c.script(f)
	if err := c.errs.Err(); err != nil {
		return nil, err
	}
	s.sha = digest.Of(strings.ReplaceAll(string(data), "\r\n", "\n")) // the same from any checkout
	return s, nil
}

// compiler makes a Script of its file. Where reading complained it says nothing more: the
// value there is zero, a map without a place.
type compiler struct {
	unread, errs diag.Errors
	updates      int // bytes of all updates so far
}

func (c *compiler) fail(at diag.Place, format string, args ...any) {
	if at.Present() && !slices.ContainsFunc(c.unread, func(e *diag.Error) bool { return e.Pos == at.Pos }) {
		c.errs = append(c.errs, at.Errorf(format, args...))
	}
}

func (c *compiler) script(f scriptFile) *Script {
	s := &Script{}
	for _, fields := range f.Turns {
		e := c.entry(fields)
		at := c.turns(fields, e)
		c.once(s.entries, e, at)
		s.entries = append(s.entries, e)
	}
	if f.Default != nil {
		s.fallback = c.entry(*f.Default)
		c.everyTurn(*f.Default)
	}
	if f.Answer.Present() {
		s.answer = c.answer(f.Answer)
	}
	if len(s.entries) == 0 && s.fallback == nil && len(c.errs) == 0 {
		c.fail(f.Place, "found no entries, want turns, a default, or both")
	}
	return s
}

// answer has no gates: its attempts are raw.
func (c *compiler) answer(f answerFields) *entry {
	e := &entry{Place: f.Place, answer: true}
	if len(f.attempts) == 0 {
		c.fail(f.Place, "found no attempt at the answer, want at least one")
	}
	for _, a := range f.attempts {
		if !a.Raw.Present() && !a.Error.Present() {
			c.fail(a.Place, "found an attempt at the answer without raw or error, want one of the two")
			continue
		}
		e.attempts = append(e.attempts, c.attempt(a))
	}
	return e
}

func (c *compiler) everyTurn(f entryFields) {
	for _, p := range []diag.Place{f.Turn.Place, f.Turns.Place} {
		if p.Present() {
			c.fail(p, "found a turn, want none: the default is for all turns that no entry names")
		}
	}
}

// exclude complains about the fields that are present beside what excludes them.
func (c *compiler) exclude(beside string, fields ...diag.Place) {
	for _, p := range fields {
		if p.Present() {
			c.fail(p, "found beside %s, want one of the two", beside)
		}
	}
}

// turns says which turns an entry is for, and returns where that stands.
func (c *compiler) turns(f entryFields, e *entry) diag.Place {
	switch {
	case f.Turn.Present():
		c.exclude("turn", f.Turns.Place)
		e.first, e.last = f.Turn.Value, f.Turn.Value
		return f.Turn.Place
	case f.Turns.Present():
		e.first, e.last = f.Turns.first, f.Turns.last
		return f.Turns.Place
	}
	c.fail(f.Place, "found an entry for no turn, want turn, as in turn: 3, or turns, as in turns: 3-7")
	return f.Place
}

// once complains about turns that an earlier entry names.
func (c *compiler) once(earlier []*entry, e *entry, at diag.Place) {
	for _, o := range earlier {
		if 0 < e.first && e.first <= o.last && o.first <= e.last {
			c.fail(at, "found %s, but line %d has %s: want each turn once", e.name(), o.Pos.Line, o.name())
			return
		}
	}
}

func (c *compiler) entry(f entryFields) *entry {
	e := &entry{Place: f.Place}
	own := attemptFields{f.Place, f.Check, f.Update, f.Next, f.Think, f.Raw, f.Error, f.Finish, f.Repeat}
	if !f.Attempts.Present() {
		e.attempts = append(e.attempts, c.attempt(own))
		return e
	}
	c.exclude("attempts", append(own.reply(), f.Raw.Place, f.Error.Place, f.Finish.Place, f.Repeat.Place)...)
	for _, a := range f.Attempts.Value {
		e.attempts = append(e.attempts, c.attempt(a))
	}
	return e
}

// reply is where the fields of a reply that parses stand.
func (f attemptFields) reply() []diag.Place {
	return []diag.Place{f.Check.Place, f.Update.Place, f.Next.Place, f.Think.Place}
}

func (c *compiler) attempt(f attemptFields) *attempt {
	a := &attempt{Place: f.Place, times: max(f.Repeat.Value, 1), reply: loop.Completion{Finish: f.Finish.Value}}
	switch {
	case f.Error.Present():
		c.exclude("error", append(f.reply(), f.Raw.Place, f.Finish.Place, f.Repeat.Place)...)
		a.err = errors.New(f.Error.Value)
	case f.Raw.Present():
		c.exclude("raw", f.reply()...)
		a.reply.Text = f.Raw.Value
	default:
		a.reply.Text = c.fields(f)
	}
	return a
}

// fields is the reply that the fields say.
func (c *compiler) fields(f attemptFields) string {
	switch {
	case !f.Check.Present() && !f.Next.Present():
		c.fail(f.Place, "found nothing to say, want check and next, raw, or error")
		return ""
	case !f.Check.Present():
		c.fail(f.Place, "found next without check, want both")
		return ""
	case !f.Next.Present():
		c.fail(f.Place, "found check without next, want both")
		return ""
	case f.Check.Value == "yes" && !f.Update.Present():
		c.fail(f.Place, "found check: yes without update, want the new memory; a reply that does not parse is written as raw")
		return ""
	}
	if c.updates += len(f.Update.text) * max(1, f.Update.times); c.updates > maxUpdates {
		c.fail(f.Update.Place, "found %d bytes of updates up to here, want at most %d in a script", c.updates, maxUpdates)
		return ""
	}
	d := gate.Decision{
		Update: f.Check.Value == "yes", Exit: f.Next.Value == "end",
		Candidate: strings.TrimSpace(strings.Repeat(f.Update.text, max(1, f.Update.times))), HasCandidate: f.Update.Present(),
		Reasoning: strings.TrimSpace(f.Think.Value),
	}
	if f.Check.Value != "" && f.Next.Value != "" && !f.Update.unread {
		c.parses(f.Place, d)
	}
	return d.Reply()
}

// parses complains about fields that the gate grammar cannot carry.
func (c *compiler) parses(at diag.Place, d gate.Decision) {
	got, err := gate.Parse(d.Reply())
	switch {
	case err != nil:
		c.fail(at, "found fields whose reply does not parse, want it as raw: %v", err)
	case got != d:
		c.fail(at, "found fields whose reply reads as other fields, want it as raw")
	}
}
