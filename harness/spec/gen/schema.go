package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strings"

	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/spec/yamlpos"
)

// generate returns the JSON Schema of specs. dir holds the Go sources of package spec, whose
// comments become the descriptions.
func generate(dir string) ([]byte, error) {
	docs, err := comments(dir)
	if err != nil {
		return nil, err
	}
	g := generator{docs: docs, defs: schema{}}
	g.define(reflect.ValueOf(spec.Defaults()).Elem())
	root := g.defs["Spec"].(schema)
	delete(g.defs, "Spec")
	maps.Copy(root, schema{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"title":   "mem experiment",
		"$defs":   g.defs,
	})
	text, err := json.MarshalIndent(root, "", "  ")
	return append(text, '\n'), err
}

// schema is a JSON Schema, or a part of one.
type schema map[string]any

// generator makes schemas of values, whose contents are the defaults.
type generator struct {
	docs map[string]string // by Type and Type.Field
	defs schema            // by type
}

func (g *generator) of(v reflect.Value, tag reflect.StructTag) schema {
	if at, ok := positioned(v); ok {
		return g.of(at, tag)
	}
	if v.Kind() == reflect.Pointer {
		return g.of(reflect.Zero(v.Type().Elem()), tag)
	}
	if s, ok := g.special(v, tag); ok {
		return s
	}
	if _, own := reflect.New(v.Type()).Interface().(yamlpos.Unmarshaler); own {
		panic(fmt.Sprintf("%s implements yamlpos.Unmarshaler: add it to special", v.Type()))
	}
	switch v.Kind() {
	case reflect.Struct:
		return g.define(v)
	case reflect.Slice:
		return g.list(v, tag)
	case reflect.String:
		return text(tag)
	case reflect.Bool:
		return schema{"type": "boolean"}
	case reflect.Float64:
		return number("number", tag)
	default:
		return number("integer", tag)
	}
}

// positioned is the value within an At.
func positioned(v reflect.Value) (reflect.Value, bool) {
	at := strings.HasPrefix(v.Type().Name(), "At[") && v.Type().PkgPath() == reflect.TypeFor[yamlpos.Node]().PkgPath()
	if !at {
		return v, false
	}
	return v.FieldByName("Value"), true
}

// list: an enum is for the elements, bounds are for the list, as in yamlpos.
func (g *generator) list(v reflect.Value, tag reflect.StructTag) schema {
	elements := reflect.StructTag(fmt.Sprintf(`enum:%q`, tag.Get("enum")))
	s := schema{"type": "array", "items": g.of(reflect.Zero(v.Type().Elem()), elements)}
	if least := tag.Get("min"); least != "" {
		s["minItems"] = json.Number(least)
	}
	return s
}

func text(tag reflect.StructTag) schema {
	s := schema{"type": "string"}
	switch {
	case tag.Get("enum") != "":
		s["enum"] = strings.Split(tag.Get("enum"), ",")
	case tag.Get("is") == "id":
		s["pattern"] = idPattern
	case tag.Get("min") != "":
		s["pattern"] = `\S`
	}
	return s
}

// idPattern is the rule for ids: see isID in package spec.
const idPattern = "^[0-9a-zA-Z][0-9a-zA-Z._-]{0,63}$"

func number(kind string, tag reflect.StructTag) schema {
	s := schema{"type": kind}
	for bound, keyword := range map[string]string{"min": "minimum", "max": "maximum"} {
		if b := tag.Get(bound); b != "" {
			s[keyword] = json.Number(b)
		}
	}
	return s
}

// define puts a struct's schema among the definitions and refers to it.
func (g *generator) define(v reflect.Value) schema {
	t := v.Type()
	properties, required := schema{}, []string{}
	def := schema{"type": "object", "additionalProperties": false, "description": g.docs[t.Name()], "properties": properties}
	for i := range t.NumField() {
		tag := t.Field(i).Tag
		if keys := tag.Get("one"); keys != "" {
			def["oneOf"] = oneOf(keys)
		}
		key, option, _ := strings.Cut(tag.Get("yaml"), ",")
		if key == "" {
			continue
		}
		properties[key] = g.property(v.Field(i), t.Name()+"."+t.Field(i).Name, tag)
		if option == "required" {
			required = append(required, key)
		}
	}
	if len(required) > 0 {
		def["required"] = required
	}
	g.defs[t.Name()] = def
	return schema{"$ref": "#/$defs/" + t.Name()}
}

func (g *generator) property(v reflect.Value, name string, tag reflect.StructTag) schema {
	s := g.of(v, tag)
	if doc := g.docs[name]; doc != "" {
		s["description"] = doc
	} else if _, named := s["$ref"]; !named {
		s["description"] = g.docs[v.Type().Name()]
	}
	if d := plain(v); d != nil {
		s["default"] = d
	}
	return s
}

// oneOf wants exactly one of the keys.
func oneOf(keys string) (list []schema) {
	for _, key := range strings.Split(keys, ",") {
		list = append(list, schema{"required": []string{key}})
	}
	return list
}

// plain is a default as it would be written, nil for none.
func plain(v reflect.Value) any {
	if at, ok := positioned(v); ok {
		return plain(at)
	}
	if s, ok := v.Interface().(fmt.Stringer); ok && !v.IsZero() {
		return s.String()
	}
	switch {
	case v.Kind() == reflect.Struct, v.IsZero():
		return nil
	case v.Kind() != reflect.Slice:
		return v.Interface()
	}
	var list []any
	for i := range v.Len() {
		list = append(list, plain(v.Index(i)))
	}
	return list
}
