package jsonpos

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/textfile"
)

// File is a file that holds one JSON list, or one value after another.
type File struct {
	Path   string
	Within string // key of the list, when it stands in an object
	Lines  bool   // one value a line; a line that is not JSON is an Item with Torn
}

// Item is one element of a File.
type Item struct {
	Raw    []byte
	Offset int64 // in the file
	At     diag.Pos
	Number int  // from 1
	Torn   bool // Raw is not JSON
}

// Errors are faults of the item as errors of the file.
func (it Item) Errors(bad []Fault) diag.Errors {
	var es diag.Errors
	places := NewPlaces(it.Raw, it.At)
	for _, b := range bad {
		path := fmt.Sprintf("[%d]", it.Number-1)
		if b.Field != "" {
			path += "." + b.Field
		}
		es = append(es, &diag.Error{Pos: places.At(b.At), Path: path, Msg: b.Msg})
	}
	return es
}

var errLongItem = fmt.Errorf("an element is over %d MiB, the longest that is read", textfile.MaxLine>>20)

// Items yields the elements one by one; Raw is valid until the next one. The error is a
// diag.Errors if the content of the file is wrong. Nothing comes after it, but for a line that
// is too long.
func (f File) Items() iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		file, err := textfile.Open(f.Path)
		if err != nil {
			yield(Item{}, err)
			return
		}
		defer file.Close()
		if f.Lines {
			f.readLines(textfile.NewLines(file), yield)
			return
		}
		r, err := newItemReader(f, file)
		for n := 1; err == nil; n++ {
			var it Item
			if it, err = r.next(n); err == nil && !yield(it, nil) {
				return
			}
		}
		if err != io.EOF {
			yield(Item{}, err)
		}
	}
}

func (f File) readLines(lines *textfile.Lines, yield func(Item, error) bool) {
	for n := 1; ; {
		line, err := lines.Next()
		switch {
		case err == io.EOF:
			return
		case err == textfile.ErrLongLine:
			if !yield(Item{}, LineErrors(f.Path, lines.Number, nil, Fault{Msg: err.Error()})) {
				return
			}
			continue
		case err != nil:
			yield(Item{}, fmt.Errorf("%s: line %d: %w", f.Path, lines.Number, err))
			return
		case len(bytes.TrimSpace(line)) == 0:
			continue
		}
		at := diag.Pos{File: f.Path, Line: lines.Number, Col: 1}
		if !yield(Item{Raw: line, Offset: lines.Offset, At: at, Number: n, Torn: !json.Valid(line)}, nil) {
			return
		}
		n++
	}
}

type itemReader struct {
	file  string
	lines *lineCounter
	in    *bufio.Reader
	dec   *json.Decoder
	list  bool
	skip  int64  // bytes before the decoder's first
	tail  string // begins an object that what follows the list ends
}

func newItemReader(f File, file io.Reader) (*itemReader, error) {
	r := &itemReader{file: f.Path, lines: &lineCounter{r: file, left: textfile.MaxLine, line: 1}}
	in := bufio.NewReaderSize(r.lines, 64<<10)
	r.in = in
	if bom, _ := in.Peek(3); string(bom) == "\ufeff" {
		in.Discard(3)
		r.skip, r.lines.start = 3, 3
	}
	if n := listWithin(in, f.Within); n > 0 {
		in.Discard(n)
		r.skip += int64(n)
		r.tail = `{"":0`
	}
	return r, r.open(in)
}

// listWithin is how many bytes stand before the list of that key in the object that a file
// begins with; 0 when there is none within what is buffered.
func listWithin(in *bufio.Reader, key string) int {
	if key == "" {
		return 0
	}
	head, _ := in.Peek(in.Size())
	start := skipSpace(head, 0)
	if start == len(head) || head[start] != '{' {
		return 0
	}
	dec := json.NewDecoder(bytes.NewReader(head))
	dec.Token()
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return 0
		}
		if name == key {
			list, _ := dec.Token()
			if list != json.Delim('[') {
				return 0
			}
			return int(dec.InputOffset()) - 1
		}
		if err := dec.Decode(new(json.RawMessage)); err != nil {
			return 0
		}
	}
	return 0
}

// open steps into the list, if it is one.
func (r *itemReader) open(in *bufio.Reader) error {
	for {
		switch b, err := in.ReadByte(); {
		case err == io.EOF:
			return diag.Errors{{Pos: diag.Pos{File: r.file}, Msg: "is empty: want a list of samples"}}
		case err != nil:
			return fmt.Errorf("%s: %w", r.file, err)
		case b == ' ' || b == '\t' || b == '\r' || b == '\n':
			r.skip++
			continue
		case b == '[':
			r.list = true
		}
		if err := in.UnreadByte(); err != nil {
			return err
		}
		r.dec = json.NewDecoder(in)
		if r.list {
			r.dec.Token() // the bracket that was just seen
		}
		return nil
	}
}

// next returns io.EOF after the last element.
func (r *itemReader) next(n int) (Item, error) {
	r.lines.left = textfile.MaxLine
	if r.list && !r.dec.More() {
		return Item{}, r.end(n)
	}
	var raw json.RawMessage
	if err := r.dec.Decode(&raw); err != nil {
		return Item{}, r.broken(n, err)
	}
	offset := r.skip + r.dec.InputOffset() - int64(len(raw))
	return Item{Raw: raw, Offset: offset, At: r.pos(offset), Number: n}, nil
}

// end reads what follows the last element of a list.
func (r *itemReader) end(n int) error {
	if _, err := r.dec.Token(); err != nil {
		return r.broken(n, err)
	}
	if n == 1 {
		return r.errorf(r.skip, "the list is empty: want samples")
	}
	if r.list = false; r.tail != "" { // whatever comes now is not in it
		return r.endObject()
	}
	if r.dec.More() {
		return r.errorf(r.skip+r.dec.InputOffset(), "something follows the end of the list")
	}
	return io.EOF
}

// endObject reads what follows the list in its object.
func (r *itemReader) endObject() error {
	at := r.skip + r.dec.InputOffset()
	rest, err := io.ReadAll(io.MultiReader(r.dec.Buffered(), r.in))
	if err != nil {
		return fmt.Errorf("%s: %w", r.file, err)
	}
	if f := check([]byte(r.tail+string(rest)), "the file ends within the object around the list: it is cut short"); f != nil {
		return r.errorf(at+int64(max(f.At-len(r.tail), 0)), "%s", f.Msg)
	}
	return io.EOF
}

// broken places an error of the decoder, whose own offsets leave out what stands between
// elements.
func (r *itemReader) broken(n int, err error) error {
	if err == io.EOF && !r.list {
		return io.EOF
	}
	rest, _ := io.ReadAll(r.dec.Buffered())
	start := skipComma(append(rest, 0), 0)
	at := r.skip + r.dec.InputOffset() + int64(start)
	syntax := new(json.SyntaxError)
	switch {
	case errors.Is(err, errLongItem):
		return r.errorf(at, "element %d: %w", n, err)
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return r.errorf(at, "the file ends within the list, in or before element %d: it is cut short", n)
	case !errors.As(err, &syntax):
		return fmt.Errorf("%s: element %d: %w", r.file, n, err)
	}
	if within := syntaxFault(rest[min(start, len(rest)):], ""); strings.HasSuffix(within.Msg, err.Error()) {
		at += int64(within.At)
	}
	return r.errorf(at, "element %d is not JSON: %v", n, err)
}

func (r *itemReader) errorf(at int64, format string, args ...any) error {
	return diag.Errors{{Pos: r.pos(at), Msg: fmt.Errorf(format, args...).Error()}}
}

func (r *itemReader) pos(offset int64) diag.Pos {
	line, col := r.lines.at(offset)
	return diag.Pos{File: r.file, Line: line, Col: col}
}

// lineCounter passes a file through and knows the line of any offset that is not before
// one it was asked for. It reads up to left bytes until that is set again.
type lineCounter struct {
	r     io.Reader
	left  int
	read  int64
	ends  []int64 // offsets of newlines that were read but not passed yet
	line  int
	start int64 // of line
}

func (c *lineCounter) Read(b []byte) (int, error) {
	if c.left <= 0 {
		return 0, errLongItem
	}
	n, err := c.r.Read(b[:min(len(b), c.left)])
	for i, x := range b[:n] {
		if x == '\n' {
			c.ends = append(c.ends, c.read+int64(i))
		}
	}
	c.read += int64(n)
	c.left -= n
	return n, err
}

// at is the line, and the column in bytes.
func (c *lineCounter) at(offset int64) (line, col int) {
	passed := 0
	for passed < len(c.ends) && c.ends[passed] < offset {
		c.line++
		c.start = c.ends[passed] + 1
		passed++
	}
	c.ends = append(c.ends[:0], c.ends[passed:]...)
	return c.line, int(offset-c.start) + 1
}
