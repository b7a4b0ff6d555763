// Package diag holds errors about text that a person wrote, such as a spec, a corpus or the
// value of a flag: each error has its position, and all errors are reported together.
//
//	var errs diag.Errors
//	errs = append(errs, place.Errorf("%s", diag.OneOf(found, allowed)))
//	return errs.Err() // nil if there are none
package diag

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"
)

// Pos is a position in a file. Line and Col start at 1; Col counts characters, not bytes.
// Line 0 means the source as a whole. The source of a flag's value is the flag.
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

// Place is the position of a value and its path in the document ("models[0].policy").
// The zero Place means that the value was not written.
type Place struct {
	Pos  Pos
	Path string
}

// Flag is the place of the value of a command-line flag, such as "--tokenizer".
func Flag(name string) Place { return Place{Pos: Pos{File: name}} }

// Present reports whether the value was written in a file.
func (p Place) Present() bool { return p.Pos.Line > 0 }

// Errorf is an error at the place.
func (p Place) Errorf(format string, args ...any) *Error {
	return &Error{Pos: p.Pos, Path: p.Path, Msg: fmt.Sprintf(format, args...)}
}

// Error is one error at one place.
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

// Errors are errors of one or more files.
type Errors []*Error

// Error has one line for each error.
func (es Errors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Err is nil if there are no errors; otherwise es sorted by position within each file, the
// files in the order of their first error. An error that repeats another one's position and
// message, as those of a merged YAML map do, is left out.
func (es Errors) Err() error {
	type key struct {
		at  Pos
		msg string
	}
	files, seen, sorted := map[string]int{}, map[key]bool{}, Errors(nil)
	for _, e := range es {
		if _, ok := files[e.Pos.File]; !ok {
			files[e.Pos.File] = len(files)
		}
		if k := (key{e.Pos, e.Msg}); !seen[k] {
			seen[k], sorted = true, append(sorted, e)
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

// maxErrors is how many errors a List keeps.
const maxErrors = 20

// List collects the errors of one file. It keeps the first 20 and counts the rest.
type List struct {
	errs    Errors
	more    int // errors that were not kept
	nextPos Pos // of the first of them
}

// Add takes the Errors that err holds. It returns any other error.
func (l *List) Add(err error) error {
	var es Errors
	if !errors.As(err, &es) {
		return err
	}
	for _, e := range es {
		if len(l.errs) < maxErrors {
			l.errs = append(l.errs, e)
			continue
		}
		if l.more++; l.more == 1 {
			l.nextPos = e.Pos
		}
	}
	return nil
}

// Empty reports whether no errors were added.
func (l *List) Empty() bool { return len(l.errs) == 0 }

// Err is nil if the list is empty. Otherwise it is an Errors, whose last error says how many
// more there are.
func (l *List) Err() error {
	errs := l.errs
	if l.more > 0 {
		errs = append(slices.Clone(errs), &Error{Pos: l.nextPos, Msg: fmt.Sprintf("and %d more errors from here on", l.more)})
	}
	return errs.Err()
}

// InvalidUTF8 is the offset of the first byte that is not UTF-8, -1 if there is none.
func InvalidUTF8(b []byte) int {
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

// Reason is an error about a file without the file's name, for a message that has the name.
func Reason(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
