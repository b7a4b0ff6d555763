package corpus

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/poimen-memory/mem/harness/spec/yamlpos"
)

// From is the data set of task qa. A jsonl is what `mem corpus import` writes of one.
type From struct {
	Format string // one of FromFormats
	Path   string
	Labels string // of a jsonl: the labels file with its questions
}

// FromFormats are what From.Format may be: data sets whose records say what they say by
// themselves, in whatever order. Turns of a talk do not.
func FromFormats() []string { return []string{"hotpotqa", "jsonl", "musique", "squad"} }

func (f From) check() error {
	switch {
	case !slices.Contains(FromFormats(), f.Format):
		return fmt.Errorf("format: %s", yamlpos.OneOf(f.Format, FromFormats()))
	case f.Path == "":
		return errors.New("path: want the file of a data set")
	case (f.Format == "jsonl") != (f.Labels != ""):
		return errors.New("labels: want a labels file with format jsonl, and with no other")
	}
	return nil
}

// digest tells texts apart.
type digest [16]byte

func digestOf(text string) digest {
	sum := sha256.Sum256([]byte(text))
	return digest(sum[:16])
}

// library is the documents of a data set and its questions with evidence. It holds where
// each document stands, about 100 bytes, and not its text.
type library struct {
	from      From
	parts     []part
	shelves   [][]int // the documents of each part
	docs      []document
	questions []question
	asked     int // questions, those without evidence too
}

// document is a record whose text no other one has. They are numbered in the file's order.
type document struct {
	part, record int // which one it is of its part, from 0
	tokens       int // what it adds to a session
	text         digest
	same         digest // two documents with the same are not in one session
}

type question struct {
	Query
	part int
	gold []goldDocument
}

// goldDocument has its evidence.
type goldDocument struct {
	doc   int
	spans []span
}

// library reads the whole data set.
func (l *loader) library(ctx context.Context) (*library, error) {
	from := l.Synth.From
	cfg := Config{ID: l.ID, Path: from.Path, Format: from.Format, Labels: from.Labels}
	labels, err := cfg.readLabels()
	if err != nil {
		return nil, err
	}
	lib := &library{from: from}
	if lib.parts, err = parts(ctx, cfg); err != nil {
		return nil, err
	}
	b := shelving{library: lib, meter: meter{l.Prompts}, known: map[digest]int{}}
	var asked []Asked
	for i, p := range lib.parts {
		e := newEvidence(cfg.Queries, p.own)
		if err := b.part(ctx, i, &e); err != nil {
			return nil, err
		}
		asked = append(asked, e.list...)
	}
	lib.asked = len(asked)
	return lib, labels.judge(asked)
}

// shelving is a library that is being made.
type shelving struct {
	*library
	meter
	known map[digest]int
}

// part takes the documents of part i, and its questions that have evidence in them.
func (b *shelving) part(ctx context.Context, i int, e *evidence) error {
	b.shelves = append(b.shelves, nil)
	gold := make([][]goldDocument, len(e.list))
	n := 0
	err := each(ctx, b.parts[i], func(r *record) {
		if r.skipped == "" {
			e.find(r)
			doc := b.document(i, n, r)
			for _, s := range r.spans {
				gold[s.query] = mark(gold[s.query], doc, b.evidence(r, s))
			}
		}
		n++
	})
	for j, q := range e.list {
		if q.Labels = nil; gold[j] != nil { // they name records by ids that a session has not
			b.questions = append(b.questions, question{q.Query, i, gold[j]})
		}
	}
	return err
}

// document is the number of the document that a record is.
func (b *shelving) document(part, n int, r *record) int {
	text := digestOf(r.Text)
	doc, ok := b.known[text]
	if !ok {
		doc = len(b.docs)
		b.known[text] = doc
		same := text
		if b.from.Format == "hotpotqa" { // whose facts name documents by their titles
			title, _, _ := strings.Cut(r.Text, "\n")
			same = digestOf(title)
		}
		b.docs = append(b.docs, document{part, n, b.cost(r.Role, r.Text), text, same})
	}
	b.shelves[part] = append(b.shelves[part], doc)
	return doc
}

// evidence of a squad question is the paragraph that has its answer: the answer alone, a
// word or a number, says nothing.
func (b *shelving) evidence(r *record, s span) span {
	if b.from.Format == "squad" {
		s.from, s.to = 0, len(r.Text)
	}
	return s
}

// mark adds evidence, once: the same document may come again.
func mark(gold []goldDocument, doc int, s span) []goldDocument {
	i := slices.IndexFunc(gold, func(g goldDocument) bool { return g.doc == doc })
	if i < 0 {
		return append(gold, goldDocument{doc, []span{s}})
	}
	if !slices.Contains(gold[i].spans, s) {
		gold[i].spans = append(gold[i].spans, s)
	}
	return gold
}

// read is documents by their numbers, each with its text. It passes over the file once, for
// a compressed one cannot be read here and there.
func (lib *library) read(docs []int) (map[int]*record, error) {
	found := make(map[int]*record, len(docs))
	for left := slices.Sorted(slices.Values(docs)); len(left) > 0; {
		part, n := lib.docs[left[0]].part, 1
		for n < len(left) && lib.docs[left[n]].part == part {
			n++
		}
		if err := lib.take(part, left[:n], found); err != nil {
			return nil, err
		}
		left = left[n:]
	}
	return found, nil
}

// take reads documents of one part.
func (lib *library) take(part int, docs []int, found map[int]*record) error {
	n := 0
	for r, err := range lib.parts[part].read() {
		if err != nil {
			return err
		}
		if want := lib.docs[docs[0]]; n == want.record && digestOf(r.Text) == want.text {
			found[docs[0]], docs = r, docs[1:]
		}
		if len(docs) == 0 {
			return nil
		}
		n++
	}
	return fmt.Errorf("%s changed while it was in use: it is no longer what documents were drawn from", lib.from.Path)
}
