package synth

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/dataset"
)

// quiz is one sample of task qa.
type quiz struct {
	question
	lib    *library
	name   string
	tokens int
	depth  string // as in Config
	seed   random
	order  []int // the documents of the session
	first  int   // the place of the first gold one
}

// quizzes makes samples. Which question one asks does not depend on how many there are.
func (s Config) quizzes(ctx context.Context, cfg corpus.Config) (func(tokens, n int) (corpus.Source, error), error) {
	lib, err := s.From.library(ctx, cfg.ID, meter{cfg.Prompts})
	if err != nil {
		return nil, err
	}
	if s.Samples > len(lib.questions) {
		return nil, wrong("samples", "found %d, want at most %d: so many of the %d questions in %s have evidence",
			s.Samples, len(lib.questions), lib.asked, s.From.Path)
	}
	drawn := random(uint64(s.Seed)).of(0)
	order := drawn.shuffle(len(lib.questions), s.Samples)
	return func(tokens, n int) (corpus.Source, error) {
		q := &quiz{question: lib.questions[order[n]], lib: lib, name: s.name(tokens, n),
			tokens: tokens, depth: s.Depth, seed: s.seed(tokens, n)}
		if err := q.fill(); err != nil {
			return corpus.Source{}, err
		}
		return q.source(), ctx.Err()
	}, nil
}

// fill draws the distractors, the question's own first, and places all.
func (q *quiz) fill() error {
	draw := q.seed.of(streamTask)
	f := filling{lib: q.lib, used: map[corpus.Digest]bool{}, left: q.tokens}
	for _, g := range q.gold {
		f.add(g.doc)
	}
	gold := f.docs
	f.docs, f.whole = nil, f.left
	f.draw(&draw, q.own())
	f.draw(&draw, q.lib.all())
	switch {
	case len(f.docs) == 0:
		return wrong("tokens", "found %d, want at least the %d tokens of the gold documents of question %s and one distractor", q.tokens, q.tokens-f.whole, q.ID)
	case !f.full && f.left > 0:
		return wrong("tokens", "found %d, want at most %d, all that the documents of %s come to, each once; or a longer file",
			q.tokens, q.tokens-f.left, q.lib.from.Path)
	}
	q.place(gold, shuffled(&draw, f.docs))
	return nil
}

// own are the documents that came with the question, if not all came together.
func (q *quiz) own() []int {
	if !dataset.Sampled(q.lib.from.Format) {
		return nil
	}
	return q.lib.contents[q.sourceIndex]
}

func (lib *library) all() []int {
	all := make([]int, len(lib.docs))
	for i := range all {
		all[i] = i
	}
	return all
}

func shuffled(r *random, list []int) []int {
	order := r.shuffle(len(list), len(list))
	for i, n := range order {
		order[i] = list[n]
	}
	return order
}

// filling is a session that is being filled with documents.
type filling struct {
	lib    *library
	used   map[corpus.Digest]bool
	docs   []int
	left   int // tokens that are not used
	whole  int // tokens beside the gold documents
	missed int // documents in a row that did not fit
	full   bool
}

// misses is how many documents in a row have to be too long before no more are tried.
const misses = 16

// draw adds documents of a list in a random order as long as they fit.
func (f *filling) draw(r *random, list []int) {
	for _, doc := range shuffled(r, list) {
		switch d := f.lib.docs[doc]; {
		case f.missed == misses:
			return
		case f.used[d.same] || d.tokens > f.whole:
		case d.tokens > f.left:
			f.missed++
			f.full = true
		default:
			f.missed = 0
			f.add(doc)
		}
	}
}

func (f *filling) add(doc int) {
	d := f.lib.docs[doc]
	f.used[d.same] = true
	f.left -= d.tokens
	f.docs = append(f.docs, doc)
}

// place draws where the gold documents stand, and which of them where.
func (q *quiz) place(gold, others []int) {
	draw := q.seed.of(streamPlace)
	n := len(gold) + len(others)
	at := positions{draw: &draw, n: n, taken: map[int]int{}}
	at.put(shuffled(&draw, gold), q.depth)
	q.first = n
	for i := range n {
		doc, ok := at.taken[i]
		if ok {
			q.first = min(q.first, i)
		} else {
			doc, others = others[0], others[1:]
		}
		q.order = append(q.order, doc)
	}
}

// positions are those of a session of n documents, and which gold document each holds.
type positions struct {
	draw  *random
	n     int
	taken map[int]int
}

// put places gold documents at a depth, as in Config: side by side if it is fixed.
func (p positions) put(gold []int, depth string) {
	uniform, grid := p.draw.shuffle(p.n, len(gold)), p.draw.shuffle(gridDepths, gridDepths)
	percent, err := strconv.ParseFloat(depth, 64)
	for i, doc := range gold {
		at := uniform[i]
		switch {
		case depth == "grid":
			at = grid[i%gridDepths] * (p.n - 1) / (gridDepths - 1)
		case err == nil: // else it is uniform
			at = int(percent / 100 * float64(p.n-1))
		}
		p.taken[p.free(at)] = doc
	}
}

// free is the place nearest to one that nothing has taken yet.
func (p positions) free(at int) int {
	for away := 0; ; away++ {
		for _, near := range []int{at + away, at - away} {
			if _, taken := p.taken[near]; !taken && 0 <= near && near < p.n {
				return near
			}
		}
	}
}

func (q *quiz) source() corpus.Source {
	depth := 100 * float64(q.first) / float64(len(q.order)-1)
	return corpus.Source{Name: q.name, Records: q.read, Queries: []corpus.SourceQuery{{Query: q.Query}},
		Warnings: q.lib.sources[q.sourceIndex].Warnings, Tokens: q.tokens, Depth: depth}
}

// read holds the text of the session: about 4 bytes a token.
func (q *quiz) read() iter.Seq2[*corpus.Record, error] {
	return func(yield func(*corpus.Record, error) bool) {
		texts, err := q.lib.read(q.order)
		if err != nil {
			yield(nil, err)
			return
		}
		gold, own := 0, q.own()
		for _, doc := range q.order {
			r := texts[doc]
			r.ID, r.Gold = "", q.evidence(doc)
			switch {
			case r.Gold != nil:
				gold++
				r.ID = fmt.Sprintf("gold-%d", gold)
			case slices.Contains(own, doc):
				r.Hard = []corpus.Span{{To: len(r.Text)}}
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

// evidence is the evidence in a document, nil for a distractor.
func (q *quiz) evidence(doc int) (spans []corpus.Span) {
	for _, g := range q.gold {
		for _, s := range g.spans {
			if g.doc == doc {
				spans = append(spans, s)
			}
		}
	}
	return spans
}
