package corpus

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"hash/maphash"
	"iter"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/prompt"
)

// Session is one session, packed. It does not change: all its methods may be called
// concurrently.
type Session struct {
	name     string
	read     Records
	chunks   []packed
	kept     []prompt.Chunk // all chunks, or nil when they are read again
	seed     maphash.Seed
	sha      string
	records  int
	roles    map[string]int
	reserved int
	gateTags int
	forged   int
	queries  []Asked
	length   int
	depth    float64
	notes    []Counted
	skipped  []Counted
	warnings diag.Errors
}

// packed is what is known of a chunk without its text.
type packed struct {
	pieces int    // records, whole or cut
	last   int    // bytes of the last piece, 0 when it goes to the end of its record
	tokens int    // of the rendering, as sent
	digest uint64 // of the rendering
}

// Name is the corpus id, or corpus/sample for an import.
func (s *Session) Name() string { return s.name }

// Len is the number of chunks.
func (s *Session) Len() int { return len(s.chunks) }

// SHA names the chunks by their bytes and borders: SHA-256 in hex.
func (s *Session) SHA() string { return s.sha }

// Records is the number of records.
func (s *Session) Records() int { return s.records }

// Roles is the number of records by role. It is shared: not to be changed.
func (s *Session) Roles() map[string]int { return s.roles }

// ChunkTokens is the size of every chunk, in tokens of its rendering as sent.
func (s *Session) ChunkTokens() []int {
	tokens := make([]int, len(s.chunks))
	for i, c := range s.chunks {
		tokens[i] = c.tokens
	}
	return tokens
}

// Reserved is how many reserved tags the chunks hold, which are escaped when sent.
func (s *Session) Reserved() int { return s.reserved }

// GateTags is how many gate tags the chunks hold.
func (s *Session) GateTags() int { return s.gateTags }

// Forged is how many further records the texts of the session's records render like.
func (s *Session) Forged() int { return s.forged }

// Queries are the questions of the session in their order, those of the spec first. They
// are shared: not to be changed.
func (s *Session) Queries() []Asked { return s.queries }

// Length is how many tokens a synthetic session was to have at most, 0 for another one.
func (s *Session) Length() int { return s.length }

// Depth is where the first statement stands that a synthetic session's query asks for, in
// percent of its text.
func (s *Session) Depth() float64 { return s.depth }

// Warnings are the Warnings of the session alone.
func (s *Session) Warnings() []string { return Warnings([]*Session{s}) }

// Chunks passes over the session from its first chunk; passes are independent of each
// other. The error, after which nothing comes, says that the file could not be read again
// or is not what it was: no chunk comes that differs from what was counted.
func (s *Session) Chunks() iter.Seq2[prompt.Chunk, error] {
	if s.kept == nil {
		return s.readAgain
	}
	return func(yield func(prompt.Chunk, error) bool) {
		for _, c := range s.kept {
			if !yield(c, nil) {
				return
			}
		}
	}
}

func (s *Session) readAgain(yield func(prompt.Chunk, error) bool) {
	n := 0 // chunks handed out
	var open []prompt.Record
	for r, err := range s.read() {
		if err == nil && r.Skipped != "" {
			continue
		}
		if err != nil {
			yield(prompt.Chunk{}, fmt.Errorf("corpus %s was read before and cannot be read again: %w", s.name, err))
			return
		}
		for rest, more := r.Text, true; more; {
			if n == len(s.chunks) {
				yield(prompt.Chunk{}, s.changed(n))
				return
			}
			var piece string
			piece, rest, more = s.chunks[n].take(rest, len(open))
			if open = append(open, prompt.Record{Role: r.Role, Text: piece}); len(open) < s.chunks[n].pieces {
				continue
			}
			chunk, err := s.render(n, open)
			if !yield(chunk, err) || err != nil {
				return
			}
			n, open = n+1, open[:0]
		}
	}
	if n < len(s.chunks) {
		yield(prompt.Chunk{}, s.changed(n))
	}
}

// take cuts from the rest of a record what belongs to the chunk, of which it has some
// pieces already; more says that the chunk ends within the record.
func (c packed) take(text string, have int) (piece, rest string, more bool) {
	if have+1 < c.pieces || c.last == 0 || c.last >= len(text) {
		return text, "", false
	}
	return text[:c.last], text[c.last:], true
}

// render is chunk n, from 0, without counting it again.
func (s *Session) render(n int, records []prompt.Record) (prompt.Chunk, error) {
	text := prompt.Render(records...)
	if maphash.String(s.seed, text) != s.chunks[n].digest {
		return prompt.Chunk{}, s.changed(n)
	}
	chunk := prompt.Chunk{Text: prompt.Text{Raw: text, Tokens: s.chunks[n].tokens}, Records: len(records)}
	chunk.Sent, chunk.Reserved, chunk.GateTags = prompt.Escape(text)
	return chunk, nil
}

func (s *Session) changed(n int) error {
	return fmt.Errorf("corpus %s changed while it was in use: it is no longer what was packed from chunk %d of %d on", s.name, n+1, len(s.chunks))
}

// loader is one Load: its configuration, and how many bytes may still be kept in memory.
type loader struct {
	Config
	keepLeft int // bytes
}

// session reads a session from its first record to its last and learns all that is kept
// of it.
func (l *loader) session(ctx context.Context, from Source) (*Session, error) {
	b := newBuild(l, from)
	for r, err := range from.Records() {
		if err == nil {
			err = b.add(r)
		}
		if err != nil && b.errs.Add(err) != nil {
			return nil, fmt.Errorf("corpus %s: %w", l.ID, err)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return b.finish()
}

// build is a session that is being read for the first time.
type build struct {
	*Session
	loader   *loader
	packer   packer
	evidence *Finder
	ids      ids
	skips    counts // entries that are not records
	errs     diag.List
	kept     []prompt.Chunk
	size     int       // bytes of kept
	sum      hash.Hash // of each chunk's length and bytes
	buffer   [4096]byte
}

func newBuild(l *loader, from Source) *build {
	b := &build{
		Session: &Session{
			name: l.SessionName(from.Name), read: from.Records, seed: maphash.MakeSeed(),
			roles: map[string]int{}, notes: from.Notes, warnings: from.Warnings, length: from.Tokens, depth: from.Depth,
		},
		loader:   l,
		evidence: NewFinder(l.Queries, from.Queries),
		ids:      ids{},
		sum:      sha256.New(),
	}
	b.packer = newPacker(l.Pack, l.Prompts, b.emit)
	return b
}

// add takes the next record. After the first error in the file, records are only checked.
func (b *build) add(r *Record) error {
	if r.Skipped != "" {
		b.skips.add(r.Skipped, 1, r.At)
		return nil
	}
	b.records++
	b.roles[r.Role]++
	b.forged += len(Forged(r.Text, b.roles))
	if err := b.ids.claim(r); err != nil {
		return err
	}
	if !b.errs.Empty() {
		return nil
	}
	b.evidence.Find(r)
	return b.packer.add(r)
}

// ids are those of a session: a digest of each, and its line: there may be millions.
type ids map[Digest]int

// claim refuses an id that is taken. The error is a diag.Errors.
func (s ids) claim(r *Record) error {
	if r.ID == "" {
		return nil
	}
	key := DigestOf(r.ID)
	if line, ok := s[key]; ok {
		return diag.Errors{{Pos: r.IDAt, Path: "id", Msg: fmt.Sprintf("%q is the id of the record on line %d already: want a unique one", r.ID, line)}}
	}
	s[key] = r.At.Line
	return nil
}

// emit takes a full chunk from the packer.
func (b *build) emit(pieces []piece, text prompt.Text) {
	last := pieces[len(pieces)-1]
	c := packed{pieces: len(pieces), tokens: text.Tokens, digest: maphash.String(b.seed, text.Raw)}
	if last.to < len(last.Text) {
		c.last = last.to - last.from
	}
	b.chunks = append(b.chunks, c)
	b.hash(text.Raw)
	b.reserved += text.Reserved
	b.gateTags += text.GateTags
	b.evidence.mark(len(b.chunks), pieces)
	b.keep(prompt.Chunk{Text: text, Records: len(pieces)})
}

// hash writes a chunk's length before its bytes, so that no two packings run together. It
// copies piece by piece: a hash takes no string, and chunks are large.
func (b *build) hash(chunk string) {
	b.sum.Write(binary.AppendUvarint(b.buffer[:0], uint64(len(chunk))))
	for chunk != "" {
		n := copy(b.buffer[:], chunk)
		b.sum.Write(b.buffer[:n])
		chunk = chunk[n:]
	}
}

// keep holds the chunk in memory as long as the whole session can be kept.
func (b *build) keep(c prompt.Chunk) {
	b.size += len(c.Raw)
	if b.size > b.loader.keepLeft {
		b.kept = nil
		return
	}
	b.kept = append(b.kept, c)
}

func (b *build) finish() (*Session, error) {
	if b.errs.Empty() {
		b.packer.flush()
	}
	if err := b.errs.Err(); err != nil {
		return nil, err
	}
	b.skipped = b.skips.sorted()
	if b.records == 0 {
		return nil, noRecords(b.loader.Path, "session "+b.name, b.skipped)
	}
	if b.kept != nil {
		b.loader.keepLeft -= b.size
		b.Session.kept = b.kept
	}
	b.queries = b.evidence.Asked()
	b.sha = hex.EncodeToString(b.sum.Sum(nil))
	return b.Session, nil
}
