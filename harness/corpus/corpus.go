// Package corpus reads sessions, packs them into chunks, and finds the evidence of
// queries in them. Evidence stays here: what goes to a model is a prompt.Chunk.
//
// A corpus is read once by Load, which counts the tokens of every chunk and keeps only
// where chunks end and what is evidence. Session.Chunks reads the file again and packs by
// what is kept, so that a corpus of any size takes little memory and no chunk is counted
// twice. Files may be compressed with gzip or zstd. A file that changed in between is an error. Up to 8 MiB of sessions stay in memory.
//
// # JSONL
//
// A record is one JSON object a line:
//
//	{"role": "tool", "text": "port 6380", "id": "r17"}
//
// role and text are required; id is optional and unique. Other fields are ignored, for
// session logs carry their own, unless they are role, text or id in another case. Blank
// lines, CRLF and a byte order mark at the start are allowed. Refused, because a text would
// not be what its file says: invalid UTF-8, escapes of half a surrogate pair, and a field
// given twice. A line may take 16 MiB.
//
// # HotpotQA
//
// Both published shapes are read: lists of pairs, and columns; in one JSON list, or one
// sample after another. A paragraph becomes a tool record: its title, a newline, its
// sentences as they are; its id is the title. A sample is named by its _id, or else its
// number; so is its question, whose evidence is the supporting sentences. Joined, all
// samples are one session, ids are SAMPLE/TITLE, and the same paragraph in another sample
// is evidence too. A supporting fact that points to nothing is a warning.
//
// # Other formats
//
// What data sets publish is read in the shapes in which they publish it: squad (v1, v2, and
// rows), musique, locomo, longmemeval. Their documents become tool records, their talks user
// and assistant records with the speakers' names in the texts. A question whose answer is not
// in its session has neither answers nor evidence. openai-chat, claude-code, text and
// markdown bring no questions. What becomes no record is counted and named in the warnings.
//
// # Packing
//
// By tokens, whole records are packed as long as the rendered chunk fits. A record that no
// chunk can hold is cut into pieces, each as long as fits: after a blank line, else after a
// line, else after white space, when at least half a piece comes of it; else between two
// characters. By records, their number decides and nothing is cut. Nothing is dropped
// either way: the pieces of all chunks, joined, are the records.
package corpus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/poimen-memory/mem/harness/spec/yamlpos"
	"github.com/poimen-memory/mem/prompt"
)

// Config says what to read and how to pack it. Format, Join and Queries may be zero.
type Config struct {
	ID      string // names the sessions
	Path    string
	Format  string // one of Formats; "" is jsonl
	Join    bool   // all samples of a data set as one session with all their queries
	Synth   *Synth // in place of Path, Format and Join: what to make
	Labels  string // path of a labels file, whose queries are asked too; "" for none
	Pack    Pack
	Prompts *prompt.Builder // renders and counts
	Queries []Query         // asked of every session; imported ones stand beside them
	Keep    int             // bytes of chunks that stay in memory; 0 is 8 MiB, below 0 none
}

// keep is how many bytes are kept when Config does not say: what is not is read again by
// every run.
const keep = 8 << 20

// Pack is how full chunks are packed; exactly one field is set.
type Pack struct {
	Tokens  int // of a rendered chunk, at most
	Records int // of a chunk, exactly, but for the last one
}

// Query is a question with its labels, by which its evidence is found.
type Query struct {
	ID, Text string
	Answers  []string
	All      bool // Answers are the parts of the right answer; else wordings of it
	Labels   []Label
}

// Label marks evidence: a whole record by its ID, every place of the text Match within a
// record, or, with both, the places of Match within the record ID. Places may overlap.
type Label struct {
	ID, Match string
	Nth       int  // with ID and Match: this place only, from 1; 0: all
	All       bool // whoever sums the hits: more than one is intended
	Pos       yamlpos.Pos
}

// Load reads a corpus. Sessions come in the order of the file: one named ID, or for an
// import with samples one each, named ID/SAMPLE by the sample's own id or its number. The
// error is a yamlpos.Errors with up to 20 complaints when the file's content is refused.
func Load(ctx context.Context, cfg Config) ([]*Session, error) {
	labels, err := cfg.readLabels()
	if err != nil {
		return nil, err
	}
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("corpus %s: %w", cfg.ID, err)
	}
	l := &loader{Config: cfg, room: cmp.Or(cfg.Keep, keep)}
	parts, err := l.parts(ctx)
	if err != nil {
		return nil, err
	}
	var sessions []*Session
	var asked []Asked
	for _, p := range parts {
		s, err := l.session(ctx, p)
		if err != nil {
			return nil, err
		}
		sessions, asked = append(sessions, s), append(asked, s.queries...)
	}
	return sessions, labels.judge(asked)
}

// parts are the sessions of the file, not yet read.
func (l *loader) parts(ctx context.Context) ([]part, error) {
	if l.Synth != nil {
		return l.synthesize(ctx)
	}
	parts, err := formats()[l.Format](ctx, l)
	if err != nil || !l.Join {
		return parts, err
	}
	return []part{join(parts)}, nil
}

// A format finds the sessions of a file.
type format func(context.Context, *loader) ([]part, error)

func formats() map[string]format {
	return map[string]format{
		"":            whole(jsonlRecords),
		"jsonl":       whole(jsonlRecords),
		"hotpotqa":    sampled{parse: parseHotpot}.parts,
		"squad":       sampled{within: "data", parse: parseSquad}.parts,
		"musique":     sampled{parse: parseMusique}.parts,
		"locomo":      sampled{parse: parseLoCoMo}.parts,
		"longmemeval": sampled{parse: parseLongMemEval}.parts,
		"openai-chat": chatParts,
		"claude-code": whole(claudeRecords),
		"text":        whole(textRecords),
		"markdown":    whole(markdownRecords),
	}
}

// whole is a format whose file is one session.
func whole(records func(path string) source) format {
	return func(_ context.Context, l *loader) ([]part, error) {
		return []part{{read: records(l.Path)}}, nil
	}
}

// Formats lists what Config.Format may name.
func Formats() []string {
	names := slices.Sorted(maps.Keys(formats()))
	return names[1:] // without ""
}

// samples reports whether files of a format hold samples, each a session.
func samples(format string) bool {
	return slices.Contains([]string{"hotpotqa", "squad", "musique", "locomo", "longmemeval", "openai-chat"}, format)
}

func (c *Config) check() error {
	switch {
	case c.Prompts == nil:
		return errors.New("a prompt builder is required")
	case (c.Pack.Tokens > 0) == (c.Pack.Records > 0) || c.Pack.Tokens < 0 || c.Pack.Records < 0:
		return fmt.Errorf("chunk has tokens %d and records %d: want exactly one, above 0", c.Pack.Tokens, c.Pack.Records)
	case formats()[c.Format] == nil:
		return fmt.Errorf("format: %s", yamlpos.OneOf(c.Format, Formats()))
	case c.Join && !samples(c.Format):
		return fmt.Errorf("join: a file of format %s is one session already", cmp.Or(c.Format, "jsonl"))
	}
	return c.checkQueries()
}

func (c *Config) checkQueries() error {
	seen := map[string]bool{}
	for _, q := range c.Queries {
		if seen[q.ID] {
			return fmt.Errorf("query %q is given twice", q.ID)
		}
		seen[q.ID] = true
		for _, l := range q.Labels {
			if l.ID == "" && l.Match == "" {
				return l.errorf("an evidence label wants the id of a record or a text to match")
			}
		}
	}
	return nil
}

func (l Label) errorf(format string, args ...any) error {
	return &yamlpos.Error{Pos: l.Pos, Msg: fmt.Sprintf(format, args...)}
}
