package journal

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"

	"github.com/poimen-memory/mem/internal/inputfile"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/internal/lines"
)

// maxLine bounds a line, in bytes: a reply with its reasoning is no longer than 16 MiB, JSON
// writes a byte as six at the most, and prompts stand beside it.
const maxLine = 160 << 20

// Corrupt is a journal with a line that no Recorder wrote.
type Corrupt struct {
	Path    string // "" if it was not read from a file
	Line    int
	Problem string
}

func (e *Corrupt) Error() string {
	return fmt.Sprintf("%s:%d: %s", cmp.Or(e.Path, "journal"), e.Line, e.Problem)
}

// Misconfigured is true: a loop.Misconfigured.
func (e *Corrupt) Misconfigured() bool { return true }

var (
	_ loop.Misconfigured = (*Corrupt)(nil)
	_ loop.Misconfigured = (*Miss)(nil)
)

// ErrNoHeader is that of a journal that was killed before its header was whole.
var ErrNoHeader = errors.New("no whole header")

// Journal is what a journal holds.
type Journal struct {
	Header Header
	Calls  []Call
	End    *End  // nil: the run was killed, or the journal is of schema 1
	Bytes  int64 // of the header and the calls; what follows is the end or a torn line

	link link // after them
}

// Chained reports whether the lines are checked by their chain, as those of schema 1 are not.
func (h Header) Chained() bool { return h.Schema != unchainedSchema }

// Recorder continues the journal, in its schema, with calls written to w after the first
// j.Bytes bytes. It takes over j, of which there can be one Recorder.
func (j Journal) Recorder(w io.Writer) *Recorder {
	return &Recorder{Header: j.Header, W: w, link: j.link}
}

// Read reads a whole journal. A torn last line is dropped: its reply was never used. Any
// other line that is not as it was written is a *Corrupt. The Journal is valid with an error.
func Read(r io.Reader) (Journal, error) {
	in, err := NewReader(r)
	if err != nil {
		return Journal{Header: in.Header}, err
	}
	var calls []Call
	for c, err := range in.Calls() {
		if err != nil {
			return in.journal(calls), err
		}
		calls = append(calls, c)
	}
	return in.journal(calls), nil
}

func (r *Reader) journal(calls []Call) Journal {
	return Journal{Header: r.Header, Calls: calls, End: r.End, Bytes: r.Bytes, link: r.link}
}

// Reader reads a journal call by call. It holds one call, however long the journal is.
type Reader struct {
	Header Header
	End    *End  // nil: not read yet, or there is none
	Bytes  int64 // of the header and the calls read so far

	in       lines.Reader
	line     int // lines read
	link     link
	answered [2]int // turn and attempt of the last call that was
}

// NewReader reads the header. The Reader is valid with an error.
func NewReader(r io.Reader) (*Reader, error) {
	in := &Reader{in: lines.New(r, maxLine), link: newLink()}
	text, err := in.next()
	if err == io.EOF {
		err = ErrNoHeader
	}
	if err != nil {
		return in, err
	}
	if problem := in.header(text); problem != "" {
		return in, in.corrupt(problem)
	}
	return in, nil
}

// Calls gives the calls in order. The error, after which nothing comes, is a *Corrupt or
// the reader's own.
func (r *Reader) Calls() iter.Seq2[Call, error] {
	return func(yield func(Call, error) bool) {
		for {
			text, err := r.next()
			if err == io.EOF {
				return
			}
			var c Call
			ended := false
			if err == nil {
				c, ended, err = r.call(text)
			}
			if ended && err == nil {
				continue
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// Turns gives the calls of each turn together, and those for the answer as the last. Before an
// error come the calls that stand before it, of which the last turn may lack some.
func (r *Reader) Turns() iter.Seq2[[]Call, error] {
	return func(yield func([]Call, error) bool) {
		var turn []Call
		for c, err := range r.Calls() {
			if err != nil {
				if len(turn) == 0 || yield(turn, nil) {
					yield(nil, err)
				}
				return
			}
			if len(turn) > 0 && turn[0].Turn != c.Turn {
				if !yield(turn, nil) {
					return
				}
				turn = nil
			}
			turn = append(turn, c)
		}
		if len(turn) > 0 {
			yield(turn, nil)
		}
	}
}

// next reads a line with its newline; io.EOF follows the last one.
func (r *Reader) next() ([]byte, error) {
	text, err := r.in.Next()
	r.line++
	if tooLong, ok := errors.AsType[lines.TooLong](err); ok {
		return nil, r.corrupt(tooLong.Error())
	}
	if err == io.EOF && r.End != nil && len(text) > 0 || err == nil && r.End != nil {
		return nil, r.corrupt("the journal goes on after its end")
	}
	if err == io.EOF && !torn(text) {
		return nil, r.corrupt("is not as it was written: the last line has no newline and is not the beginning of a line")
	}
	return text, err
}

// torn reports whether a text without newline may be what a killed process or a power
// failure left of a line: any beginning of it, after which zeros may follow.
func torn(text []byte) bool {
	begun := bytes.TrimRight(text, "\x00")
	if len(begun) == 0 || begun[0] != '{' {
		return len(begun) == 0
	}
	var object map[string]json.RawMessage
	d := json.NewDecoder(bytes.NewReader(begun))
	err := d.Decode(&object)
	return err == io.ErrUnexpectedEOF || err == nil && d.InputOffset() == int64(len(text))
}

func (r *Reader) corrupt(problem string) error { return &Corrupt{Line: r.line, Problem: problem} }

func (r *Reader) header(text []byte) (problem string) {
	r.Header.Schema = schemaOf(text)
	if !r.Header.Chained() {
		r.link = link{}
	}
	h := &r.Header
	problem = r.decode(text, h)
	switch {
	case h.Schema > Schema, h.Schema < unchainedSchema && problem == "":
		return fmt.Sprintf("schema is %d, this program reads %d to %d", h.Schema, unchainedSchema, Schema)
	case problem != "":
		return problem
	case !h.Chained() && (h.SessionSHA != "" || h.Records != 0 || h.Chunking != nil):
		return fmt.Sprintf("is not as it was written: schema %d has no session_sha, records and chunking", unchainedSchema)
	}
	return r.advance(text)
}

// schemaOf is what a header says of its schema, 0 if it cannot be read.
func schemaOf(text []byte) int {
	var h struct {
		Schema int `json:"schema"`
	}
	if err := json.Unmarshal(text, &h); err != nil {
		return 0
	}
	return h.Schema
}

// call reads a line, which may be the end.
func (r *Reader) call(text []byte) (c Call, ended bool, err error) {
	if r.Header.Chained() && bytes.HasPrefix(text, []byte(`{"end":`)) {
		return c, true, r.end(text)
	}
	var w wire
	problem := r.decode(text, &w)
	if problem == "" {
		c, problem = w.call(), w.problem(r.Header)
	}
	if problem == "" {
		problem = r.order(c)
	}
	if problem == "" {
		problem = r.advance(text)
	}
	if problem != "" {
		return c, false, r.corrupt(problem)
	}
	return c, false, nil
}

func (r *Reader) end(text []byte) error {
	var e endLine
	problem := r.decode(text, &e)
	if problem == "" {
		problem = r.chain(text)
	}
	if problem == "" && e.End.JournalSHA256 != r.link.journal() {
		problem = "journal_sha256 is not that of the lines before it"
	}
	if problem != "" {
		return r.corrupt(problem)
	}
	r.End = &e.End
	return nil
}

// chain says what is wrong with a line's chain.
func (r *Reader) chain(text []byte) (problem string) {
	if r.Header.Chained() && !bytes.HasSuffix(text, []byte(r.link.after(text[:len(text)-chainLen])+chainEnd)) {
		return "its chain is another: the line was changed, or one before it was changed, removed, repeated or moved"
	}
	return ""
}

// advance goes on after a line that is as it was written.
func (r *Reader) advance(text []byte) (problem string) {
	if problem := r.chain(text); problem != "" {
		return problem
	}
	r.link.add(text)
	r.Bytes += int64(len(text))
	return ""
}

// order holds calls to the order of the loop, in which what was answered is not asked again.
func (r *Reader) order(c Call) (problem string) {
	at := [2]int{c.Turn, c.Attempt}
	if c.Turn == loop.AnswerTurn {
		at[0] = math.MaxInt
	}
	if slices.Compare(at[:], r.answered[:]) <= 0 {
		return fmt.Sprintf("turn %d, attempt %d is answered again, or after a later one", c.Turn, c.Attempt)
	}
	if c.Error == "" {
		r.answered = at
	}
	return ""
}

// problem says what is wrong with a call for itself.
func (w wire) problem(h Header) string {
	c := w.call()
	if !w.same(wired(c)) {
		return "its reply or reasoning is another text than its bytes are"
	}
	if c.Turn < loop.AnswerTurn || c.Attempt < 1 {
		return fmt.Sprintf("invalid turn %d or attempt %d", c.Turn, c.Attempt)
	}
	asked := loop.Request{Turn: c.Turn, Attempt: c.Attempt, System: c.System, User: c.User, MaxTokens: c.MaxTokens}
	if whole := c.System != "" || c.User != ""; whole && h.Digest(asked) != c.Digest {
		return "its digest is of another request"
	}
	return ""
}

// decode wants a line to be what v is written as: nothing unknown, missing, or twice. What
// its chain is, is not its matter.
func (r *Reader) decode(text []byte, v any) (problem string) {
	if r.Header.Chained() {
		plain, ok := unchained(text)
		if problem := decode(plain, v); ok || problem != "" {
			return problem
		}
		return "is not as it was written: it does not end with its chain"
	}
	return decode(text, v)
}

// decode is of a line without a chain. Numbers of a header's open map keep their digits.
func decode(text []byte, v any) (problem string) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		return "is not as it was written: " + err.Error()
	}
	want, err := encodeLine(v)
	if err != nil {
		return err.Error()
	}
	if at := common(string(text), string(want)); at < max(len(text), len(want)) {
		return fmt.Sprintf("is not as it was written: at byte %d found %s, want %s", at, excerpt(string(text), at), excerpt(string(want), at))
	}
	return ""
}

// ReadFile is Read of a file, which its errors name.
func ReadFile(path string) (Journal, error) {
	f, err := inputfile.Open(path)
	if err != nil {
		return Journal{}, err
	}
	defer f.Close()
	j, err := Read(f)
	return j, Located(path, err)
}

// ReadHeader is ReadFile of the header and no more.
func ReadHeader(path string) (Header, error) {
	f, err := inputfile.Open(path)
	if err != nil {
		return Header{}, err
	}
	defer f.Close()
	r, err := NewReader(f)
	return r.Header, Located(path, err)
}

// Located says where an error was found.
func Located(path string, err error) error {
	if corrupt, ok := errors.AsType[*Corrupt](err); ok {
		corrupt.Path = path
		return corrupt
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
