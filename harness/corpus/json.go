package corpus

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"strconv"
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
		return &fault{at: i, msg: fmt.Sprintf("byte %d of the line, 0x%02x, is not UTF-8: want the whole file in UTF-8", i-bytes.LastIndexByte(b[:i], '\n'), b[i])}
	}
	var any skipped
	err := json.Unmarshal(b, &any)
	syntax, _ := err.(*json.SyntaxError)
	switch {
	case syntax != nil && int(syntax.Offset) >= len(b) && syntax.Error() == "unexpected end of JSON input":
		return &fault{at: len(b), msg: ends}
	case syntax != nil:
		return &fault{at: max(int(syntax.Offset)-1, 0), msg: "not JSON: " + syntax.Error()}
	case err != nil:
		return &fault{msg: "not JSON: " + err.Error()}
	}
	if i := loneSurrogate(b); i >= 0 {
		return &fault{at: i, msg: fmt.Sprintf("%s is half of a surrogate pair, which is no character", b[i:i+6])}
	}
	return nil
}

// skipped is a value that is checked for syntax only.
type skipped struct{}

func (*skipped) UnmarshalJSON([]byte) error { return nil }

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

// member is a key of a JSON object and its value, with the offset of each.
type member struct {
	key     string
	keyAt   int
	value   []byte
	valueAt int
}

// members walks an object that is known to be valid JSON. It does not copy values.
func members(b []byte) iter.Seq[member] {
	return func(yield func(member) bool) {
		i := skipSpace(b, 0) + 1 // the brace
		for i = skipSpace(b, i); b[i] != '}'; i = skipSpace(b, i) {
			m := member{keyAt: i}
			end := stringEnd(b, i)
			m.key = text(b[i:end])
			m.valueAt = skipSpace(b, skipSpace(b, end)+1) // the colon
			i = valueEnd(b, m.valueAt)
			m.value = b[m.valueAt:i]
			if !yield(m) {
				return
			}
			if i = skipSpace(b, i); b[i] == ',' {
				i++
			}
		}
	}
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

// text decodes a JSON string that is known to be valid.
func text(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		panic("corpus: checked JSON string: " + err.Error())
	}
	return s
}

// kind names a JSON value for a message.
func kind(raw []byte) string {
	switch raw[0] {
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
