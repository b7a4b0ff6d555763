package corpus

import (
	"context"
	"encoding/json"
	"io"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/prompt"
)

// Written describes a session that was written.
type Written struct {
	Records    int
	Roles      map[string]int // records by role
	Tokens     int            // of all records, each rendered alone
	Queries    []Query        // of the source, with labels that name the records written
	Unlabelled int            // queries without evidence
	Labels     int            // of all queries
	Skipped    []Counted      // what is not imported, by file and kind
	Notes      []Counted      // in what the records differ from their source, without loss
	Warnings   diag.Errors    // labels of the source that point to what does not exist
}

// Write writes the records of a session as JSONL while it reads them: only ids and labels stay
// in memory. file names the source in errors.
func Write(ctx context.Context, s Source, file string, counter prompt.Counter, out io.Writer) (*Written, error) {
	w := &writer{
		Written: &Written{Roles: map[string]int{}, Notes: s.Notes, Warnings: s.Warnings},
		counter: counter, finder: NewFinder(nil, s.Queries), labels: make([][]Label, len(s.Queries)), out: NewEncoder(out),
	}
	if err := s.Each(ctx, w.add); err != nil {
		return nil, err
	}
	if w.Records == 0 {
		return nil, noRecords(file, "", w.skipped.sorted())
	}
	return w.finish(), nil
}

type writer struct {
	*Written
	counter prompt.Counter
	finder  *Finder
	labels  [][]Label // by query
	out     Encoder
	skipped counts
}

func (w *writer) add(r *Record) error {
	if r.Skipped != "" {
		w.skipped.add(r.Skipped, 1, r.At)
		return nil
	}
	for _, s := range w.finder.Find(r) {
		w.labels[s.Query] = append(w.labels[s.Query], r.LabelOf(s.From, s.To))
	}
	w.Records++
	w.Roles[r.Role]++
	w.Tokens += w.counter.Count(prompt.Render(r.Record))
	return w.out.Encode(r.Role, r.Text, r.ID)
}

func (w *writer) finish() *Written {
	for i, q := range w.finder.Asked() {
		q.Query.Labels = w.labels[i]
		if w.Labels += len(w.labels[i]); len(w.labels[i]) == 0 {
			w.Unlabelled++
		}
		w.Queries = append(w.Queries, q.Query)
	}
	w.Skipped = w.skipped.sorted()
	return w.Written
}

// Encoder writes records as JSONL.
type Encoder struct{ json *json.Encoder }

// NewEncoder returns an Encoder that writes to out.
func NewEncoder(out io.Writer) Encoder {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	return Encoder{e}
}

// Encode writes a record; id may be "".
func (e Encoder) Encode(role, text, id string) error {
	return e.json.Encode(struct {
		Role string `json:"role"`
		Text string `json:"text"`
		ID   string `json:"id,omitempty"`
	}{role, text, id})
}
