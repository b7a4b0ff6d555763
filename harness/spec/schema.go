package spec

import (
	"embed"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"reflect"
	"strings"

	"github.com/poimen-memory/mem/harness/spec/yamlpos"
)

// Schema is the JSON Schema (draft 2020-12) of specs, for editors. It is made from the
// types of this package, their tags, their comments and the defaults, so that it cannot
// say anything else than they do. What it refuses, Parse refuses; the reverse does not
// hold, for a schema knows no references.
func Schema() ([]byte, error) {
	docs, err := comments()
	if err != nil {
		return nil, err
	}
	g := generator{docs: docs, defs: schema{}}
	g.define(reflect.ValueOf(defaults()).Elem())
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

// shaped is a type with a DecodeYAML of its own: what it takes, under a field's tags.
type shaped interface {
	shape(g *generator, tag reflect.StructTag) schema
}

func (Tokenizer) shape(g *generator, tag reflect.StructTag) schema {
	bare := text(tag)
	bare["description"] = "name of a vocabulary"
	return schema{"anyOf": []schema{bare, g.define(reflect.ValueOf(Tokenizer{}))}}
}

func (Level) shape(_ *generator, tag reflect.StructTag) schema { return text(tag) }

func (Duration) shape(*generator, reflect.StructTag) schema {
	return schema{"type": "string", "pattern": `^\+?([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)`}
}

func (Extra) shape(*generator, reflect.StructTag) schema { return schema{"type": "object"} }

func (r Replay) shape(g *generator, _ reflect.StructTag) schema {
	bare := schema{"type": "string", "description": "a folder of live results", "pattern": `\S`}
	return schema{"anyOf": []schema{bare, g.define(reflect.ValueOf(r))}}
}

func (Memory) shape(*generator, reflect.StructTag) schema {
	return schema{"type": []string{"string", "null"}}
}

func (Criteria) shape(_ *generator, tag reflect.StructTag) schema {
	return schema{"type": "object", "minProperties": 1, "additionalProperties": number("number", tag)}
}

func (s Set[T]) shape(g *generator, tag reflect.StructTag) schema {
	list := g.of(reflect.ValueOf([]T(s)), tag)
	list["uniqueItems"] = true
	return list
}

func (e Evidence) shape(g *generator, _ reflect.StructTag) schema {
	bare := schema{"type": "string", "description": "id of a record"}
	return schema{"anyOf": []schema{bare, g.define(reflect.ValueOf(e))}}
}

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
	if s, ok := v.Interface().(shaped); ok {
		return s.shape(g, tag)
	}
	if _, own := reflect.New(v.Type()).Interface().(yamlpos.Unmarshaler); own {
		panic(fmt.Sprintf("spec: %s is decoded in its own way and has no shape", v.Type()))
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
	at := strings.HasPrefix(v.Type().Name(), "At[") && v.Type().PkgPath() == reflect.TypeFor[yamlpos.Place]().PkgPath()
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

// idPattern is isID.
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

//go:embed *.go
var sources embed.FS

// comments are those of the types of this package, as far as their first paragraph, and of
// their fields.
func comments() (map[string]string, error) {
	docs := map[string]string{}
	files, err := sources.ReadDir(".")
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		source, err := sources.ReadFile(f.Name())
		if err != nil {
			return nil, err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), f.Name(), source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range parsed.Decls {
			if types, ok := d.(*ast.GenDecl); ok && types.Tok == token.TYPE {
				addComments(docs, types)
			}
		}
	}
	return docs, nil
}

func addComments(docs map[string]string, types *ast.GenDecl) {
	for _, s := range types.Specs {
		t := s.(*ast.TypeSpec)
		docs[t.Name.Name] = oneLine(types.Doc)
		fields, ok := t.Type.(*ast.StructType)
		if !ok {
			continue
		}
		for _, f := range fields.Fields.List {
			for _, name := range f.Names {
				docs[t.Name.Name+"."+name.Name] = oneLine(f.Comment)
			}
		}
	}
}

func oneLine(c *ast.CommentGroup) string {
	first, _, _ := strings.Cut(c.Text(), "\n\n")
	return strings.Join(strings.Fields(first), " ")
}
