package corpus

import (
	"cmp"
	"iter"
	"slices"
	"strings"
)

// Asked is a query with what is known of it in one session.
type Asked struct {
	Query
	Evidence []Evidence // by chunk; one entry a chunk
	Hits     []int      // how often each label matched in the session
	Hard     []int      // chunks without evidence that state something of another key; of a synthetic query
	Cut      []int      // chunks that begin within a label, which the chunk before them shows too
}

// Evidence is what a chunk holds of a query's labels.
type Evidence struct {
	Chunk   int    // the turn that shows it, from 1
	Excerpt string // the labels' bytes that fall into the chunk, a newline between two places
}

// Last is the chunk with the last evidence, t* of the exit gate; 0 without any.
func (a Asked) Last() int {
	if len(a.Evidence) == 0 {
		return 0
	}
	return a.Evidence[len(a.Evidence)-1].Chunk
}

// Finder finds the evidence of queries in the records of one session.
type Finder struct {
	list    []Asked
	own     int                // index of the source's first query in list
	byID    map[string][]place // labels that name a record
	matches []place            // labels that do not
	byText  map[Digest][]Span
}

// place is a label of a query, by their indices.
type place struct {
	query, label int
	Label
}

// NewFinder looks for the evidence of queries, and then of the source's own ones.
func NewFinder(queries []Query, own []SourceQuery) *Finder {
	e := &Finder{own: len(queries), byID: map[string][]place{}, byText: map[Digest][]Span{}}
	for _, q := range queries {
		e.ask(q)
	}
	for _, q := range own {
		for _, g := range q.Gold {
			e.byText[g.Text] = append(e.byText[g.Text], Span{len(e.list), g.From, g.To})
		}
		e.ask(q.Query)
	}
	return e
}

func (e *Finder) ask(q Query) {
	for j, l := range q.Labels {
		if at := (place{len(e.list), j, l}); l.ID == "" {
			e.matches = append(e.matches, at)
		} else {
			e.byID[l.ID] = append(e.byID[l.ID], at)
		}
	}
	e.list = append(e.list, Asked{Query: q, Hits: make([]int, len(q.Labels))})
}

// Asked are the queries with what was found of their labels so far.
func (e *Finder) Asked() []Asked { return e.list }

// Find returns the evidence in a record, sorted by query and position. Span.Query counts
// Asked.
func (e *Finder) Find(r *Record) []Span {
	r.found = nil
	for _, s := range r.Gold {
		r.found = append(r.found, Span{e.own + s.Query, s.From, s.To})
	}
	if r.ID != "" {
		for _, l := range e.byID[r.ID] {
			e.label(r, l)
		}
	}
	for _, l := range e.matches {
		e.match(r, l)
	}
	if len(e.byText) > 0 {
		r.found = append(r.found, e.byText[DigestOf(r.Text)]...)
	}
	r.found = merge(r.found)
	return r.found
}

// label notes what a label marks in the record that it names.
func (e *Finder) label(r *Record, l place) {
	if l.Match != "" {
		e.match(r, l)
		return
	}
	e.list[l.query].Hits[l.label]++
	r.found = append(r.found, Span{l.query, 0, len(r.Text)})
}

// match finds every place of a label's text, overlapping ones too: two places that
// overlap are as ambiguous as two that do not.
func (e *Finder) match(r *Record, l place) {
	n := 0
	for from := range places(r.Text, l.Match) {
		if n++; l.Nth == 0 || n == l.Nth {
			e.list[l.query].Hits[l.label]++
			r.found = grow(r.found, Span{l.query, from, from + len(l.Match)})
		}
	}
}

// places are the offsets at which a text stands in another, overlapping ones too.
func places(text, match string) iter.Seq[int] {
	return func(yield func(int) bool) {
		for from := 0; ; from++ {
			i := strings.Index(text[from:], match)
			if from += i; i < 0 || !yield(from) {
				return
			}
		}
	}
}

// merge sorts spans by query and place and joins those of a query that overlap, so that
// an excerpt says nothing twice.
func merge(spans []Span) []Span {
	slices.SortFunc(spans, func(a, b Span) int {
		return cmp.Or(cmp.Compare(a.Query, b.Query), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	var merged []Span
	for _, s := range spans {
		merged = grow(merged, s)
	}
	return merged
}

// grow adds a span, or makes the last one longer when the two overlap.
func grow(spans []Span, s Span) []Span {
	if n := len(spans) - 1; n >= 0 && spans[n].Query == s.Query && spans[n].From <= s.From && s.From < spans[n].To {
		spans[n].To = max(spans[n].To, s.To)
		return spans
	}
	return append(spans, s)
}

// mark notes the evidence that the pieces of a chunk show.
func (e *Finder) mark(chunk int, pieces []piece) {
	for _, p := range pieces {
		for _, s := range p.found {
			from, to := max(s.From, p.from), min(s.To, p.to)
			// The label of a whole record without text is shown where the record is.
			if from < to || s.From == s.To && p.from == p.to {
				e.list[s.Query].mark(chunk, p.Text[from:to], s.From < p.from)
			}
		}
	}
	for _, p := range pieces {
		for _, s := range p.Hard {
			if max(s.From, p.from) < min(s.To, p.to) {
				e.list[e.own+s.Query].markHard(chunk)
			}
		}
	}
}

func (a *Asked) markHard(chunk int) {
	if a.Last() != chunk && (len(a.Hard) == 0 || a.Hard[len(a.Hard)-1] != chunk) {
		a.Hard = append(a.Hard, chunk)
	}
}

func (a *Asked) mark(chunk int, excerpt string, cut bool) {
	if cut && !slices.Contains(a.Cut, chunk) {
		a.Cut = append(a.Cut, chunk)
	}
	if a.Last() != chunk {
		a.Evidence = append(a.Evidence, Evidence{Chunk: chunk, Excerpt: strings.Clone(excerpt)})
		return
	}
	last := &a.Evidence[len(a.Evidence)-1]
	last.Excerpt += "\n" + excerpt
}
