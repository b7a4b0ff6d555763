// Package dataset reads published data sets and session logs as sessions of a corpus.
//
// A data set is a file of samples, each a session with its queries and their evidence:
// hotpotqa, squad (v1, v2 and rows), musique, locomo, longmemeval. Each is read in the shapes
// in which it is published. Documents become tool records; talks become user and assistant
// records with the speakers' names in the texts. A query whose answer is not in its session
// is unanswerable and has neither answers nor evidence. Categories of queries become tags.
// The logs of package chatlog, text, markdown and jsonl have no queries. Entries that do not
// become records are counted, with the position of the first of each kind.
//
// A path may also be a folder, or a pattern of filepath.Glob: its files are sessions.
//
// # HotpotQA
//
// Both published shapes are read: lists of pairs, and columns; in one JSON list, or one
// sample after another. A paragraph becomes a tool record: its title, a newline, its
// sentences unchanged; its id is the title. A sample is named by its _id, else by its number;
// so is its query, whose evidence is the supporting sentences. Joined, all samples are one
// session, ids are SAMPLE/TITLE, and the same paragraph in another sample is evidence too. A
// supporting fact that points to nothing is a warning.
package dataset

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/dataset/chatlog"
	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/jsonpos"
)

// Reader is the corpus.Reader of a format.
type Reader struct {
	Format string // one of Formats; "" is jsonl
	Join   bool   // all samples of a data set are one session with all their queries
}

// Sources finds the sessions of the file cfg.Path.
func (r Reader) Sources(ctx context.Context, cfg corpus.Config) ([]corpus.Source, error) {
	if err := r.check(); err != nil {
		return nil, fmt.Errorf("corpus %s: %w", cfg.ID, err)
	}
	sources, err := formats()[r.Format](ctx, cfg)
	if err != nil || !r.Join {
		return sources, err
	}
	return []corpus.Source{corpus.Join(sources)}, nil
}

func (r Reader) check() error {
	switch {
	case formats()[r.Format] == nil:
		return fmt.Errorf("format: %s", diag.OneOf(r.Format, Formats()))
	case r.Join && !Sampled(r.Format):
		return fmt.Errorf("join: a file of format %s is one session already", cmp.Or(r.Format, "jsonl"))
	}
	return nil
}

// A format finds the sessions of a file.
type format func(context.Context, corpus.Config) ([]corpus.Source, error)

func formats() map[string]format {
	all := map[string]format{
		"":            whole(corpus.JSONL),
		"jsonl":       whole(corpus.JSONL),
		"hotpotqa":    sampled{parse: parseHotpot}.sources,
		"squad":       sampled{within: "data", parse: parseSquad}.sources,
		"musique":     sampled{parse: parseMusique}.sources,
		"locomo":      sampled{parse: parseLoCoMo}.sources,
		"longmemeval": sampled{parse: parseLongMemEval}.sources,
		"text":        whole(textRecords),
		"markdown":    whole(markdownRecords),
	}
	for name, f := range chatlog.Formats() {
		all[name] = logged(f)
	}
	return all
}

// whole is a format whose file is one session.
func whole(records func(path string) corpus.Records) format {
	return func(_ context.Context, cfg corpus.Config) ([]corpus.Source, error) {
		return []corpus.Source{{Records: records(cfg.Path)}}, nil
	}
}

// logged is a format of logs, whose file is one session or holds several.
func logged(f chatlog.Format) format {
	conversations := func(p *parser, v jsonpos.Value) sample {
		s := f.Session(&p.Parser, v)
		return sample{id: slug(s.ID), idField: s.IDField, records: s.Records}
	}
	return func(ctx context.Context, cfg corpus.Config) ([]corpus.Source, error) {
		records, ok, err := f.Log(cfg.Path)
		switch {
		case err != nil:
			return nil, err
		case ok:
			return []corpus.Source{{Records: records}}, nil
		}
		f := sampled{parse: conversations}
		if f.lines, err = chatlog.Lines(cfg.Path); err != nil {
			return nil, err
		}
		return f.sources(ctx, cfg)
	}
}

// Formats lists what Reader.Format may name.
func Formats() []string {
	names := slices.Sorted(maps.Keys(formats()))
	return names[1:] // without ""
}

// Sampled reports whether files of a format hold samples, each a session.
func Sampled(format string) bool {
	return Labelled(format) || chatlog.Formats()[format].Session != nil
}

// Labelled reports whether the samples of a format have queries with their evidence.
func Labelled(format string) bool {
	return slices.Contains([]string{"hotpotqa", "squad", "musique", "locomo", "longmemeval"}, format)
}

// parser reads the values of samples.
type parser struct{ jsonpos.Parser }

// name is the first of the fields that exists. It must be usable as the name of a folder.
func (p *parser) name(fields map[string]jsonpos.Value, names ...string) (id, field string) {
	for _, field := range names {
		v, ok := fields[field]
		if !ok {
			continue
		}
		if id = p.Text(v, field); !sampleName.MatchString(id) {
			p.Errorf(v, field, "found %q, want a name of letters, digits, . _ and -", id)
		}
		return id, field
	}
	return "", ""
}
