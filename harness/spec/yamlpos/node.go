package yamlpos

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/poimen-memory/mem/harness/diag"
)

// Unmarshaler is a type that may be written in several ways (`r17` or `{match: TEXT}`).
// It looks at the node's Kind and decodes the node into what fits; what it does not like
// it reports through the node.
type Unmarshaler interface {
	DecodeYAML(n Node)
}

// Kind is what a value is, by the YAML 1.2 core schema.
type Kind int

// The kinds. Float is a number that is not written as a whole one.
const (
	Null Kind = iota
	Bool
	Int
	Float
	Text
	List
	Map
)

// Node is a value in the file, of a type not yet decided. Aliases are followed.
type Node struct {
	file  *file
	yaml  *yaml.Node
	path  string
	rules rules
}

// Kind says what the node is.
func (n Node) Kind() Kind { return kindOf(n.yaml) }

// Text is a scalar as it is written, without its quotes; "" for a list or a map.
func (n Node) Text() string { return n.yaml.Value }

// Place is where the node stands.
func (n Node) Place() diag.Place { return diag.Place{Pos: n.file.pos(n.yaml), Path: n.path} }

// Decode fills out, a pointer, from the node, under the tags of the field that the node
// is for. It reports whether there was nothing to complain about; complaints go into the
// Errors of the whole file.
func (n Node) Decode(out any) bool {
	before := len(n.file.errs)
	n.decode(reflect.ValueOf(out).Elem())
	return len(n.file.errs) == before && !n.file.full()
}

// Errorf complains about the node.
func (n Node) Errorf(format string, args ...any) { n.Report(n.Place().Errorf(format, args...)) }

// Report adds a complaint about another place, such as an element of the node, to the
// Errors of the file.
func (n Node) Report(e *diag.Error) { n.file.report(e) }

// Want complains that the node is not what it should be: "found 3.7, want a whole number".
func (n Node) Want(what string) { n.Errorf("found %s, want %s", n.found(), what) }

// found describes the node for a message.
func (n Node) found() string {
	switch n.Kind() {
	case List:
		return "a list"
	case Map:
		return "a map"
	case Text:
		return diag.Quote(n.yaml.Value)
	case Null:
		return "nothing"
	}
	return n.yaml.Value
}

// under is the node of a map's value.
func (n Node) under(e entry, r rules) Node {
	return Node{file: n.file, yaml: deref(e.value), path: join(n.path, e.key.Value), rules: r}
}

// element is the node of a list's i-th value. An enum is for the elements of a list,
// bounds are for the list itself.
func (n Node) element(i int) Node {
	return Node{file: n.file, yaml: deref(n.yaml.Content[i]), path: index(n.path, i), rules: rules{enum: n.rules.enum}}
}

func index(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

// join appends a key to a path; a key that is not a plain word is quoted.
func join(path, key string) string {
	plain := func(r rune) bool {
		return r == '_' || r == '-' || r == '<' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	}
	switch {
	case key == "" || strings.ContainsFunc(key, func(r rune) bool { return !plain(r) }):
		return path + "[" + diag.Quote(key) + "]"
	case path == "":
		return key
	}
	return path + "." + key
}

func deref(y *yaml.Node) *yaml.Node {
	for y.Kind == yaml.AliasNode {
		y = y.Alias
	}
	return y
}

// kindOf resolves scalars itself: the library knows YAML 1.1's octals, underscores and dates.
func kindOf(y *yaml.Node) Kind {
	const quoted = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	switch {
	case y.Kind == yaml.MappingNode:
		return Map
	case y.Kind == yaml.SequenceNode:
		return List
	case y.Style&quoted != 0:
		return Text
	}
	return plainKind(y.Value)
}

func plainKind(s string) Kind {
	switch s {
	case "", "~", "null", "Null", "NULL":
		return Null
	case "true", "True", "TRUE", "false", "False", "FALSE":
		return Bool
	case ".nan", ".NaN", ".NAN":
		return Float
	}
	unsigned := strings.TrimPrefix(strings.TrimPrefix(s, "-"), "+")
	switch unsigned {
	case ".inf", ".Inf", ".INF":
		return Float
	}
	switch {
	case isInt(s):
		return Int
	case isFloat(s):
		return Float
	}
	return Text
}

func only(s, chars string) bool {
	return s != "" && strings.Trim(s, chars) == ""
}

func isInt(s string) bool {
	if digits, ok := strings.CutPrefix(s, "0x"); ok {
		return only(digits, "0123456789abcdefABCDEF")
	}
	if digits, ok := strings.CutPrefix(s, "0o"); ok {
		return only(digits, "01234567")
	}
	if s != "" && (s[0] == '-' || s[0] == '+') {
		s = s[1:]
	}
	return only(s, "0123456789")
}

// isFloat takes a number out of range for a number: it is refused as one, not read as text.
func isFloat(s string) bool {
	if !only(s, "0123456789.eE+-") {
		return false
	}
	_, err := strconv.ParseFloat(s, 64)
	return err == nil || strings.Contains(err.Error(), strconv.ErrRange.Error())
}
