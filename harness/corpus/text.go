package corpus

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"regexp"
	"strings"
	"unicode"

	"github.com/poimen-memory/mem/harness/spec/yamlpos"
)

// mostText is how long a record of plain text may become, in bytes, before the next line
// begins another one.
const mostText = 1 << 20

// textRecords are the paragraphs of a text: what stands between blank lines. A record's id
// is L and the line where it begins.
func textRecords(path string) source {
	return textSource(path, func() begins {
		return func(line []byte) bool { return len(bytes.TrimSpace(line)) == 0 }
	})
}

// markdownRecords are the sections of a Markdown text: each begins with its heading.
func markdownRecords(path string) source { return textSource(path, sections) }

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

func textSource(path string, split func() begins) source {
	return func() iter.Seq2[*record, error] {
		return func(yield func(*record, error) bool) {
			file, err := openFile(path)
			if err != nil {
				yield(nil, err)
				return
			}
			defer file.Close()
			t := textReader{file: jsonlFile(path), lines: newLines(file)}
			t.read(split(), yield)
		}
	}
}

// textReader collects the lines of a record.
type textReader struct {
	file  jsonlFile
	lines *lines
	text  strings.Builder
	from  int  // its first line
	any   bool // there was a record
}

func (t *textReader) read(begins begins, yield func(*record, error) bool) {
	for {
		line, err := t.lines.next()
		if err != nil {
			t.end(err, yield)
			return
		}
		if f := invalidUTF8(line); f >= 0 {
			yield(nil, t.file.complain(t.lines, line[:f], []fault{{at: f, msg: fmt.Sprintf("0x%02x is not UTF-8: want the whole file in UTF-8", line[f])}}))
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
		t.from = t.lines.number
	}
	t.text.Write(line)
	t.text.WriteByte('\n')
}

// emit ends the record that is open, if any.
func (t *textReader) emit(yield func(*record, error) bool) bool {
	text := strings.TrimRightFunc(t.text.String(), unicode.IsSpace)
	if t.text.Reset(); text == "" {
		return true
	}
	t.any = true
	r := toolRecord(fmt.Sprintf("L%d", t.from), text)
	r.at = yamlpos.Pos{File: string(t.file), Line: t.from, Col: 1}
	r.idAt = r.at
	return yield(r, nil)
}

// end is called with the error that no line follows for.
func (t *textReader) end(err error, yield func(*record, error) bool) {
	switch {
	case err == errLongLine:
		yield(nil, t.file.complain(t.lines, nil, []fault{{msg: err.Error()}}))
	case err != io.EOF:
		yield(nil, fmt.Errorf("%s: line %d: %w", t.file, t.lines.number, err))
	case t.emit(yield) && !t.any:
		yield(nil, yamlpos.Errors{{Pos: yamlpos.Pos{File: string(t.file)}, Msg: "no records: the file has no text"}})
	}
}
