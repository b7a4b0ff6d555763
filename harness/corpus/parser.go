package corpus

import (
	"fmt"
	"strconv"
	"strings"
)

// parser reads values and collects all that is wrong with them.
type parser struct{ bad []fault }

func (p *parser) complain(v value, field, format string, args ...any) {
	p.bad = append(p.bad, fault{v.at, field, fmt.Sprintf(format, args...)})
}

// fields are an object's members, nil when it is no object or lacks a required one.
func (p *parser) fields(v value, field string, required ...string) map[string]value {
	if v.raw[0] != '{' {
		with := ""
		if len(required) > 0 {
			with = " with " + strings.Join(required, ", ")
		}
		p.complain(v, field, "found %s, want an object%s", v.kind(), with)
		return nil
	}
	fields := map[string]value{}
	for key, member := range v.members() {
		fields[key.text()] = member
	}
	complete := fields
	for _, name := range required {
		if _, ok := fields[name]; !ok {
			p.complain(v, field, "%s is missing: want %s", name, strings.Join(required, ", "))
			complete = nil
		}
	}
	return complete
}

func (p *parser) text(v value, field string) string {
	if !v.isString() {
		p.complain(v, field, "found %s, want a string", v.kind())
		return ""
	}
	return v.text()
}

// answer reads a text that some publish as a number.
func (p *parser) answer(v value, field string) string {
	switch kind := v.kind(); {
	case v.isString():
		return v.text()
	case kind == "a number", kind == "a truth value":
		return string(v.raw)
	}
	p.complain(v, field, "found %s, want a string or a number", v.kind())
	return ""
}

// optional is a text that may be missing or null.
func (p *parser) optional(fields map[string]value, name, path string) string {
	v, ok := fields[name]
	if !ok || v.isNull() {
		return ""
	}
	return p.text(v, path+name)
}

// flag is false when it is missing.
func (p *parser) flag(fields map[string]value, name, path string) bool {
	v, ok := fields[name]
	if ok && v.kind() != "a truth value" && !v.isNull() {
		p.complain(v, path+name, "found %s, want true or false", v.kind())
	}
	return ok && v.raw[0] == 't'
}

// name is the first of the fields that is there, which has to be good as a folder's name.
func (p *parser) name(fields map[string]value, names ...string) (id, field string) {
	for _, field := range names {
		v, ok := fields[field]
		if !ok {
			continue
		}
		if id = p.text(v, field); !sampleName.MatchString(id) {
			p.complain(v, field, "found %q, want a name of letters, digits, . _ and -", id)
		}
		return id, field
	}
	return "", ""
}

// number reads an index.
func (p *parser) number(v value, field string) int {
	n, err := strconv.Atoi(string(v.raw))
	if err != nil {
		p.complain(v, field, "found %s, want a whole number", v.raw[:min(len(v.raw), 40)])
	}
	return n
}

func (p *parser) list(v value, field string) []value {
	if v.raw[0] != '[' {
		p.complain(v, field, "found %s, want a list", v.kind())
		return nil
	}
	var list []value
	for e := range v.elements() {
		list = append(list, e)
	}
	return list
}

// pairs reads [[a, b], …] or {first: [a, …], second: [b, …]}.
func (p *parser) pairs(v value, field, first, second string) [][2]value {
	if v.raw[0] == '{' {
		return p.columns(v, field, first, second)
	}
	var pairs [][2]value
	for _, e := range p.list(v, field) {
		pair := p.list(e, field)
		if pair != nil && len(pair) != 2 {
			p.complain(e, field, "found a list of %d, want a pair of %s and %s", len(pair), first, second)
			continue
		}
		if pair != nil {
			pairs = append(pairs, [2]value{pair[0], pair[1]})
		}
	}
	return pairs
}

func (p *parser) columns(v value, field, first, second string) [][2]value {
	fields := p.fields(v, field, first, second)
	if fields == nil {
		return nil
	}
	as, bs := p.list(fields[first], field+"."+first), p.list(fields[second], field+"."+second)
	if len(as) != len(bs) {
		p.complain(v, field, "found %d in %s and %d in %s, want as many", len(as), first, len(bs), second)
		return nil
	}
	var pairs [][2]value
	for i := range as {
		pairs = append(pairs, [2]value{as[i], bs[i]})
	}
	return pairs
}
