package yamlpos

import (
	"bytes"
	"reflect"
	"slices"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/poimen-memory/mem/harness/diag"
)

// Bounds of what a file may hold. No honest spec or script comes near them.
const (
	maxDepth      = 64
	maxExpanded   = 100_000   // values reached through aliases
	maxSeparators = 1_000_000 // line ends, commas and colons; what is parsed takes a hundred times the memory of the text
	maxErrors     = 1000      // that are shown
)

// Decode fills out, a pointer to a struct, from a YAML file of one document, as the
// package comment says. Name is the file's name in messages. The error is an Errors;
// what could be decoded is in out all the same, so that the caller can go on checking.
func Decode(name string, data []byte, out any) error {
	f := &file{name: name, end: position(data, len(data))}
	if root := f.parse(bytes.TrimPrefix(data, []byte("\ufeff"))); root != nil && f.walk(root) {
		Node{file: f, yaml: deref(root)}.decode(reflect.ValueOf(out).Elem())
	}
	if f.full() {
		f.errs[maxErrors] = diag.Place{Pos: f.errs[maxErrors].Pos}.Errorf("found more than %d errors: the rest of the file was not checked", maxErrors)
	}
	return f.errs.Err()
}

// file is a file while it is read.
type file struct {
	name string
	end  diag.Pos // of the whole text
	errs diag.Errors
}

func (f *file) report(e *diag.Error) {
	if !f.full() {
		f.errs = append(f.errs, e)
	}
}

// full reports whether there is one error more than are shown.
func (f *file) full() bool { return len(f.errs) > maxErrors }

// pos is a node's place. The library places what is missing after "---" on a line that need
// not exist.
func (f *file) pos(y *yaml.Node) diag.Pos {
	if y.Line > f.end.Line {
		return diag.Pos{File: f.name, Line: f.end.Line, Col: f.end.Col}
	}
	return diag.Pos{File: f.name, Line: y.Line, Col: y.Column}
}

// parse returns the document's root, or nil when there is none; then it has said why.
func (f *file) parse(data []byte) *yaml.Node {
	if at := diag.InvalidUTF8(data); at >= 0 {
		f.invalid(data, at)
		return nil
	}
	if n := separators(data); n > maxSeparators {
		f.fail(diag.Pos{Line: 1, Col: 1}, "found %d line ends, commas and colons, want at most %d: the file has too many values", n, maxSeparators)
		return nil
	}
	first, second, err := documents(data)
	switch {
	case err != nil:
		f.report(syntaxError(f.name, data))
	case first == nil && len(bytes.TrimSpace(data)) == 0:
		f.fail(diag.Pos{Line: 1, Col: 1}, "found an empty file, want a map")
	case first == nil:
		f.fail(diag.Pos{Line: 1, Col: 1}, "found only comments, want a map")
	case second != nil:
		f.fail(diag.Pos{Line: second.Line, Col: second.Column}, "found a second document, want one document a file")
		return first.Content[0]
	default:
		return first.Content[0]
	}
	return nil
}

func (f *file) fail(at diag.Pos, format string, args ...any) {
	at.File = f.name
	f.report(diag.Place{Pos: at}.Errorf(format, args...))
}

func (f *file) invalid(data []byte, at int) {
	if bytes.HasPrefix(data, []byte{0xff, 0xfe}) || bytes.HasPrefix(data, []byte{0xfe, 0xff}) {
		f.fail(diag.Pos{Line: 1, Col: 1}, "found UTF-16, want UTF-8")
		return
	}
	f.fail(position(data, at), "found the byte 0x%02x, which is not valid UTF-8", data[at])
}

// separators are the bytes that begin a value at most: a bound of the values, without parsing.
func separators(data []byte) int {
	return bytes.Count(data, []byte("\n")) + bytes.Count(data, []byte(",")) + bytes.Count(data, []byte(":"))
}

// position is the line and the column of a byte offset.
func position(data []byte, offset int) diag.Pos {
	before := data[:offset]
	start := bytes.LastIndexByte(before, '\n') + 1
	return diag.Pos{Line: bytes.Count(before, []byte("\n")) + 1, Col: utf8.RuneCount(before[start:]) + 1}
}

// walker looks through the whole document before it is decoded, also where no type leads.
type walker struct {
	*file
	open     []*yaml.Node // anchors being expanded
	outer    diag.Place   // of the outermost alias being expanded
	expanded int
}

// walk reports tags, keys that are duplicate or not text, and returns false for a
// document that must not be followed further: too deep, too large, or endless.
func (f *file) walk(root *yaml.Node) bool {
	w := &walker{file: f}
	return w.visit(root, "", 0)
}

func (w *walker) visit(y *yaml.Node, path string, depth int) bool {
	if len(w.open) > 0 {
		w.expanded++
	}
	switch {
	case w.expanded > maxExpanded:
		w.report(w.outer.Errorf("aliases expand to more than %d values", maxExpanded))
		return false
	case depth > maxDepth:
		Node{file: w.file, yaml: y, path: path}.Errorf("found values nested deeper than %d", maxDepth)
		return false
	case y.Kind == yaml.AliasNode:
		return w.alias(y, path, depth)
	}
	w.tag(y, path)
	if y.Kind == yaml.MappingNode {
		return w.visitMap(y, path, depth)
	}
	for i, c := range y.Content {
		if !w.visit(c, index(path, i), depth+1) {
			return false
		}
	}
	return true
}

func (w *walker) tag(y *yaml.Node, path string) {
	if y.Style&yaml.TaggedStyle != 0 {
		Node{file: w.file, yaml: y, path: path}.Errorf("found the tag %s: tags are not used here, remove it", diag.Quote(y.Tag))
	}
}

func (w *walker) alias(y *yaml.Node, path string, depth int) bool {
	if len(w.open) == 0 {
		w.outer = diag.Place{Pos: w.pos(y), Path: path}
	}
	if slices.Contains(w.open, y.Alias) {
		w.report(w.outer.Errorf("the anchor %s contains itself", diag.Quote(y.Value)))
		return false
	}
	w.open = append(w.open, y.Alias)
	ok := w.visit(y.Alias, path, depth)
	w.open = w.open[:len(w.open)-1]
	return ok
}

func (w *walker) visitMap(y *yaml.Node, path string, depth int) bool {
	first := map[string]*yaml.Node{}
	for i := 0; i < len(y.Content); i += 2 {
		key := deref(y.Content[i])
		w.tag(key, path)
		if before, ok := first[key.Value]; ok && isKey(key) {
			Node{file: w.file, yaml: y.Content[i], path: path}.Errorf("found the key %s twice, first on line %d", diag.Quote(key.Value), before.Line)
		} else if isKey(key) {
			first[key.Value] = key
		} else {
			Node{file: w.file, yaml: key, path: path}.Want("a key that is text")
		}
		if !w.visit(y.Content[i+1], join(path, key.Value), depth+1) {
			return false
		}
	}
	return true
}

func isKey(y *yaml.Node) bool { return kindOf(y) == Text }

// entry is a key of a map with its value.
type entry struct{ key, value *yaml.Node }

// entries are the keys of a map, each once, its own before those merged with `<<`: the
// first one stands. Keys that are not text are left out; the walk has reported them.
func (f *file) entries(y *yaml.Node, path string) []entry {
	var own, merged []entry
	for i := 0; i < len(y.Content); i += 2 {
		key, value := deref(y.Content[i]), y.Content[i+1]
		switch {
		case key.Tag == "!!merge":
			merged = append(merged, f.merge(value, join(path, "<<"))...)
		case isKey(key):
			own = append(own, entry{key, value})
		}
	}
	return once(append(own, merged...))
}

func (f *file) merge(value *yaml.Node, path string) []entry {
	y := deref(value)
	switch kindOf(y) {
	case Map:
		return f.entries(y, path)
	case List:
		var all []entry
		for i, c := range y.Content {
			if kindOf(deref(c)) == List {
				Node{file: f, yaml: deref(c), path: index(path, i)}.Want("a map to merge")
				continue
			}
			all = append(all, f.merge(c, index(path, i))...)
		}
		return all
	}
	Node{file: f, yaml: y, path: path}.Want("a map to merge, or a list of maps")
	return nil
}

func once(entries []entry) []entry {
	seen := map[string]bool{}
	return slices.DeleteFunc(entries, func(e entry) bool {
		again := seen[e.key.Value]
		seen[e.key.Value] = true
		return again
	})
}
