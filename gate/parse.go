package gate

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Parse reads the Decision out of a whole reply. The error is always a *SyntaxError: the first
// departure from the grammar in the order of the reply, then what is missing at its end.
//
// It takes time linear in the reply's length: the last </think> is searched for once, the scan
// of the answer only moves forward, and the search for a closing tag runs at most once for each
// of the three elements, since a second opening of an element ends the parse.
func Parse(reply string) (Decision, error) {
	if at := invalidUTF8(reply); at >= 0 {
		return Decision{}, &SyntaxError{InvalidUTF8, at, "valid UTF-8", excerpt(reply[at : at+1])}
	}
	reasoning, answer := split(reply)
	p := newParser(reply, answer)
	if err := p.scan(); err != nil {
		return Decision{}, err
	}
	d, err := p.decide()
	if err != nil {
		return Decision{}, err
	}
	d.Reasoning = reasoning
	return d, nil
}

// invalidUTF8 returns the offset of the first byte that is not UTF-8, or -1.
func invalidUTF8(s string) int {
	if utf8.ValidString(s) {
		return -1
	}
	i := 0
	for {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 { // a U+FFFD that the model wrote has three bytes
			return i
		}
		i += n
	}
}

// split returns the reasoning and the offset at which the answer begins.
func split(reply string) (reasoning string, answer int) {
	i := strings.LastIndex(reply, closeThink)
	if i < 0 {
		return "", 0
	}
	// One <think> goes, so that Reply can put it back; a further one is what the model thought.
	reasoning = strings.TrimPrefix(strings.TrimSpace(reply[:i]), openThink)
	return strings.TrimSpace(reasoning), i + len(closeThink)
}

// element is one of the three parts of an answer: how it is written and what was read.
type element struct {
	open, close        string
	values             []string // the two a gate can have; none for the update
	want               string   // the whole element as it would be right
	unclosed, repeated Kind
	bad                Kind // for a value that is none of values

	at   int // offset of the body; 0 if the element has not been seen, as a tag stands before it
	body string
}

func (e *element) seen() bool { return e.at > 0 }

// is reports whether the body is value. EqualFold alone would take "yeſ" for "yes"; as it
// compares rune by rune, an equal length leaves ASCII only.
func (e *element) is(value string) bool {
	body := strings.TrimSpace(e.body)
	return len(body) == len(value) && strings.EqualFold(body, value)
}

// parser scans an answer. Its offsets are those of the reply.
type parser struct {
	reply string
	pos   int
	think int // the first <think> of the answer, or -1

	check, update, next element
}

func newParser(reply string, answer int) *parser {
	return &parser{
		reply: reply, pos: answer, think: -1,
		check: element{
			open: "<check>", close: "</check>", values: []string{"yes", "no"},
			want:     "<check>yes</check> or <check>no</check>",
			unclosed: BadCheck, repeated: RepeatedCheck, bad: BadCheck,
		},
		update: element{
			open: "<update>", close: "</update>",
			want:     "the new memory between <update> and </update>",
			unclosed: UnclosedUpdate, repeated: RepeatedUpdate,
		},
		next: element{
			open: "<next>", close: "</next>", values: []string{"continue", "end"},
			want:     "<next>continue</next> or <next>end</next>",
			unclosed: BadNext, repeated: RepeatedNext, bad: BadNext,
		},
	}
}

// scan reads all elements of the answer.
func (p *parser) scan() error {
	for {
		i := strings.IndexByte(p.reply[p.pos:], '<')
		if i < 0 {
			return nil
		}
		p.pos += i
		if err := p.tag(); err != nil {
			return err
		}
	}
}

// tag reads what begins with the < at pos, and moves pos behind it.
func (p *parser) tag() error {
	for _, e := range []*element{&p.check, &p.update, &p.next} {
		switch opens, closes := p.sees(e.open), p.sees(e.close); {
		case !opens && !closes:
			continue
		case p.think >= 0:
			return p.brokeOff()
		case closes:
			return p.fail(StrayClose, p.pos, "no "+e.close+" without its "+e.open)
		case e.seen():
			return p.fail(e.repeated, p.pos, "no second "+e.open)
		}
		return p.element(e)
	}
	if p.think < 0 && p.sees(openThink) {
		p.think = p.pos
	}
	p.pos++
	return nil
}

func (p *parser) sees(tag string) bool { return strings.HasPrefix(p.reply[p.pos:], tag) }

// element reads e, whose opening tag is at pos, and moves pos behind its closing tags.
func (p *parser) element(e *element) error {
	start := p.pos + len(e.open)
	n := strings.Index(p.reply[start:], e.close)
	if n < 0 {
		return p.fail(e.unclosed, p.pos, e.close+" after this "+e.open)
	}
	e.at, e.body = start, p.reply[start:start+n]
	p.pos = start + n
	p.skipClosings(e.close)
	return p.judge(e)
}

// skipClosings moves pos behind a run of closing tags and the white space after each.
func (p *parser) skipClosings(tag string) {
	rest := p.reply[p.pos:]
	for strings.HasPrefix(rest, tag) {
		rest = strings.TrimLeftFunc(rest[len(tag):], unicode.IsSpace)
	}
	p.pos = len(p.reply) - len(rest)
}

// judge says whether e may have the body it has.
func (p *parser) judge(e *element) error {
	if e == &p.update {
		if i := strings.Index(e.body, e.open); i >= 0 {
			return p.fail(e.repeated, e.at+i, "no second "+e.open)
		}
		return nil
	}
	for _, v := range e.values {
		if e.is(v) {
			return nil
		}
	}
	return &SyntaxError{e.bad, e.at, e.want, excerpt(e.body)}
}

// decide puts the elements together, or says which one is missing.
func (p *parser) decide() (Decision, error) {
	d := Decision{
		Update:       p.check.is("yes"),
		Exit:         p.next.is("end"),
		Candidate:    strings.TrimSpace(p.update.body),
		HasCandidate: p.update.seen(),
	}
	switch {
	case !p.check.seen():
		return d, p.missing(MissingCheck, p.check.want)
	case d.Update && !d.HasCandidate:
		return d, p.missing(MissingUpdate, p.update.want)
	case !p.next.seen():
		return d, p.missing(MissingNext, p.next.want)
	case d.Update && d.Candidate == "":
		return d, &SyntaxError{BlankUpdate, p.update.at, p.update.want, excerpt(p.update.body)}
	}
	return d, nil
}

// missing blames an unclosed <think>, if there is one, for what the reply lacks.
func (p *parser) missing(kind Kind, want string) error {
	if p.think >= 0 {
		return p.brokeOff()
	}
	return &SyntaxError{kind, len(p.reply), want, "end of reply"}
}

func (p *parser) brokeOff() error {
	return p.fail(UnclosedThink, p.think, closeThink+" after this "+openThink)
}

func (p *parser) fail(kind Kind, at int, want string) error {
	return &SyntaxError{kind, at, want, excerpt(p.reply[at:])}
}
