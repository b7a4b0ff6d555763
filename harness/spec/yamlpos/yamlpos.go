// Package yamlpos reads YAML strictly and keeps the position of every value. Specs, gate
// scripts and label files are read with it. Only it imports the YAML library.
//
// Decode fills a struct by the tags of its fields and returns all errors of a file at
// once, as diag.Errors, each with file, line, column and the field's path:
//
//	yaml:"name"            the key; a field without a yaml tag is left alone
//	yaml:"name,required"   the key must be there
//	yaml:",pos"            a diag.Place or diag.Pos field that receives the place of the map
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
// nesting deeper than 64, more than 1,000,000 values, anchors that contain themselves, and
// aliases that expand to more than 100,000 values. A file with more than 1,000 errors is not
// checked to its end. A byte order mark is skipped. Anchors and `<<` merges work; an error
// in a merged value points to where the value stands.
package yamlpos

import "github.com/poimen-memory/mem/harness/diag"

// At is a value with its place, for values that a later error may have to point at.
// The tags of a field apply to Value.
type At[T any] struct {
	Value T
	diag.Place
}

// DecodeYAML implements Unmarshaler.
func (a *At[T]) DecodeYAML(n Node) {
	a.Place = n.Place()
	n.Decode(&a.Value)
}
