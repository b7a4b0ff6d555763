package corpus

import (
	"context"
	"crypto/sha256"
	"fmt"
	"iter"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/poimen-memory/mem/harness/spec/yamlpos"
	"github.com/poimen-memory/mem/prompt"
)

// hotpotSample is one question of the data set with its paragraphs.
type hotpotSample struct {
	id, question, answer string
	paragraphs           []paragraph
	facts                []fact
}

type paragraph struct {
	title     string
	sentences []string
}

func (p paragraph) text() string { return p.title + "\n" + strings.Join(p.sentences, "") }

// place is where sentence n, from 0, stands in the paragraph's text.
func (p paragraph) place(n int) (from, to int) {
	from = len(p.title) + 1
	for _, s := range p.sentences[:n] {
		from += len(s)
	}
	return from, from + len(p.sentences[n])
}

// fact points to a sentence, from 0, that the answer follows from.
type fact struct {
	title    string
	sentence int
}

// entry is what is kept of a sample: where it is in the file, and its query.
type entry struct {
	name     string // the sample's own id, or its number
	offset   int64
	size     int
	at       yamlpos.Pos
	query    imported
	warnings []string
}

func loadHotpotQA(ctx context.Context, l *loader) ([]*Session, error) {
	entries, err := l.index(ctx)
	if err != nil {
		return nil, err
	}
	if l.Join {
		s, err := l.samples(ctx, l.ID, entries)
		return []*Session{s}, err
	}
	var sessions []*Session
	for i, e := range entries {
		s, err := l.samples(ctx, l.ID+"/"+e.name, entries[i:i+1])
		if err != nil {
			return nil, err
		}
		sessions = append(sessions, s)
	}
	return sessions, nil
}

// samples makes a session of one sample, or of several.
func (l *loader) samples(ctx context.Context, name string, entries []entry) (*Session, error) {
	var own []imported
	var warnings []string
	for _, e := range entries {
		own = append(own, e.query)
		warnings = append(warnings, e.warnings...)
	}
	s, err := l.session(ctx, name, hotpotSource{l.Path, entries, l.Join}.records, own)
	if err != nil {
		return nil, err
	}
	s.warnings = warnings
	return s, nil
}

// index reads the whole file, refuses what is wrong with it, and keeps no paragraph.
func (l *loader) index(ctx context.Context) ([]entry, error) {
	var entries []entry
	var bad faults
	for it, err := range jsonFile(l.Path).items() {
		if err == nil {
			var e entry
			if e, err = indexed(it); err == nil {
				entries = append(entries, e)
			}
		}
		if err != nil && bad.add(err) != nil {
			return nil, fmt.Errorf("corpus %s: %w", l.ID, err)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	bad.add(l.name(entries))
	return entries, bad.err()
}

// indexed is what is kept of an item.
func indexed(it item) (entry, error) {
	s, bad := parseHotpot(it.raw)
	if len(bad) > 0 {
		return entry{}, it.complain(bad)
	}
	e := entry{name: s.id, offset: it.offset, size: len(it.raw), at: it.at}
	e.query.Query = Query{ID: s.id, Text: s.question, Answers: []string{s.answer}}
	for _, f := range s.facts {
		g, problem := s.gold(f)
		if problem != "" {
			e.warnings = append(e.warnings, fmt.Sprintf("%s: supporting fact %q, sentence %d: %s", it.at, f.title, f.sentence, problem))
			continue
		}
		e.query.gold = append(e.query.gold, g)
	}
	return e, nil
}

// gold finds the sentence that a fact points to, or says why it cannot: the published
// data has such facts.
func (s hotpotSample) gold(f fact) (g gold, problem string) {
	for _, p := range s.paragraphs {
		if p.title != f.title {
			continue
		}
		if f.sentence < 0 || f.sentence >= len(p.sentences) {
			return gold{}, fmt.Sprintf("the paragraph has %d sentences, counted from 0", len(p.sentences))
		}
		from, to := p.place(f.sentence)
		if from == to {
			return gold{}, "the sentence is empty"
		}
		return gold{sha256.Sum256([]byte(p.text())), from, to}, ""
	}
	return gold{}, "no paragraph has this title"
}

// name gives a number to samples without an id. The error is a yamlpos.Errors: a name
// that comes twice.
func (l *loader) name(entries []entry) error {
	seen := map[string]string{}
	for _, q := range l.Queries {
		seen[q.ID] = "the query of that id in the spec"
	}
	var es yamlpos.Errors
	for i := range entries {
		e := &entries[i]
		if e.name == "" {
			e.name = fmt.Sprintf("%0*d", len(strconv.Itoa(len(entries))), i+1)
			e.query.ID = e.name
		}
		if other, ok := seen[e.name]; ok {
			es = append(es, &yamlpos.Error{Pos: e.at, Path: "_id", Msg: fmt.Sprintf("the sample's name %q is taken by %s", e.name, other)})
		}
		seen[e.name] = "the sample on line " + strconv.Itoa(e.at.Line)
	}
	if len(es) == 0 {
		return nil
	}
	return es
}

// hotpotSource reads the records of samples again.
type hotpotSource struct {
	path    string
	entries []entry
	prefix  bool // ids begin with the sample's name
}

func (h hotpotSource) records() iter.Seq2[*record, error] {
	return func(yield func(*record, error) bool) {
		file, err := os.Open(h.path)
		if err != nil {
			yield(nil, err)
			return
		}
		defer file.Close()
		for _, e := range h.entries {
			records, err := h.sample(file, e)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, r := range records {
				if !yield(r, nil) {
					return
				}
			}
		}
	}
}

func (h hotpotSource) sample(file *os.File, e entry) ([]*record, error) {
	raw := make([]byte, e.size)
	if _, err := file.ReadAt(raw, e.offset); err != nil {
		return nil, fmt.Errorf("%s: %w", e.at, err)
	}
	s, bad := parseHotpot(raw)
	if len(bad) > 0 {
		return nil, fmt.Errorf("%s: the sample that was here is no longer: %s", e.at, bad[0].msg)
	}
	prefix := ""
	if h.prefix {
		prefix = e.name + "/"
	}
	return s.records(prefix, e.at), nil
}

// records are the paragraphs. A title that comes again gets its number behind it.
func (s hotpotSample) records(prefix string, at yamlpos.Pos) []*record {
	taken := map[string]bool{}
	var records []*record
	for _, p := range s.paragraphs {
		id := p.title
		for n := 2; taken[id]; n++ {
			id = fmt.Sprintf("%s#%d", p.title, n)
		}
		taken[id] = true
		records = append(records, &record{Record: prompt.Record{Role: "tool", Text: p.text()}, id: prefix + id, at: at, idAt: at})
	}
	return records
}

// sampleName is an id that can name a run and its folder.
var sampleName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// parseHotpot reads one item in either shape, or says all that is wrong with it.
func parseHotpot(raw []byte) (hotpotSample, []fault) {
	if f := checkJSON(raw, "the sample is cut short"); f != nil {
		return hotpotSample{}, []fault{*f}
	}
	p := hotpotParser{}
	fields := p.fields(value{raw, 0}, "", "question", "answer", "context", "supporting_facts")
	if fields == nil {
		return hotpotSample{}, p.bad
	}
	s := hotpotSample{
		question:   p.text(fields["question"], "question"),
		answer:     p.text(fields["answer"], "answer"),
		paragraphs: p.paragraphs(fields["context"]),
		facts:      p.facts(fields["supporting_facts"]),
	}
	for _, key := range []string{"id", "_id"} {
		if v, ok := fields[key]; ok {
			if s.id = p.text(v, key); !sampleName.MatchString(s.id) {
				p.complain(v, key, "found %q, want a name of letters, digits, . _ and -", s.id)
			}
		}
	}
	return s, p.bad
}

// hotpotParser reads values and collects all that is wrong with them.
type hotpotParser struct{ bad []fault }

func (p *hotpotParser) complain(v value, field, format string, args ...any) {
	p.bad = append(p.bad, fault{v.at, field, fmt.Sprintf(format, args...)})
}

// fields are an object's members, nil when it is no object or lacks a required one.
func (p *hotpotParser) fields(v value, field string, required ...string) map[string]value {
	if v.raw[0] != '{' {
		p.complain(v, field, "found %s, want an object with %s", v.kind(), strings.Join(required, ", "))
		return nil
	}
	fields := map[string]value{}
	for key, member := range v.members() {
		fields[key.text()] = member
	}
	complete := fields
	for _, name := range required {
		if _, ok := fields[name]; !ok {
			p.complain(v, field, "%s is missing: want %s", name, strings.Join(required, ", "))
			complete = nil
		}
	}
	return complete
}

func (p *hotpotParser) text(v value, field string) string {
	if !v.isString() {
		p.complain(v, field, "found %s, want a string", v.kind())
		return ""
	}
	return v.text()
}

// number reads a sentence's index.
func (p *hotpotParser) number(v value, field string) int {
	n, err := strconv.Atoi(string(v.raw))
	if err != nil {
		p.complain(v, field, "found %s, want a whole number", v.raw[:min(len(v.raw), 40)])
	}
	return n
}

func (p *hotpotParser) list(v value, field string) []value {
	if v.raw[0] != '[' {
		p.complain(v, field, "found %s, want a list", v.kind())
		return nil
	}
	var list []value
	for e := range v.elements() {
		list = append(list, e)
	}
	return list
}

// pairs reads [[a, b], …] or {first: [a, …], second: [b, …]}.
func (p *hotpotParser) pairs(v value, field, first, second string) [][2]value {
	if v.raw[0] == '{' {
		return p.columns(v, field, first, second)
	}
	var pairs [][2]value
	for _, e := range p.list(v, field) {
		pair := p.list(e, field)
		if pair != nil && len(pair) != 2 {
			p.complain(e, field, "found a list of %d, want a pair of %s and %s", len(pair), first, second)
			continue
		}
		if pair != nil {
			pairs = append(pairs, [2]value{pair[0], pair[1]})
		}
	}
	return pairs
}

func (p *hotpotParser) columns(v value, field, first, second string) [][2]value {
	fields := p.fields(v, field, first, second)
	if fields == nil {
		return nil
	}
	as, bs := p.list(fields[first], field+"."+first), p.list(fields[second], field+"."+second)
	if len(as) != len(bs) {
		p.complain(v, field, "found %d in %s and %d in %s, want as many", len(as), first, len(bs), second)
		return nil
	}
	var pairs [][2]value
	for i := range as {
		pairs = append(pairs, [2]value{as[i], bs[i]})
	}
	return pairs
}

func (p *hotpotParser) paragraphs(v value) []paragraph {
	var paragraphs []paragraph
	for _, pair := range p.pairs(v, "context", "title", "sentences") {
		at := paragraph{title: p.text(pair[0], "context")}
		for _, s := range p.list(pair[1], "context") {
			at.sentences = append(at.sentences, p.text(s, "context"))
		}
		paragraphs = append(paragraphs, at)
	}
	if len(paragraphs) == 0 && len(p.bad) == 0 {
		p.complain(v, "context", "has no paragraphs")
	}
	return paragraphs
}

func (p *hotpotParser) facts(v value) []fact {
	var facts []fact
	for _, pair := range p.pairs(v, "supporting_facts", "title", "sent_id") {
		facts = append(facts, fact{p.text(pair[0], "supporting_facts"), p.number(pair[1], "supporting_facts")})
	}
	return facts
}
