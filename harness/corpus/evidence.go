package corpus

import (
	"cmp"
	"crypto/sha256"
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

// span is evidence of a query in a record: the bytes from..to of its text.
type span struct {
	query    int
	from, to int
}

// imported is a query that came with the data, and its evidence.
type imported struct {
	Query
	gold []gold
}

// gold is evidence in every record with a certain text: the same paragraph may come up in
// several samples.
type gold struct {
	text     [sha256.Size]byte // digest of the record's text
	from, to int
}

// evidence finds the labels of queries in records, and marks the chunks that hold them.
type evidence struct {
	list    []Asked
	byID    map[string][]place // labels that name a record
	matches []place            // labels that do not
	byText  map[[sha256.Size]byte][]span
}

// place is a label of a query, by their indices.
type place struct {
	query, label int
	Label
}

func newEvidence(queries []Query, own []imported) evidence {
	e := evidence{byID: map[string][]place{}, byText: map[[sha256.Size]byte][]span{}}
	for _, q := range queries {
		e.ask(q)
	}
	for _, q := range own {
		for _, g := range q.gold {
			e.byText[g.text] = append(e.byText[g.text], span{len(e.list), g.from, g.to})
		}
		e.ask(q.Query)
	}
	return e
}

func (e *evidence) ask(q Query) {
	for j, l := range q.Labels {
		if at := (place{len(e.list), j, l}); l.ID == "" {
			e.matches = append(e.matches, at)
		} else {
			e.byID[l.ID] = append(e.byID[l.ID], at)
		}
	}
	e.list = append(e.list, Asked{Query: q, Hits: make([]int, len(q.Labels))})
}

// find notes the evidence in a record.
func (e *evidence) find(r *record) {
	if r.id != "" {
		for _, l := range e.byID[r.id] {
			e.label(r, l)
		}
	}
	for _, l := range e.matches {
		e.match(r, l)
	}
	if len(e.byText) > 0 {
		r.spans = append(r.spans, e.byText[sha256.Sum256([]byte(r.Text))]...)
	}
	r.spans = merge(r.spans)
}

// label notes what a label marks in the record that it names.
func (e *evidence) label(r *record, l place) {
	if l.Match != "" {
		e.match(r, l)
		return
	}
	e.list[l.query].Hits[l.label]++
	r.spans = append(r.spans, span{l.query, 0, len(r.Text)})
}

// match finds every place of a label's text, overlapping ones too: two places that
// overlap are as ambiguous as two that do not.
func (e *evidence) match(r *record, l place) {
	n := 0
	for from := range places(r.Text, l.Match) {
		if n++; l.Nth == 0 || n == l.Nth {
			e.list[l.query].Hits[l.label]++
			r.spans = grow(r.spans, span{l.query, from, from + len(l.Match)})
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
func merge(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.query, b.query), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	var merged []span
	for _, s := range spans {
		merged = grow(merged, s)
	}
	return merged
}

// grow adds a span, or makes the last one longer when the two overlap.
func grow(spans []span, s span) []span {
	if n := len(spans) - 1; n >= 0 && spans[n].query == s.query && spans[n].from <= s.from && s.from < spans[n].to {
		spans[n].to = max(spans[n].to, s.to)
		return spans
	}
	return append(spans, s)
}

// mark notes the evidence that the pieces of a chunk show.
func (e *evidence) mark(chunk int, pieces []piece) {
	for _, p := range pieces {
		for _, s := range p.spans {
			from, to := max(s.from, p.from), min(s.to, p.to)
			// The label of a whole record without text is shown where the record is.
			if from < to || s.from == s.to && p.from == p.to {
				e.list[s.query].mark(chunk, p.Text[from:to], s.from < p.from)
			}
		}
	}
	for _, p := range pieces {
		for _, s := range p.hard {
			if max(s.from, p.from) < min(s.to, p.to) {
				e.list[s.query].markHard(chunk)
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
