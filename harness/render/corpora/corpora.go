// Package corpora shows sessions on a terminal: what an import took, what sessions consist of,
// a chunk, which labels are proposed, and what is wrong.
package corpora

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/dataset"
	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/label"
	"github.com/poimen-memory/mem/harness/lint"
	"github.com/poimen-memory/mem/harness/render"
)

// Out is where and how to write.
type Out struct {
	io.Writer
	render.Terminal
}

func (o Out) lines(mark string, lines ...string) error { return o.Lines(o, mark, lines, 0) }

func (o Out) listing(heading string, columns ...render.Column) error {
	return o.Listing(o, heading, columns...)
}

// warningsShown is how many mistakes of the data itself are listed.
const warningsShown = 20

// warn lists the first of the data's own mistakes.
func (o Out) warn(warnings []string) error {
	if len(warnings) == 0 {
		return nil
	}
	return errors.Join(o.Lines(o, "! ", warnings, warningsShown), o.lines("", ""))
}

// Imported shows what was imported into file, and how a spec uses it: as a corpus of that id.
// tokenizer counted its tokens.
func (o Out) Imported(im *dataset.Imported, file, id, tokenizer string) error {
	written := []string{fmt.Sprintf("%s: %s, %s (%s)", file, diag.Count(im.Records, "record"), diag.Count(im.Tokens, "token"), tokenizer)}
	use := "path: " + filepath.ToSlash(file)
	if im.Queries != nil {
		labels := corpus.LabelsPath(file)
		written = append(written, fmt.Sprintf("%s: %s, %s, %d without evidence", labels,
			diag.Count(len(im.Queries), "query"), diag.Count(im.Labels, "label"), im.Unlabelled))
		use += ", labels: " + filepath.ToSlash(labels)
	}
	return errors.Join(
		o.lines("wrote ", written...),
		o.lines("", ""),
		o.listing("", counted("role", "records", im.Roles)...),
		o.positions("Not imported from ", im.Skipped),
		o.positions("Changed from ", im.Notes),
		o.warn(messages(im.Warnings)),
		o.lines("", "In the corpora of a spec, whose paths start at its folder:", fmt.Sprintf("  - {id: %s, %s}", id, use)),
	)
}

// positions lists, for each file, things with the position of the first of each kind.
func (o Out) positions(heading string, list []corpus.Counted) (err error) {
	for len(list) > 0 && err == nil {
		kinds, times, first := render.Column{Head: "what", Prose: true}, render.Column{Head: "times", Right: true}, render.Column{Head: "first"}
		file := list[0].First.File
		for len(list) > 0 && list[0].First.File == file {
			c := list[0]
			kinds.Cells, times.Cells = append(kinds.Cells, c.Kind), append(times.Cells, strconv.Itoa(c.Count))
			first.Cells = append(first.Cells, fmt.Sprintf("%d:%d", c.First.Line, c.First.Col))
			list = list[1:]
		}
		err = o.listing(heading+file, kinds, times, first)
	}
	return err
}

func messages(errs diag.Errors) (list []string) {
	for _, e := range errs {
		list = append(list, e.Error())
	}
	return list
}

// counted is a listing of how often things are.
func counted(what, times string, counts map[string]int) []render.Column {
	names, numbers := render.Column{Head: what}, render.Column{Head: times, Right: true}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		names.Cells = append(names.Cells, name)
		numbers.Cells = append(numbers.Cells, strconv.Itoa(counts[name]))
	}
	return []render.Column{names, numbers}
}

// Vocabulary is how many tokens of a vocabulary all chunks have.
type Vocabulary struct {
	Name   string
	Tokens int
}

// Statistics shows what sessions consist of.
func (o Out) Statistics(s corpus.Stats, vocabularies []Vocabulary) error {
	tokens := []render.Column{{Head: "vocabulary"}, {Head: "tokens", Right: true}}
	for _, v := range vocabularies {
		tokens[0].Cells, tokens[1].Cells = append(tokens[0].Cells, v.Name), append(tokens[1].Cells, strconv.Itoa(v.Tokens))
	}
	return errors.Join(
		o.listing("Sessions", sessionRows(s.Sessions)...),
		o.listing("Records", counted("role", "records", s.Roles)...),
		o.listing("Chunks by size", render.Histogram("tokens", "chunks", s.Sizes, "")...),
		o.listing("Chunks with evidence", render.Histogram("depth", "chunks", s.Depths, " %")...),
		o.listing("All chunks in other vocabularies", tokens...),
		o.warn(s.Warnings),
	)
}

func sessionRows(list []corpus.SessionStats) []render.Column {
	columns := []render.Column{{Head: "session"}}
	for _, head := range []string{"records", "chunks", "tokens", "p50", "p95", "p99", "max", "queries", "labelled"} {
		columns = append(columns, render.Column{Head: head, Right: true})
	}
	for _, s := range list {
		columns[0].Cells = append(columns[0].Cells, s.Name)
		for i, n := range []int{s.Records, s.Chunks, s.Tokens, s.P50, s.P95, s.P99, s.MaxTokens, s.Queries, s.Labelled} {
			columns[i+1].Cells = append(columns[i+1].Cells, strconv.Itoa(n))
		}
	}
	return columns
}

// Chunk shows chunk n of a session as a model sees it, with the evidence in it.
func (o Out) Chunk(s *corpus.Session, n int) error {
	chunk, err := s.Chunk(n)
	if err != nil {
		return err
	}
	head := fmt.Sprintf("%s, chunk %d of %d: %s, %s", s.Name(), n, s.Len(),
		diag.Count(chunk.Records, "record"), diag.Count(chunk.Tokens, "token"))
	err = o.Text(o, head, chunk.Sent)
	for _, q := range s.Queries() {
		for _, e := range q.Evidence {
			if e.Chunk == n {
				err = errors.Join(err, o.Text(o, fmt.Sprintf("evidence of query %s", q.ID), e.Excerpt))
			}
		}
	}
	return err
}

// Labels shows which labels were written to file: proposed or, with accepted, as evidence.
func (o Out) Labels(file string, sought []label.Sought, found []label.Proposed, accepted bool) error {
	query, record, match := render.Column{Head: "query"}, render.Column{Head: "record"}, render.Column{Head: "match", Prose: true}
	var short []string
	n := 0
	for i, f := range found {
		id := sought[i].ID
		for _, p := range f.List {
			query.Cells, record.Cells, match.Cells = append(query.Cells, id), append(record.Cells, p.ID), append(match.Cells, p.Context)
		}
		if n += len(f.List); len(f.List) < f.All {
			short = append(short, fmt.Sprintf("query %s: the first %d of %d places, for more see --most", id, len(f.List), f.All))
		}
		if f.All == 0 {
			short = append(short, fmt.Sprintf("query %s: nothing found", id))
		}
	}
	what := "proposed: move what is right to evidence"
	if accepted {
		what = "accepted as evidence"
	}
	return errors.Join(
		o.listing("", query, record, match),
		o.lines("! ", short...),
		o.lines("wrote ", fmt.Sprintf("%s: %s %s", file, diag.Count(n, "label"), what)),
	)
}

// Redacted shows that n secrets were left out of file.
func (o Out) Redacted(file string, n int) error {
	return o.lines("wrote ", fmt.Sprintf("%s: %s taken out", file, diag.Count(n, "key")))
}

// Findings shows what is wrong with sessions and labels.
func (o Out) Findings(findings lint.Summary) error {
	if len(findings.Kinds) == 0 {
		return o.lines("", "nothing found")
	}
	kinds, times := render.Column{Head: "found"}, render.Column{Head: "times", Right: true}
	var err error
	for _, g := range findings.Kinds {
		kinds.Cells, times.Cells = append(kinds.Cells, string(g.Kind)), append(times.Cells, strconv.Itoa(g.Count))
		err = errors.Join(err, o.lines("! ", g.Lines()...))
	}
	if err == nil {
		err = o.lines("", "")
	}
	return errors.Join(err, o.listing("", kinds, times))
}
