// Package yamlpos reads YAML strictly and remembers where everything stands. It is
// what specs, gate scripts and labels share, and the only importer of the YAML library.
//
// Decode fills a struct by the tags of its fields and returns all errors of a file at
// once, each with file, line, column and the field's path:
//
//	yaml:"name"            the key; a field without a yaml tag is left alone
//	yaml:"name,required"   the key must be there
//	yaml:",pos"            a Place or Pos field that receives where the map stands
//	one:"a,b,c"            beside it: the map has exactly one of these keys
//	enum:"a,b,c"           the text, or each element of the list, is one of these
//	min:"0" max:"1"        bounds of a number, of a list's length; min:"1" of a text: not blank
//
// An absent key leaves its field as it was, so defaults are set before decoding; a null
// is never taken for absent. Where a position is needed later, the field is an At. A type
// that may be written in several ways implements Unmarshaler.
//
// Scalars follow the YAML 1.2 core schema: `yes` is text, `true` is not, `010` is ten,
// `1_000` and dates are text. Refused, because each hides a mistake or an attack: unknown
// and duplicate keys, keys that are not text, numbers where text belongs and the reverse,
// NaN and infinities, tags, a second document, an empty file, text that is not UTF-8,
// nesting deeper than 64, anchors that contain themselves, and aliases that expand to more
// than 100,000 values. A byte order mark is skipped. Anchors and `<<` merges work; an error
// in a merged value points to where the value stands.
package yamlpos

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Pos is a place in a file. Line and Col start at 1; Col counts characters, not bytes.
// Line 0 means the file as a whole.
type Pos struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Col  int    `json:"col"`
}

// String is file:line:col, as editors and CI systems parse it.
func (p Pos) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col)
}

// Place is where a value stands, in the file and in the document ("models[0].policy").
// The zero Place is that of a value that was not written.
type Place struct {
	Pos  Pos
	Path string
}

// Present reports whether the value was written in the file.
func (p Place) Present() bool { return p.Pos.Line > 0 }

// Errorf is an error at the place.
func (p Place) Errorf(format string, args ...any) *Error {
	return &Error{Pos: p.Pos, Path: p.Path, Msg: fmt.Sprintf(format, args...)}
}

// At is a value with its place, for values that a later complaint may have to point at.
// The tags of a field apply to the value within.
type At[T any] struct {
	Value T
	Place
}

// DecodeYAML implements Unmarshaler.
func (a *At[T]) DecodeYAML(n Node) {
	a.Place = n.Place()
	n.Decode(&a.Value)
}

// Error is one complaint about one place.
type Error struct {
	Pos  Pos
	Path string // of the field, "" for the whole document
	Msg  string // what was found and what would be right
}

func (e *Error) Error() string {
	if e.Path == "" {
		return e.Pos.String() + ": " + e.Msg
	}
	return e.Pos.String() + ": " + e.Path + ": " + e.Msg
}

// Errors are all complaints about a file.
type Errors []*Error

// Error is one complaint a line.
func (es Errors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Err is nil without errors; otherwise es sorted by position within each file, files in
// their first order. The same complaint about the same place, as a merged map brings it, is
// kept once.
func (es Errors) Err() error {
	type complaint struct {
		at  Pos
		msg string
	}
	files, seen, sorted := map[string]int{}, map[complaint]bool{}, Errors(nil)
	for _, e := range es {
		if _, ok := files[e.Pos.File]; !ok {
			files[e.Pos.File] = len(files)
		}
		if c := (complaint{e.Pos, e.Msg}); !seen[c] {
			seen[c], sorted = true, append(sorted, e)
		}
	}
	slices.SortStableFunc(sorted, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(files[a.Pos.File], files[b.Pos.File]), cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col))
	})
	if sorted == nil {
		return nil
	}
	return sorted
}
