package journal

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/poimen-memory/mem/loop"
)

// Corrupt is a journal with a line that no Recorder wrote.
type Corrupt struct {
	Path    string // "" if it was not read from a file
	Line    int
	Problem string
}

func (e *Corrupt) Error() string {
	return fmt.Sprintf("%s:%d: %s", cmp.Or(e.Path, "journal"), e.Line, e.Problem)
}

// Misconfigured is true: no call would mend it.
func (e *Corrupt) Misconfigured() bool { return true }

// errNoHeader is a journal that was killed before its header was whole.
var errNoHeader = errors.New("no whole header")

// Read reads a journal back. A torn last line is dropped: its reply was never used. Any
// other that is not as it was written is a *Corrupt.
func Read(r io.Reader) (Header, []Call, error) {
	in := bufio.NewReader(r)
	h, err := readHeader(in)
	if err != nil {
		return h, nil, err
	}
	var calls []Call
	answered := map[[2]int]bool{}
	for n := 2; ; n++ {
		text, err := in.ReadBytes('\n')
		if err == io.EOF {
			return h, calls, nil
		}
		if err != nil {
			return h, calls, err
		}
		c, problem := readCall(h, text)
		if key := [2]int{c.Turn, c.Attempt}; problem == "" && c.Error == "" {
			if answered[key] {
				problem = fmt.Sprintf("turn %d, attempt %d is answered again", c.Turn, c.Attempt)
			}
			answered[key] = true
		}
		if problem != "" {
			return h, calls, &Corrupt{Line: n, Problem: problem}
		}
		calls = append(calls, c)
	}
}

func readHeader(in *bufio.Reader) (h Header, err error) {
	text, err := in.ReadBytes('\n')
	if err == io.EOF {
		return h, errNoHeader
	}
	if err != nil {
		return h, err
	}
	problem := decode(text, &h)
	if h.Schema != Schema && (problem == "" || h.Schema != 0) {
		problem = fmt.Sprintf("schema is %d, this program reads %d", h.Schema, Schema)
	}
	if problem != "" {
		return h, &Corrupt{Line: 1, Problem: problem}
	}
	return h, nil
}

// readCall decodes a line. Its problem is "" if there is none.
func readCall(h Header, text []byte) (c Call, problem string) {
	var w wire
	if problem := decode(text, &w); problem != "" {
		return c, problem
	}
	c = w.call()
	if !w.same(wired(c)) {
		return c, "its reply or reasoning is another text than its bytes are"
	}
	if c.Turn < loop.AnswerTurn || c.Attempt < 1 {
		return c, fmt.Sprintf("it is of turn %d, attempt %d, and there is none", c.Turn, c.Attempt)
	}
	asked := loop.Request{Turn: c.Turn, Attempt: c.Attempt, System: c.System, User: c.User, MaxTokens: c.MaxTokens}
	if whole := c.System != "" || c.User != ""; whole && h.Digest(asked) != c.Digest {
		return c, "its digest is of another request"
	}
	return c, ""
}

// decode wants text to be what v is written as: nothing unknown, missing, or twice.
// Numbers of a header's open map keep their digits.
func decode(text []byte, v any) (problem string) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		return "is not as it was written: " + err.Error()
	}
	want, err := line(v)
	if err != nil {
		return err.Error()
	}
	if at := common(string(text), string(want)); at < max(len(text), len(want)) {
		return fmt.Sprintf("is not as it was written: at byte %d found %s, want %s", at, excerpt(string(text), at), excerpt(string(want), at))
	}
	return ""
}

// ReadFile is Read of a file, which its errors name.
func ReadFile(path string) (Header, []Call, error) {
	f, err := os.Open(path)
	if err != nil {
		return Header{}, nil, err
	}
	defer f.Close()
	h, calls, err := Read(f)
	return h, calls, located(path, err)
}

// ReadHeader is ReadFile of the header and no more.
func ReadHeader(path string) (Header, error) {
	f, err := os.Open(path)
	if err != nil {
		return Header{}, err
	}
	defer f.Close()
	h, err := readHeader(bufio.NewReader(f))
	return h, located(path, err)
}

// located says where an error was found.
func located(path string, err error) error {
	if corrupt, ok := errors.AsType[*Corrupt](err); ok {
		corrupt.Path = path
		return corrupt
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
