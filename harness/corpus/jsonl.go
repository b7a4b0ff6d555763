package corpus

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/jsonpos"
	"github.com/poimen-memory/mem/harness/textfile"
	"github.com/poimen-memory/mem/prompt"
)

// JSONL are the records of a file, one a line.
func JSONL(path string) Records { return jsonlFile(path).records }

// jsonlFile is the path of a file of records.
type jsonlFile string

func (f jsonlFile) records() iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		file, err := textfile.Open(string(f))
		if err != nil {
			yield(nil, err)
			return
		}
		defer file.Close()
		f.read(textfile.NewLines(file), yield)
	}
}

func (f jsonlFile) read(lines *textfile.Lines, yield func(*Record, error) bool) {
	none := true
	for {
		line, err := lines.Next()
		switch {
		case err == io.EOF && none:
			yield(nil, diag.Errors{{Pos: diag.Pos{File: string(f)}, Msg: "no records: want " + wantRecord}})
			return
		case err == io.EOF:
			return
		case errors.Is(err, textfile.ErrLongLine):
			err = jsonpos.LineErrors(string(f), lines.Number, nil, jsonpos.Fault{Msg: err.Error()})
		case err != nil:
			yield(nil, fmt.Errorf("%s: line %d: %w", f, lines.Number, err))
			return
		case len(bytes.TrimSpace(line)) == 0:
			continue
		case none && bytes.TrimSpace(line)[0] == '[':
			yield(nil, jsonpos.LineErrors(string(f), lines.Number, line, jsonpos.Fault{Msg: "found a list, want " + wantRecord +
				"; a published data set is imported by its format, as import: {format: hotpotqa, path: …}"}))
			return
		}
		none = false
		var r *Record
		if err == nil {
			r, err = f.record(lines, line)
		}
		if !yield(r, err) {
			return
		}
	}
}

// record reads one line. The error is a diag.Errors with all that is wrong with it.
func (f jsonlFile) record(lines *textfile.Lines, line []byte) (*Record, error) {
	r, idAt, bad := parseRecord(line, lines.Last)
	if len(bad) > 0 {
		return nil, jsonpos.LineErrors(string(f), lines.Number, line, bad...)
	}
	r.At = f.pos(lines, line, 0)
	if r.ID != "" {
		r.IDAt = f.pos(lines, line, idAt)
	}
	return r, nil
}

func (f jsonlFile) pos(lines *textfile.Lines, line []byte, offset int) diag.Pos {
	return diag.Pos{File: string(f), Line: lines.Number, Col: 1 + utf8.RuneCount(line[:offset])}
}

const wantRecord = `one record a line, as {"role": "tool", "text": "…", "id": "r17"}`

// parseRecord reads a record and the offset of its id, or says all that is wrong with it.
func parseRecord(line []byte, last bool) (r *Record, idAt int, bad []jsonpos.Fault) {
	ends := "the line ends within a record: want " + wantRecord
	if last {
		ends = "the file ends within a record: it is cut short"
	}
	object, f := jsonpos.Parse(line, ends)
	if f != nil {
		if !utf8.Valid(line) { // a column counts characters, which end here
			f.Msg += fmt.Sprintf(" (byte %d of the line)", f.At+1)
		}
		return nil, 0, []jsonpos.Fault{*f}
	}
	if object.Raw[0] != '{' {
		return nil, 0, []jsonpos.Fault{{At: object.At, Msg: "found " + object.Kind() + ", want " + wantRecord}}
	}
	p := recordParser{fields: map[string]string{}}
	for key, member := range object.Members() {
		p.member(key, member)
	}
	p.missing(object.At)
	return &Record{Record: prompt.Record{Role: p.fields["role"], Text: p.fields["text"]}, ID: p.fields["id"]}, p.idAt, p.bad
}

// recordParser collects the fields of one record and all that is wrong with them.
type recordParser struct {
	fields map[string]string // role, text, id; those that were refused too
	others []string          // the keys of other fields
	idAt   int
	bad    []jsonpos.Fault
}

func (p *recordParser) member(key, member jsonpos.Value) {
	found := key.Text()
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
		p.errorf(key.At, name, "found the key %q, want %q", found, name)
	case again:
		p.errorf(key.At, name, "given twice")
	case !member.IsString():
		p.errorf(member.At, name, "found %s, want a string", member.Kind())
	default:
		p.fields[name] = member.Text()
		p.check(name, member.At)
	}
}

func (p *recordParser) check(name string, at int) {
	found := p.fields[name]
	switch {
	case name == "role" && !prompt.ValidRole(found):
		p.errorf(at, name, "found %q, want system, user, assistant, tool or another word of lower-case letters, digits, _ and -%s",
			found, lowerCase(found))
	case name == "id" && found == "":
		p.errorf(at, name, "is empty: want a name, or no id at all")
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
		p.errorf(at, "", "%s: want %s", msg, wantRecord)
	}
}

func (p *recordParser) errorf(at int, field, format string, args ...any) {
	p.bad = append(p.bad, jsonpos.Fault{At: at, Field: field, Msg: fmt.Sprintf(format, args...)})
}
