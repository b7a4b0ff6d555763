package corpus

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// fault is a complaint about a place in a piece of JSON.
type fault struct {
	at    int // byte offset
	field string
	msg   string
}

// checkJSON refuses what is not one JSON value in valid UTF-8 whose strings decode to what
// they say: encoding/json replaces broken text without a word. ends says what it means
// when the value is cut short.
func checkJSON(b []byte, ends string) *fault {
	if i := invalidUTF8(b); i >= 0 {
		return &fault{at: i, msg: fmt.Sprintf("0x%02x is not UTF-8: want the whole file in UTF-8", b[i])}
	}
	if !json.Valid(b) {
		return syntaxFault(b, ends)
	}
	if i := loneSurrogate(b); i >= 0 {
		return &fault{at: i, msg: fmt.Sprintf("%s is half of a surrogate pair, which is no character", b[i:i+6])}
	}
	return nil
}

// syntaxFault says what is wrong with JSON that is not valid.
func syntaxFault(b []byte, ends string) *fault {
	err := json.Unmarshal(b, new(any))
	syntax, _ := err.(*json.SyntaxError)
	switch {
	case syntax == nil:
		return &fault{msg: fmt.Sprintf("not JSON: %v", err)}
	case syntax.Error() == "unexpected end of JSON input":
		return &fault{at: len(b), msg: ends}
	}
	return &fault{at: max(int(syntax.Offset)-1, 0), msg: "not JSON: " + syntax.Error()}
}

func invalidUTF8(b []byte) int {
	if utf8.Valid(b) {
		return -1
	}
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
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

// value is a JSON value that is known to be valid, with its offset in what was checked.
type value struct {
	raw []byte
	at  int
}

// members walks an object: its keys and their values, as often as they come.
func (v value) members() iter.Seq2[value, value] {
	return func(yield func(key, member value) bool) {
		for i := skipSpace(v.raw, 1); v.raw[i] != '}'; {
			key := v.sub(i, stringEnd(v.raw, i))
			i = skipSpace(v.raw, i+len(key.raw)) + 1 // the colon
			i = skipSpace(v.raw, i)
			member := v.sub(i, valueEnd(v.raw, i))
			if !yield(key, member) {
				return
			}
			i = skipComma(v.raw, i+len(member.raw))
		}
	}
}

// elements walks a list.
func (v value) elements() iter.Seq[value] {
	return func(yield func(value) bool) {
		for i := skipSpace(v.raw, 1); v.raw[i] != ']'; {
			element := v.sub(i, valueEnd(v.raw, i))
			if !yield(element) {
				return
			}
			i = skipComma(v.raw, i+len(element.raw))
		}
	}
}

func (v value) sub(from, to int) value { return value{v.raw[from:to], v.at + from} }

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

// text decodes a string. encoding/json would check it once more, and hold it twice.
func (v value) text() string {
	raw := v.raw[1 : len(v.raw)-1]
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

func (v value) isString() bool { return v.raw[0] == '"' }

func (v value) isNull() bool { return v.raw[0] == 'n' }

// kind names the value for a message.
func (v value) kind() string {
	switch v.raw[0] {
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
