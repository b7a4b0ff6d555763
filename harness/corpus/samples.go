package corpus

import (
	"context"
	"fmt"
	"iter"
	"regexp"
	"strconv"

	"github.com/poimen-memory/mem/harness/spec/yamlpos"
)

// part is a session before it is read: a whole file, or a sample of one.
type part struct {
	name     string // of the sample; "" when it is the whole file
	read     source
	own      []imported
	warnings []string
	tokens   int     // of a synthetic one: its length at most
	depth    float64 // and where its first needle stands, in percent
}

// join makes one part of all: ids are SAMPLE/ID.
func join(parts []part) part {
	all := part{read: func() iter.Seq2[*record, error] {
		return func(yield func(*record, error) bool) {
			for _, p := range parts {
				if !p.passOn(yield) {
					return
				}
			}
		}
	}}
	for _, p := range parts {
		for _, q := range p.own {
			all.own = append(all.own, q.within(p.name))
		}
		all.warnings = append(all.warnings, p.warnings...)
	}
	return all
}

func (p part) passOn(yield func(*record, error) bool) bool {
	for r, err := range p.read() {
		if err == nil && r.id != "" {
			r.id = within(p.name, r.id)
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
func (q imported) within(sample string) imported {
	labels := make([]Label, len(q.Labels))
	for i, l := range q.Labels {
		l.ID = within(sample, l.ID)
		labels[i] = l
	}
	q.Labels = labels
	return q
}

// sampled is a format whose file is a list of samples, each a session with its queries.
type sampled struct {
	within string // key of the list, when it stands in an object
	parse  func(*parser, value) sample
}

// sample is what one element of a file becomes.
type sample struct {
	id, idField string // its own name and where that stands, "" without one
	records     []*record
	asked       []imported // a query without an ID is named as the sample
	notes       []string   // what its labels point to and is not there
}

// entry is what is kept of a sample: where it is in the file, and its queries.
type entry struct {
	name     string // the sample's own id, or its number
	idField  string
	offset   int64
	size     int
	at       yamlpos.Pos
	asked    []imported
	warnings []string
}

// parts reads the whole file, refuses what is wrong with it, and keeps no record.
func (f sampled) parts(ctx context.Context, l *loader) ([]part, error) {
	entries, err := f.index(ctx, l)
	if err != nil {
		return nil, err
	}
	var parts []part
	file := &byOffset{path: l.Path}
	for _, e := range entries {
		parts = append(parts, part{name: e.name, read: sampleSource{f, file, e}.records, own: e.asked, warnings: e.warnings})
	}
	return parts, nil
}

func (f sampled) index(ctx context.Context, l *loader) ([]entry, error) {
	var entries []entry
	var bad faults
	for it, err := range (jsonFile{l.Path, f.within}).items() {
		if err == nil {
			var e entry
			if e, err = f.entry(it); err == nil {
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

// entry is what is kept of an item.
func (f sampled) entry(it item) (entry, error) {
	s, bad := f.sample(it.raw)
	if len(bad) > 0 {
		return entry{}, it.complain(bad)
	}
	e := entry{name: s.id, idField: s.idField, offset: it.offset, size: len(it.raw), at: it.at, asked: s.asked}
	for _, n := range s.notes {
		e.warnings = append(e.warnings, fmt.Sprintf("%s: %s", it.at, n))
	}
	return e, nil
}

// sample reads one item, or says all that is wrong with it.
func (f sampled) sample(raw []byte) (sample, []fault) {
	if f := checkJSON(raw, "the sample is cut short"); f != nil {
		return sample{}, []fault{*f}
	}
	p := &parser{}
	s := f.parse(p, value{raw, 0})
	return s, p.bad
}

// name gives a number to samples without an id. The error is a yamlpos.Errors: a name
// that comes twice, of a sample or of a query.
func (l *loader) name(entries []entry) error {
	samples, queries := map[string]string{}, map[string]string{}
	for _, q := range l.Queries {
		queries[q.ID] = "the query of that id in the spec"
	}
	var es yamlpos.Errors
	for i := range entries {
		e := &entries[i]
		if e.name == "" {
			e.name = fmt.Sprintf("%0*d", len(strconv.Itoa(len(entries))), i+1)
		}
		es = append(es, e.claim(samples, queries)...)
	}
	if len(es) == 0 {
		return nil
	}
	return es
}

// claim takes the names of a sample and its queries.
func (e *entry) claim(samples, queries map[string]string) (es yamlpos.Errors) {
	by := "the sample on line " + strconv.Itoa(e.at.Line)
	taken := samples[e.name]
	samples[e.name] = by
	for i := range e.asked {
		q := &e.asked[i]
		other := queries[q.ID]
		if q.ID == "" {
			q.ID = e.name
			if taken == "" {
				taken = queries[q.ID]
			}
		} else if other != "" {
			es = append(es, &yamlpos.Error{Pos: e.at, Msg: fmt.Sprintf("the query's id %q is taken by %s", q.ID, other)})
		}
		queries[q.ID] = "a query of " + by
	}
	if taken != "" {
		es = append(es, &yamlpos.Error{Pos: e.at, Path: e.idField, Msg: fmt.Sprintf("the sample's name %q is taken by %s", e.name, taken)})
	}
	return es
}

// sampleSource reads the records of a sample again.
type sampleSource struct {
	format sampled
	file   *byOffset
	entry  entry
}

func (s sampleSource) records() iter.Seq2[*record, error] {
	return func(yield func(*record, error) bool) {
		records, err := s.again()
		if err != nil {
			yield(nil, err)
			return
		}
		for _, r := range records {
			r.at, r.idAt = s.entry.at, s.entry.at
			if !yield(r, nil) {
				return
			}
		}
	}
}

func (s sampleSource) again() ([]*record, error) {
	raw, err := s.file.read(s.entry.offset, s.entry.size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.entry.at, err)
	}
	read, bad := s.format.sample(raw)
	if len(bad) > 0 {
		return nil, fmt.Errorf("%s: the sample that was here is no longer: %s", s.entry.at, bad[0].msg)
	}
	return read.records, nil
}

// sampleName is an id that can name a run and its folder.
var sampleName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// taken gives records ids of their own: one that comes again gets its number behind it.
type taken map[string]bool

func (t taken) id(want string) string {
	id := want
	for n := 2; t[id]; n++ {
		id = fmt.Sprintf("%s#%d", want, n)
	}
	t[id] = true
	return id
}
