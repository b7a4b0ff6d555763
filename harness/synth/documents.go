package synth

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/dataset"
	"github.com/poimen-memory/mem/harness/diag"
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
		return fmt.Errorf("format: %s", diag.OneOf(f.Format, FromFormats()))
	case f.Path == "":
		return errors.New("path: want the file of a data set")
	case (f.Format == "jsonl") != (f.Labels != ""):
		return errors.New("labels: want a labels file with format jsonl, and with no other")
	}
	return nil
}

// library is the documents of a data set and its questions with evidence. It holds where
// each document stands, about 100 bytes, and not its text.
type library struct {
	from      From
	sources   []corpus.Source
	contents  [][]int // the documents of each source
	docs      []document
	questions []question
	asked     int // questions, those without evidence too
}

// document is a record whose text no other one has. They are numbered in the file's order.
type document struct {
	source, record int // the source, and which of its records it is, from 0
	tokens         int // what it adds to a session
	text           corpus.Digest
	same           corpus.Digest // two documents with the same are not in one session
}

type question struct {
	corpus.Query
	sourceIndex int
	gold        []goldDocument
}

// goldDocument has its evidence.
type goldDocument struct {
	doc   int
	spans []corpus.Span
}

// library reads the whole data set, for a corpus named id.
func (from From) library(ctx context.Context, id string, m meter) (*library, error) {
	cfg := corpus.Config{ID: id, Path: from.Path, Reader: dataset.Reader{Format: from.Format}, Labels: from.Labels}
	labels, err := cfg.AddLabels()
	if err != nil {
		return nil, err
	}
	lib := &library{from: from}
	if lib.sources, err = cfg.Sources(ctx); err != nil {
		return nil, err
	}
	b := indexing{library: lib, meter: m, known: map[corpus.Digest]int{}}
	var asked []corpus.Asked
	for i, source := range lib.sources {
		finder := corpus.NewFinder(cfg.Queries, source.Queries)
		if err := b.add(ctx, i, finder); err != nil {
			return nil, err
		}
		asked = append(asked, finder.Asked()...)
	}
	lib.asked = len(asked)
	return lib, labels.Check(asked)
}

// indexing is a library while it is read.
type indexing struct {
	*library
	meter
	known map[corpus.Digest]int
}

// add takes the documents of source i, and its questions that have evidence in them.
func (b *indexing) add(ctx context.Context, i int, finder *corpus.Finder) error {
	b.contents = append(b.contents, nil)
	gold := make([][]goldDocument, len(finder.Asked()))
	n := 0
	err := b.sources[i].Each(ctx, func(r *corpus.Record) error {
		if r.Skipped == "" {
			doc := b.document(i, n, r)
			for _, s := range finder.Find(r) {
				gold[s.Query] = mark(gold[s.Query], doc, b.evidence(r, corpus.Span{From: s.From, To: s.To}))
			}
		}
		n++
		return nil
	})
	for j, q := range finder.Asked() {
		if q.Labels = nil; gold[j] != nil { // they name records by ids that a session has not
			b.questions = append(b.questions, question{q.Query, i, gold[j]})
		}
	}
	return err
}

// document is the number of the document that a record is.
func (b *indexing) document(source, n int, r *corpus.Record) int {
	text := corpus.DigestOf(r.Text)
	doc, ok := b.known[text]
	if !ok {
		doc = len(b.docs)
		b.known[text] = doc
		same := text
		if b.from.Format == "hotpotqa" { // whose facts name documents by their titles
			title, _, _ := strings.Cut(r.Text, "\n")
			same = corpus.DigestOf(title)
		}
		b.docs = append(b.docs, document{source, n, b.cost(r.Role, r.Text), text, same})
	}
	b.contents[source] = append(b.contents[source], doc)
	return doc
}

// evidence of a squad question is the paragraph that has its answer: the answer alone, a
// word or a number, says nothing.
func (b *indexing) evidence(r *corpus.Record, s corpus.Span) corpus.Span {
	if b.from.Format == "squad" {
		s.From, s.To = 0, len(r.Text)
	}
	return s
}

// mark adds evidence, once: the same document may come again.
func mark(gold []goldDocument, doc int, s corpus.Span) []goldDocument {
	i := slices.IndexFunc(gold, func(g goldDocument) bool { return g.doc == doc })
	if i < 0 {
		return append(gold, goldDocument{doc, []corpus.Span{s}})
	}
	if !slices.Contains(gold[i].spans, s) {
		gold[i].spans = append(gold[i].spans, s)
	}
	return gold
}

// read is documents by their numbers, each with its text. It passes over the file once, for
// a compressed one cannot be read here and there.
func (lib *library) read(docs []int) (map[int]*corpus.Record, error) {
	found := make(map[int]*corpus.Record, len(docs))
	for left := slices.Sorted(slices.Values(docs)); len(left) > 0; {
		source, n := lib.docs[left[0]].source, 1
		for n < len(left) && lib.docs[left[n]].source == source {
			n++
		}
		if err := lib.take(source, left[:n], found); err != nil {
			return nil, err
		}
		left = left[n:]
	}
	return found, nil
}

// take reads documents of one source.
func (lib *library) take(source int, docs []int, found map[int]*corpus.Record) error {
	n := 0
	for r, err := range lib.sources[source].Records() {
		if err != nil {
			return err
		}
		if want := lib.docs[docs[0]]; n == want.record && corpus.DigestOf(r.Text) == want.text {
			found[docs[0]], docs = r, docs[1:]
		}
		if len(docs) == 0 {
			return nil
		}
		n++
	}
	return fmt.Errorf("%s changed while it was in use: it is no longer what documents were drawn from", lib.from.Path)
}
