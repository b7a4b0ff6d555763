package dataset

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/jsonpos"
	"github.com/poimen-memory/mem/harness/textfile"
)

// sampled is a format whose file is a list of samples, each a session with its queries.
type sampled struct {
	within string // key of the list, when it stands in an object
	lines  bool   // one sample a line; torn lines are skipped
	parse  func(*parser, jsonpos.Value) sample
}

// sample is what one element of a file becomes.
type sample struct {
	id, idField string // its own name and where that stands, "" without one
	records     []*corpus.Record
	asked       []corpus.SourceQuery // a query without an ID is named as the sample
	notes       []string             // kinds of differences between the file and the records
	warnings    []string             // what its labels point to that does not exist
}

// entry is what is kept of a sample: its place in the file, and its queries.
type entry struct {
	name     string // the sample's own id, or its number
	idField  string
	offset   int64
	size     int
	at       diag.Pos
	asked    []corpus.SourceQuery
	notes    []corpus.Counted
	warnings diag.Errors
	torn     []diag.Pos // lines beside it
}

// sources reads the whole file, refuses what is wrong with it, and keeps no records.
func (f sampled) sources(ctx context.Context, cfg corpus.Config) ([]corpus.Source, error) {
	entries, err := f.index(ctx, cfg)
	if err != nil {
		return nil, err
	}
	var sources []corpus.Source
	file := &textfile.ByOffset{Path: cfg.Path}
	for _, e := range entries {
		sources = append(sources, corpus.Source{Name: e.name, Records: sampleReader{f, file, e}.records, Queries: e.asked, Notes: e.notes, Warnings: e.warnings})
	}
	return sources, nil
}

func (f sampled) index(ctx context.Context, cfg corpus.Config) ([]entry, error) {
	var entries []entry
	var torn []diag.Pos
	var bad diag.List
	for it, err := range (jsonpos.File{Path: cfg.Path, Within: f.within, Lines: f.lines}).Items() {
		if err == nil && it.Torn {
			torn = append(torn, it.At)
			continue
		}
		if err == nil {
			var e entry
			if e, err = f.entry(it); err == nil {
				entries = append(entries, e)
			}
		}
		if err != nil && bad.Add(err) != nil {
			return nil, fmt.Errorf("corpus %s: %w", cfg.ID, err)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	if len(entries) > 0 {
		entries[0].torn = torn
	}
	bad.Add(nameSamples(entries, cfg.Queries))
	return entries, bad.Err()
}

// entry is what is kept of an item.
func (f sampled) entry(it jsonpos.Item) (entry, error) {
	s, bad := f.sample(it.Raw, it.At)
	if len(bad) > 0 {
		return entry{}, it.Errors(bad)
	}
	e := entry{name: s.id, idField: s.idField, offset: it.Offset, size: len(it.Raw), at: it.At, asked: s.asked}
	for _, kind := range s.notes {
		e.notes = append(e.notes, corpus.Counted{Kind: kind, Count: 1, First: it.At})
	}
	for _, w := range s.warnings {
		e.warnings = append(e.warnings, &diag.Error{Pos: it.At, Msg: w})
	}
	return e, nil
}

// sample reads one item, or says all that is wrong with it.
func (f sampled) sample(raw []byte, at diag.Pos) (sample, []jsonpos.Fault) {
	v, wrong := jsonpos.Parse(raw, "the sample is cut short")
	if wrong != nil {
		return sample{}, []jsonpos.Fault{*wrong}
	}
	p := &parser{jsonpos.Parser{Places: jsonpos.NewPlaces(raw, at)}}
	s := f.parse(p, v)
	return s, p.Bad
}

// nameSamples gives a number to samples without an id. The error is a diag.Errors: a name
// that occurs twice, of a sample or of a query.
func nameSamples(entries []entry, asked []corpus.Query) error {
	samples, queries := map[string]string{}, map[string]string{}
	for _, q := range asked {
		queries[q.ID] = "the query of that id in the spec"
	}
	var es diag.Errors
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
func (e *entry) claim(samples, queries map[string]string) (es diag.Errors) {
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
			es = append(es, &diag.Error{Pos: e.at, Msg: fmt.Sprintf("the query's id %q is taken by %s", q.ID, other)})
		}
		queries[q.ID] = "a query of " + by
	}
	if taken != "" {
		es = append(es, &diag.Error{Pos: e.at, Path: e.idField, Msg: fmt.Sprintf("the sample's name %q is taken by %s", e.name, taken)})
	}
	return es
}

// sampleReader reads the records of a sample again.
type sampleReader struct {
	format sampled
	file   *textfile.ByOffset
	entry  entry
}

func (s sampleReader) records() iter.Seq2[*corpus.Record, error] {
	return func(yield func(*corpus.Record, error) bool) {
		records, err := s.again()
		if err != nil {
			yield(nil, err)
			return
		}
		for _, r := range records {
			if r.At.Line == 0 {
				r.At, r.IDAt = s.entry.at, s.entry.at
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

func (s sampleReader) again() ([]*corpus.Record, error) {
	raw, err := s.file.Read(s.entry.offset, s.entry.size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.entry.at, err)
	}
	read, bad := s.format.sample(raw, s.entry.at)
	if len(bad) > 0 {
		return nil, fmt.Errorf("%s: the sample that was here is no longer: %s", s.entry.at, bad[0].Msg)
	}
	for _, at := range s.entry.torn {
		read.records = append(read.records, &corpus.Record{Skipped: "torn line", At: at})
	}
	return read.records, nil
}

// skip adds something of the sample that is not imported: its kind, and a name from the file.
func (s *sample) skip(p *parser, v jsonpos.Value, kind string, names ...string) {
	for _, name := range names {
		kind += " " + diag.Quote(name)
	}
	s.records = append(s.records, &corpus.Record{Skipped: kind, At: p.Pos(v)})
}

// rest skips the fields that are neither known nor empty.
func (s *sample) rest(p *parser, fields map[string]jsonpos.Value, of string, known ...string) {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(known, name) && !fields[name].IsEmpty() {
			s.skip(p, fields[name], "field of "+of, name)
		}
	}
}

// answer adds a right answer to a query, unless it is there already.
func (s *sample) answer(p *parser, q *corpus.SourceQuery, v jsonpos.Value, text string) {
	if strings.TrimSpace(text) == "" {
		s.skip(p, v, "empty answer")
		return
	}
	q.Answers = appendNew(q.Answers, text)
}

// unanswerable marks a query whose answer is not in the session. The given fields say
// something about an answer nevertheless, which is not imported.
func (s *sample) unanswerable(p *parser, q *corpus.SourceQuery, fields map[string]jsonpos.Value, about ...string) {
	q.Unanswerable = true
	for _, name := range about {
		if v, ok := fields[name]; ok && !v.IsEmpty() {
			s.skip(p, v, "field of an unanswerable question", name)
		}
	}
}

// tag adds a tag to a query, unless the value is "".
func tag(q *corpus.SourceQuery, name, value string) {
	if value == "" {
		return
	}
	if q.Tags == nil {
		q.Tags = map[string]string{}
	}
	q.Tags[name] = value
}

// sampleName is an id that can name a run and its folder.
var sampleName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// taken makes the ids of records unique: a repeated id gets a number, as in id#2.
type taken map[string]bool

func (t taken) id(want string) string {
	id := want
	for n := 2; t[id]; n++ {
		id = fmt.Sprintf("%s#%d", want, n)
	}
	t[id] = true
	return id
}
