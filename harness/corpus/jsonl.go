package corpus

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/poimen-memory/mem/harness/spec/yamlpos"
	"github.com/poimen-memory/mem/prompt"
)

// maxLine is how long a line of a corpus may be, in bytes: the reader holds one line.
const maxLine = 16 << 20

// jsonlFile is the path of a file of records, one a line.
type jsonlFile string

// jsonlRecords are the records of a file of them.
func jsonlRecords(path string) source { return jsonlFile(path).records }

func (f jsonlFile) records() iter.Seq2[*record, error] {
	return func(yield func(*record, error) bool) {
		file, err := openFile(string(f))
		if err != nil {
			yield(nil, err)
			return
		}
		defer file.Close()
		f.read(newLines(file), yield)
	}
}

func (f jsonlFile) read(lines *lines, yield func(*record, error) bool) {
	none := true
	for {
		line, err := lines.next()
		switch {
		case err == io.EOF && none:
			yield(nil, yamlpos.Errors{{Pos: yamlpos.Pos{File: string(f)}, Msg: "no records: want " + wantRecord}})
			return
		case err == io.EOF:
			return
		case errors.Is(err, errLongLine):
			err = f.complain(lines, nil, []fault{{msg: err.Error()}})
		case err != nil:
			yield(nil, fmt.Errorf("%s: line %d: %w", f, lines.number, err))
			return
		case len(bytes.TrimSpace(line)) == 0:
			continue
		case none && bytes.TrimSpace(line)[0] == '[':
			yield(nil, f.complain(lines, line, []fault{{msg: "found a list, want " + wantRecord +
				"; a published data set is imported by its format, as import: {format: hotpotqa, path: …}"}}))
			return
		}
		none = false
		var r *record
		if err == nil {
			r, err = f.record(lines, line)
		}
		if !yield(r, err) {
			return
		}
	}
}

// record reads one line. The error is a yamlpos.Errors with all that is wrong with it.
func (f jsonlFile) record(lines *lines, line []byte) (*record, error) {
	r, idAt, bad := parseRecord(line, lines.last)
	if len(bad) > 0 {
		return nil, f.complain(lines, line, bad)
	}
	r.at = f.pos(lines, line, 0)
	if r.id != "" {
		r.idAt = f.pos(lines, line, idAt)
	}
	return r, nil
}

func (f jsonlFile) pos(lines *lines, line []byte, offset int) yamlpos.Pos {
	return yamlpos.Pos{File: string(f), Line: lines.number, Col: 1 + utf8.RuneCount(line[:offset])}
}

func (f jsonlFile) complain(lines *lines, line []byte, bad []fault) error {
	var es yamlpos.Errors
	for _, b := range bad {
		es = append(es, &yamlpos.Error{Pos: f.pos(lines, line, b.at), Path: b.field, Msg: b.msg})
	}
	return es
}

const wantRecord = `one record a line, as {"role": "tool", "text": "…", "id": "r17"}`

// parseRecord reads a record and the offset of its id, or says all that is wrong with it.
func parseRecord(line []byte, last bool) (r *record, idAt int, bad []fault) {
	ends := "the line ends within a record: want " + wantRecord
	if last {
		ends = "the file ends within a record: it is cut short"
	}
	if f := checkJSON(line, ends); f != nil {
		if !utf8.Valid(line) { // a column counts characters, which end here
			f.msg += fmt.Sprintf(" (byte %d of the line)", f.at+1)
		}
		return nil, 0, []fault{*f}
	}
	start := skipSpace(line, 0)
	object := value{line[start:], start}
	if object.raw[0] != '{' {
		return nil, 0, []fault{{at: start, msg: "found " + object.kind() + ", want " + wantRecord}}
	}
	p := recordParser{fields: map[string]string{}}
	for key, member := range object.members() {
		p.member(key, member)
	}
	p.missing(start)
	return &record{Record: prompt.Record{Role: p.fields["role"], Text: p.fields["text"]}, id: p.fields["id"]}, p.idAt, p.bad
}

// recordParser collects the fields of one record and all that is wrong with them.
type recordParser struct {
	fields map[string]string // role, text, id; those that were refused too
	others []string          // the keys of other fields
	idAt   int
	bad    []fault
}

func (p *recordParser) member(key, member value) {
	found := key.text()
	name := strings.ToLower(found)
	switch name {
	case "role", "text", "id":
	default:
		p.others = append(p.others, found)
		return
	}
	_, again := p.fields[name]
	p.fields[name] = "" // it is there, even when it is refused
	switch {
	case name != found:
		p.complain(key.at, name, "found the key %q, want %q", found, name)
	case again:
		p.complain(key.at, name, "given twice")
	case !member.isString():
		p.complain(member.at, name, "found %s, want a string", member.kind())
	default:
		p.fields[name] = member.text()
		p.check(name, member.at)
	}
}

func (p *recordParser) check(name string, at int) {
	found := p.fields[name]
	switch {
	case name == "role" && !prompt.ValidRole(found):
		p.complain(at, name, "found %q, want system, user, assistant, tool or another word of lower-case letters, digits, _ and -%s",
			found, lowerCase(found))
	case name == "id" && found == "":
		p.complain(at, name, "is empty: want a name, or no id at all")
	case name == "id":
		p.idAt = at
	}
}

// lowerCase is a suggestion, where lower case is all that a role needs.
func lowerCase(role string) string {
	if lower := strings.ToLower(strings.TrimSpace(role)); prompt.ValidRole(lower) {
		return fmt.Sprintf("; did you mean %q?", lower)
	}
	return ""
}

func (p *recordParser) missing(at int) {
	for _, name := range []string{"role", "text"} {
		if _, ok := p.fields[name]; ok {
			continue
		}
		msg := name + " is missing"
		if len(p.others) > 0 {
			msg += fmt.Sprintf(" (found %s)", strings.Join(p.others[:min(len(p.others), 8)], ", "))
		}
		p.complain(at, "", "%s: want %s", msg, wantRecord)
	}
}

func (p *recordParser) complain(at int, field, format string, args ...any) {
	p.bad = append(p.bad, fault{at, field, fmt.Sprintf(format, args...)})
}

// lines reads a file line by line, none of them longer than maxLine.
type lines struct {
	r      *bufio.Reader
	buf    []byte
	number int  // of the line last read, from 1
	last   bool // no newline followed it
}

func newLines(r io.Reader) *lines {
	l := &lines{r: bufio.NewReaderSize(r, 64<<10)}
	if bom, _ := l.r.Peek(3); string(bom) == "\ufeff" {
		l.r.Discard(3)
	}
	return l
}

var errLongLine = fmt.Errorf("the line is over %d MiB, the longest that is read: split the record", maxLine>>20)

// next returns a line without its newline, valid until the next call, or io.EOF. A line
// that is too long is passed over without being held, and is errLongLine.
func (l *lines) next() ([]byte, error) {
	if l.number++; cap(l.buf) > 1<<20 {
		l.buf = nil // one long line does not take memory for the rest of the file
	}
	l.buf = l.buf[:0]
	size := 0
	for {
		part, err := l.r.ReadSlice('\n')
		if size += len(part); size <= maxLine {
			l.buf = append(l.buf, part...)
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		if l.last = err == io.EOF; err != nil && (!l.last || size == 0) {
			return nil, err
		}
		if size > maxLine {
			return nil, errLongLine
		}
		return bytes.TrimSuffix(l.buf, []byte("\n")), nil
	}
}
