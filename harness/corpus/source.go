package corpus

import (
	"context"
	"crypto/sha256"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/prompt"
)

// Reader finds the sessions of a corpus. It may use the ID, Path, Queries and Prompts of the
// configuration that it is part of.
type Reader interface {
	Sources(ctx context.Context, cfg Config) ([]Source, error)
}

// Source is a session that can be read: a whole file, a sample of one, or one that is
// generated.
type Source struct {
	Name     string // of the sample; "" if the session is the whole corpus
	Records  Records
	Queries  []SourceQuery
	Notes    []Counted   // in what the session differs from its source, without loss
	Warnings diag.Errors // labels of the source that point to what does not exist
	Tokens   int         // of a generated session: its length at most
	Depth    float64     // of a generated session: the position of its first needle, in percent
}

// Records reads the records of a session from the first one on, as often as it is called. A
// diag.Errors is about a record that is refused: reading goes on after it. Any other error is
// the last value.
type Records func() iter.Seq2[*Record, error]

// Record is an entry of a session with its position in the file.
type Record struct {
	prompt.Record
	ID   string
	At   diag.Pos
	IDAt diag.Pos

	Gold []Span // evidence, known to the source; Span.Query counts Source.Queries
	Hard []Span // text that looks like evidence of a query of the source but is not

	Number  int    // of a generated record, from 1: it has no line
	Filler  bool   // generated text that repeats by design
	Skipped string // if not "", the entry is not a record: what it is

	found []Span // evidence in the text; Span.Query counts the queries of a Finder
}

// Span is the bytes From..To of a record's text, which concern a query.
type Span struct{ Query, From, To int }

// SourceQuery is a query that is part of the data.
type SourceQuery struct {
	Query
	Gold []TextSpan
}

// TextSpan marks evidence in every record that has a certain text: several samples may
// contain the same paragraph.
type TextSpan struct {
	Text     Digest // of the record's text
	From, To int
}

// Digest identifies a text: the first 16 bytes of its SHA-256.
type Digest [16]byte

// DigestOf is the digest of a text.
func DigestOf(text string) Digest {
	sum := sha256.Sum256([]byte(text))
	return Digest(sum[:16])
}

// Join makes one session of several. Ids become SAMPLE/ID.
func Join(sources []Source) Source {
	all := Source{Records: func() iter.Seq2[*Record, error] {
		return func(yield func(*Record, error) bool) {
			for _, s := range sources {
				if !s.passOn(yield) {
					return
				}
			}
		}
	}}
	var notes counts
	for _, s := range sources {
		for _, q := range s.Queries {
			all.Queries = append(all.Queries, q.within(s.Name))
		}
		notes.addAll(s.Notes)
		all.Warnings = append(all.Warnings, s.Warnings...)
	}
	all.Notes = notes.sorted()
	return all
}

func (s Source) passOn(yield func(*Record, error) bool) bool {
	for r, err := range s.Records() {
		if err == nil && r.ID != "" {
			r.ID = within(s.Name, r.ID)
		}
		if !yield(r, err) {
			return false
		}
	}
	return true
}

func within(sample, id string) string {
	if sample == "" {
		return id
	}
	return sample + "/" + id
}

// within is the query with the ids that records have when samples are joined.
func (q SourceQuery) within(sample string) SourceQuery {
	labels := make([]Label, len(q.Labels))
	for i, l := range q.Labels {
		l.ID = within(sample, l.ID)
		labels[i] = l
	}
	q.Labels = labels
	return q
}

// Each calls visit for each record of a session, and for each entry that is skipped. An error
// of visit ends it. It refuses what Load refuses, with the same error.
func (s Source) Each(ctx context.Context, visit func(*Record) error) error {
	var bad diag.List
	ids := ids{}
	for r, err := range s.Records() {
		if err == nil {
			err = ids.claim(r)
		}
		if err != nil {
			err = bad.Add(err)
		} else {
			err = visit(r)
		}
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return bad.Err()
}

// contextBytes is how much text Context shows on each side.
const contextBytes = 40

// Context is the bytes from..to of the text with some text on both sides, on one line.
func (r *Record) Context(from, to int) string {
	begin, end := max(from-contextBytes, 0), min(to+contextBytes, len(r.Text))
	for begin > 0 && !utf8.RuneStart(r.Text[begin]) {
		begin--
	}
	for end < len(r.Text) && !utf8.RuneStart(r.Text[end]) {
		end++
	}
	text := strings.Join(strings.Fields(r.Text[begin:end]), " ")
	if begin > 0 {
		text = "…" + text
	}
	if end < len(r.Text) {
		text += "…"
	}
	return text
}

// LabelOf is a label for the bytes from..to of the text: the record, or a text in it.
func (r *Record) LabelOf(from, to int) Label {
	l := Label{ID: r.ID}
	if from == 0 && to == len(r.Text) {
		return l
	}
	l.Match = r.Text[from:to]
	n := 0
	for at := range places(r.Text, l.Match) {
		if n++; at == from {
			l.Nth = n
		}
	}
	if n == 1 {
		l.Nth = 0
	}
	return l
}
