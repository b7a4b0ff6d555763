// Package jsonpos reads JSON strictly and keeps the offset of every value, so that errors can name
// the line and the column. Text that encoding/json would silently replace is an error.
package jsonpos

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/poimen-memory/mem/harness/diag"
)

// Fault is what is wrong at an offset in a piece of JSON.
type Fault struct {
	At    int // in bytes
	Field string
	Msg   string
}

// Parse returns the one JSON value that b holds, or what is wrong with it: text that is not
// UTF-8, escapes of half a surrogate pair, syntax. cutShort is the message if b ends within
// the value.
func Parse(b []byte, cutShort string) (Value, *Fault) {
	if f := check(b, cutShort); f != nil {
		return Value{}, f
	}
	start := skipSpace(b, 0)
	return Value{b[start:], start}, nil
}

func check(b []byte, ends string) *Fault {
	if i := diag.InvalidUTF8(b); i >= 0 {
		return &Fault{At: i, Msg: fmt.Sprintf("0x%02x is not UTF-8: want the whole file in UTF-8", b[i])}
	}
	if !json.Valid(b) {
		return syntaxFault(b, ends)
	}
	if i := loneSurrogate(b); i >= 0 {
		return &Fault{At: i, Msg: fmt.Sprintf("%s is half of a surrogate pair, which is no character", b[i:i+6])}
	}
	return nil
}

// syntaxFault says what is wrong with JSON that is not valid.
func syntaxFault(b []byte, ends string) *Fault {
	err := json.Unmarshal(b, new(any))
	syntax, _ := err.(*json.SyntaxError)
	switch {
	case syntax == nil:
		return &Fault{Msg: fmt.Sprintf("not JSON: %v", err)}
	case syntax.Error() == "unexpected end of JSON input":
		return &Fault{At: len(b), Msg: ends}
	}
	return &Fault{At: max(int(syntax.Offset)-1, 0), Msg: "not JSON: " + syntax.Error()}
}

// loneSurrogate is the offset of the first \u escape in valid JSON that is half of a
// pair without its other half, -1 without one.
func loneSurrogate(b []byte) int {
	for i := bytes.IndexByte(b, '\\'); i >= 0; {
		size := 2
		if b[i+1] == 'u' {
			size = 6
			if r := escaped(b[i:]); utf16.IsSurrogate(r) {
				if utf16.DecodeRune(r, escaped(b[i+6:])) == utf8.RuneError {
					return i
				}
				size = 12
			}
		}
		next := bytes.IndexByte(b[i+size:], '\\')
		if next < 0 {
			return -1
		}
		i += size + next
	}
	return -1
}

// escaped is the code unit of the \u escape that b begins with, -1 for anything else.
func escaped(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

// Value is a valid JSON value. Raw begins with it; after a value that Parse returned, white space
// may follow. At is its offset in the text that was parsed.
type Value struct {
	Raw []byte
	At  int
}

// Members yields the keys and values of an object, repeated keys too.
func (v Value) Members() iter.Seq2[Value, Value] {
	return func(yield func(key, member Value) bool) {
		for i := skipSpace(v.Raw, 1); v.Raw[i] != '}'; {
			key := v.sub(i, stringEnd(v.Raw, i))
			i = skipSpace(v.Raw, i+len(key.Raw)) + 1 // the colon
			i = skipSpace(v.Raw, i)
			member := v.sub(i, valueEnd(v.Raw, i))
			if !yield(key, member) {
				return
			}
			i = skipComma(v.Raw, i+len(member.Raw))
		}
	}
}

// Elements yields the elements of a list.
func (v Value) Elements() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		for i := skipSpace(v.Raw, 1); v.Raw[i] != ']'; {
			element := v.sub(i, valueEnd(v.Raw, i))
			if !yield(element) {
				return
			}
			i = skipComma(v.Raw, i+len(element.Raw))
		}
	}
}

func (v Value) sub(from, to int) Value { return Value{v.Raw[from:to], v.At + from} }

func skipComma(b []byte, i int) int {
	if i = skipSpace(b, i); b[i] == ',' {
		i = skipSpace(b, i+1)
	}
	return i
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

// stringEnd is the offset after the string that begins at i.
func stringEnd(b []byte, i int) int {
	for i++; b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// valueEnd is the offset after the value that begins at i.
func valueEnd(b []byte, i int) int {
	depth := 0
	for ; i < len(b); i++ {
		switch b[i] {
		case '"':
			i = stringEnd(b, i) - 1
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		default:
			if depth > 0 || !valueStops(b, i+1) {
				continue
			}
		}
		if depth <= 0 {
			return i + 1
		}
	}
	return i
}

// valueStops reports whether a number or a word ends before i.
func valueStops(b []byte, i int) bool {
	return i >= len(b) || bytes.IndexByte([]byte(" \t\r\n,}]"), b[i]) >= 0
}

// Text decodes a string. encoding/json would check it again and hold it twice.
func (v Value) Text() string {
	raw := v.Raw[1 : len(v.Raw)-1]
	var s strings.Builder
	s.Grow(len(raw))
	for {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 {
			s.Write(raw)
			return s.String()
		}
		s.Write(raw[:i])
		r, size := unescape(raw[i:])
		s.WriteRune(r)
		raw = raw[i+size:]
	}
}

// unescape is the character of the escape that b begins with, and its size in bytes.
func unescape(b []byte) (r rune, size int) {
	if r = escaped(b); r < 0 {
		return rune("\"\\/\b\f\n\r\t"[strings.IndexByte(`"\/bfnrt`, b[1])]), 2
	}
	if utf16.IsSurrogate(r) {
		return utf16.DecodeRune(r, escaped(b[6:])), 12
	}
	return r, 6
}

// IsString reports whether the value is a string.
func (v Value) IsString() bool { return v.Raw[0] == '"' }

// IsNull reports whether the value is null.
func (v Value) IsNull() bool { return v.Raw[0] == 'n' }

// IsEmpty reports whether the value says nothing: null, false, or a string, a list or an object
// without content.
func (v Value) IsEmpty() bool {
	switch v.Raw[0] {
	case '"':
		return v.Raw[1] == '"'
	case '{', '[':
		end := v.Raw[skipSpace(v.Raw, 1)]
		return end == '}' || end == ']'
	}
	return v.Raw[0] == 'n' || v.Raw[0] == 'f'
}

// Kind describes the value in a message: "an object".
func (v Value) Kind() string {
	switch v.Raw[0] {
	case '"':
		return "a string"
	case '{':
		return "an object"
	case '[':
		return "a list"
	case 'n':
		return "null"
	case 't', 'f':
		return "a truth value"
	}
	return "a number"
}

// LineErrors are faults of the JSON in a line as errors of its file.
func LineErrors(file string, number int, line []byte, bad ...Fault) error {
	var es diag.Errors
	for _, b := range bad {
		pos := diag.Pos{File: file, Line: number, Col: 1 + utf8.RuneCount(line[:b.At])}
		es = append(es, &diag.Error{Pos: pos, Path: b.Field, Msg: b.Msg})
	}
	return es
}
