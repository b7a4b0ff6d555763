package dataset

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"regexp"
	"strings"
	"unicode"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/jsonpos"
	"github.com/poimen-memory/mem/harness/textfile"
)

// mostText is how long a record of plain text may become, in bytes, before the next line
// begins another one.
const mostText = 1 << 20

// textRecords are the paragraphs of a text: what stands between blank lines. A record's id
// is L and the line where it begins.
func textRecords(path string) corpus.Records {
	return textSource(path, func() begins {
		return func(line []byte) bool { return len(bytes.TrimSpace(line)) == 0 }
	})
}

// markdownRecords are the sections of a Markdown text: each begins with its heading.
func markdownRecords(path string) corpus.Records { return textSource(path, sections) }

// begins reports of each line of a text in turn whether a record begins with it.
type begins func(line []byte) bool

var (
	heading = regexp.MustCompile(`^ {0,3}#{1,6}([ \t\r]|$)`)
	fence   = regexp.MustCompile("^ {0,3}(```+|~~~+)")
)

// sections begin at headings, but not in fenced code.
func sections() begins {
	open := ""
	return func(line []byte) bool {
		m := fence.FindSubmatch(line)
		switch {
		case m == nil:
		case open == "":
			open = string(m[1])
		case strings.HasPrefix(string(m[1]), open):
			open = ""
		}
		return open == "" && heading.Match(line)
	}
}

func textSource(path string, split func() begins) corpus.Records {
	return func() iter.Seq2[*corpus.Record, error] {
		return func(yield func(*corpus.Record, error) bool) {
			file, err := textfile.Open(path)
			if err != nil {
				yield(nil, err)
				return
			}
			defer file.Close()
			t := textReader{file: path, lines: textfile.NewLines(file)}
			t.read(split(), yield)
		}
	}
}

// textReader collects the lines of a record.
type textReader struct {
	file  string
	lines *textfile.Lines
	text  strings.Builder
	from  int  // its first line
	any   bool // there was a record
}

func (t *textReader) read(begins begins, yield func(*corpus.Record, error) bool) {
	for {
		line, err := t.lines.Next()
		if err != nil {
			t.end(err, yield)
			return
		}
		if f := diag.InvalidUTF8(line); f >= 0 {
			yield(nil, jsonpos.LineErrors(t.file, t.lines.Number, line[:f], jsonpos.Fault{At: f, Msg: fmt.Sprintf("0x%02x is not UTF-8: want the whole file in UTF-8", line[f])}))
			return
		}
		if (begins(line) || t.text.Len() > mostText) && !t.emit(yield) {
			return
		}
		t.add(line)
	}
}

func (t *textReader) add(line []byte) {
	if t.text.Len() == 0 {
		if len(bytes.TrimSpace(line)) == 0 {
			return
		}
		t.from = t.lines.Number
	}
	t.text.Write(line)
	t.text.WriteByte('\n')
}

// emit ends the record that is open, if any.
func (t *textReader) emit(yield func(*corpus.Record, error) bool) bool {
	text := strings.TrimRightFunc(t.text.String(), unicode.IsSpace)
	if t.text.Reset(); text == "" {
		return true
	}
	t.any = true
	r := toolRecord(fmt.Sprintf("L%d", t.from), text)
	r.At = diag.Pos{File: t.file, Line: t.from, Col: 1}
	r.IDAt = r.At
	return yield(r, nil)
}

// end is called with the error that no line follows for.
func (t *textReader) end(err error, yield func(*corpus.Record, error) bool) {
	switch {
	case err == textfile.ErrLongLine:
		yield(nil, jsonpos.LineErrors(t.file, t.lines.Number, nil, jsonpos.Fault{Msg: err.Error()}))
	case err != io.EOF:
		yield(nil, fmt.Errorf("%s: line %d: %w", t.file, t.lines.Number, err))
	case t.emit(yield) && !t.any:
		yield(nil, diag.Errors{{Pos: diag.Pos{File: t.file}, Msg: "no records: the file has no text"}})
	}
}
