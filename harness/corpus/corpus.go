// Package corpus reads sessions, packs them into chunks and finds the evidence of queries in
// them. Evidence stays here: what goes to a model is a prompt.Chunk.
//
// Load reads a corpus once, counts the tokens of every chunk and keeps where chunks end and
// which of them are evidence. Session.Chunks reads the file again and packs by what is kept:
// a corpus of any size takes little memory, and no chunk is counted twice. A file that changed
// in between is an error. Up to 8 MiB of sessions stay in memory. Files may be compressed with
// gzip or zstd.
//
// # JSONL
//
// A record is one JSON object a line:
//
//	{"role": "tool", "text": "port 6380", "id": "r17"}
//
// role and text are required; id is optional and unique. Other fields are ignored, because
// session logs have their own, unless they are role, text or id in another case. Blank
// lines, CRLF and a byte order mark at the start are allowed. Refused, because a text would
// not be what its file says: invalid UTF-8, escapes of half a surrogate pair, and a field
// given twice. A line has at most 16 MiB.
//
// Packages dataset and synth are Readers of other formats and of generated sessions.
//
// # Packing
//
// By tokens, whole records are packed as long as the rendered chunk fits. A record that no
// chunk can hold is cut into pieces, each as long as fits: after a blank line, else after a
// line, else after white space, if the piece keeps at least half its length; else between two
// characters. By records, their number decides and nothing is cut. Nothing is dropped
// either way: the pieces of all chunks, joined, are the records.
package corpus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/prompt"
)

// Config says what to read and how to pack it. Path, Reader, Labels, Queries and Keep may be
// zero.
type Config struct {
	ID      string // names the sessions
	Path    string // of the file; "" for generated sessions
	Reader  Reader // finds the sessions; nil: Path is one session in JSONL
	Labels  string // path of a labels file, whose queries are asked too; "" for none
	Pack    Pack
	Prompts *prompt.Builder // renders and counts
	Queries []Query         // asked of every session, before the queries of the source
	Keep    int             // bytes of chunks that stay in memory; 0 is 8 MiB, below 0 none
}

// defaultKeep is Config.Keep if that is 0. Chunks that are not kept are read again by every
// run.
const defaultKeep = 8 << 20

// Pack is how full chunks are packed; exactly one field is set.
type Pack struct {
	Tokens  int // of a rendered chunk, at most
	Records int // of a chunk, exactly, but for the last one
}

// Query is a question with its labels, by which its evidence is found.
type Query struct {
	ID, Text     string
	Answers      []string
	All          bool // Answers are the parts of the right answer; else wordings of it
	Unanswerable bool // the session does not hold the answer: the right answer says so
	Tags         map[string]string
	Labels       []Label
}

// Label marks evidence: a whole record by its ID, every place of the text Match within a
// record, or, with both, the places of Match within the record ID. Places may overlap.
type Label struct {
	ID, Match string
	Nth       int  // with ID and Match: this place only, from 1; 0: all
	All       bool // more than one hit is intended
	Pos       diag.Pos
}

// Load reads a corpus. Sessions come in the order of the file: one named ID, or for an
// import with samples one each, named ID/SAMPLE by the sample's own id or its number. The
// error is a diag.Errors with up to 20 errors if the content of the file is refused.
func Load(ctx context.Context, cfg Config) ([]*Session, error) {
	labels, err := cfg.AddLabels()
	if err != nil {
		return nil, err
	}
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("corpus %s: %w", cfg.ID, err)
	}
	l := &loader{Config: cfg, keepLeft: cmp.Or(cfg.Keep, defaultKeep)}
	sources, err := cfg.Sources(ctx)
	if err != nil {
		return nil, err
	}
	var sessions []*Session
	var asked []Asked
	for _, source := range sources {
		s, err := l.session(ctx, source)
		if err != nil {
			return nil, err
		}
		sessions, asked = append(sessions, s), append(asked, s.queries...)
	}
	return sessions, labels.Check(asked)
}

// Sources are the sessions of the corpus, not read yet.
func (c Config) Sources(ctx context.Context) ([]Source, error) {
	if c.Reader != nil {
		return c.Reader.Sources(ctx, c)
	}
	return []Source{{Records: JSONL(c.Path)}}, nil
}

// SessionName names the session of a sample: ID/SAMPLE, or ID without a sample.
func (c Config) SessionName(sample string) string {
	return strings.TrimSuffix(within(c.ID, sample), "/")
}

func (c *Config) check() error {
	switch {
	case c.Prompts == nil:
		return errors.New("a prompt builder is required")
	case (c.Pack.Tokens > 0) == (c.Pack.Records > 0) || c.Pack.Tokens < 0 || c.Pack.Records < 0:
		return fmt.Errorf("chunk has tokens %d and records %d: want exactly one, above 0", c.Pack.Tokens, c.Pack.Records)
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
	return &diag.Error{Pos: l.Pos, Msg: fmt.Sprintf(format, args...)}
}
