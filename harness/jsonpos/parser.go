package jsonpos

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/poimen-memory/mem/harness/diag"
)

// Parser reads values of expected kinds and collects everything that is wrong with them.
type Parser struct {
	Bad    []Fault
	Places *Places // of the text whose values are read; nil if positions are not asked for
}

// Pos is the position of a value; zero without Places.
func (p *Parser) Pos(v Value) diag.Pos {
	if p.Places == nil {
		return diag.Pos{}
	}
	return p.Places.At(v.At)
}

// Errorf adds a fault at v.
func (p *Parser) Errorf(v Value, field, format string, args ...any) {
	p.Bad = append(p.Bad, Fault{v.At, field, fmt.Sprintf(format, args...)})
}

// Fields are an object's members, nil when it is no object or lacks a required one.
func (p *Parser) Fields(v Value, field string, required ...string) map[string]Value {
	if v.Raw[0] != '{' {
		with := ""
		if len(required) > 0 {
			with = " with " + strings.Join(required, ", ")
		}
		p.Errorf(v, field, "found %s, want an object%s", v.Kind(), with)
		return nil
	}
	fields := map[string]Value{}
	for key, member := range v.Members() {
		fields[key.Text()] = member
	}
	complete := fields
	for _, name := range required {
		if _, ok := fields[name]; !ok {
			p.Errorf(v, field, "%s is missing: want %s", name, strings.Join(required, ", "))
			complete = nil
		}
	}
	return complete
}

// Text is a string, "" if v is something else.
func (p *Parser) Text(v Value, field string) string {
	if !v.IsString() {
		p.Errorf(v, field, "found %s, want a string", v.Kind())
		return ""
	}
	return v.Text()
}

// TextOrNumber is a string, or the text of a number or truth value.
func (p *Parser) TextOrNumber(v Value, field string) string {
	switch kind := v.Kind(); {
	case v.IsString():
		return v.Text()
	case kind == "a number", kind == "a truth value":
		return string(v.Raw)
	}
	p.Errorf(v, field, "found %s, want a string or a number", v.Kind())
	return ""
}

// Optional is a text that may be missing or null.
func (p *Parser) Optional(fields map[string]Value, name, path string) string {
	v, ok := fields[name]
	if !ok || v.IsNull() {
		return ""
	}
	return p.Text(v, path+name)
}

// Flag is false when it is missing.
func (p *Parser) Flag(fields map[string]Value, name, path string) bool {
	v, ok := fields[name]
	if ok && v.Kind() != "a truth value" && !v.IsNull() {
		p.Errorf(v, path+name, "found %s, want true or false", v.Kind())
	}
	return ok && v.Raw[0] == 't'
}

// Number reads a whole number.
func (p *Parser) Number(v Value, field string) int {
	n, err := strconv.Atoi(string(v.Raw))
	if err != nil {
		p.Errorf(v, field, "found %s, want a whole number", v.Raw[:min(len(v.Raw), 40)])
	}
	return n
}

// List is the elements of a list.
func (p *Parser) List(v Value, field string) []Value {
	if v.Raw[0] != '[' {
		p.Errorf(v, field, "found %s, want a list", v.Kind())
		return nil
	}
	var list []Value
	for e := range v.Elements() {
		list = append(list, e)
	}
	return list
}

// Pairs reads [[a, b], …] or {first: [a, …], second: [b, …]}.
func (p *Parser) Pairs(v Value, field, first, second string) [][2]Value {
	if v.Raw[0] == '{' {
		return p.Columns(v, field, first, second)
	}
	var pairs [][2]Value
	for _, e := range p.List(v, field) {
		pair := p.List(e, field)
		if pair != nil && len(pair) != 2 {
			p.Errorf(e, field, "found a list of %d, want a pair of %s and %s", len(pair), first, second)
			continue
		}
		if pair != nil {
			pairs = append(pairs, [2]Value{pair[0], pair[1]})
		}
	}
	return pairs
}

// Columns reads {first: [a, …], second: [b, …]}, two lists of the same length.
func (p *Parser) Columns(v Value, field, first, second string) [][2]Value {
	fields := p.Fields(v, field, first, second)
	if fields == nil {
		return nil
	}
	as, bs := p.List(fields[first], field+"."+first), p.List(fields[second], field+"."+second)
	if len(as) != len(bs) {
		p.Errorf(v, field, "found %d in %s and %d in %s, want as many", len(as), first, len(bs), second)
		return nil
	}
	var pairs [][2]Value
	for i := range as {
		pairs = append(pairs, [2]Value{as[i], bs[i]})
	}
	return pairs
}
