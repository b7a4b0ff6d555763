package main

import (
	"reflect"
	"strings"

	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/spec/yamlpos"
)

// special is the schema of a type that decodes itself: what it accepts, under a field's tags.
func (g *generator) special(v reflect.Value, tag reflect.StructTag) (schema, bool) {
	if strings.HasPrefix(v.Type().Name(), "Set[") {
		list := g.list(v, tag)
		list["uniqueItems"] = true
		return list, true
	}
	switch v.Interface().(type) {
	case spec.Tokenizer:
		bare := text(tag)
		bare["description"] = "name of a vocabulary"
		return g.either(bare, v), true
	case spec.Replay:
		return g.either(schema{"type": "string", "description": "a folder of live results", "pattern": `\S`}, v), true
	case spec.Evidence:
		return g.either(schema{"type": "string", "description": "id of a record"}, v), true
	case spec.Haystack:
		return g.either(text(tag), v), true
	case spec.Level:
		return text(tag), true
	case spec.Length:
		return schema{"anyOf": []schema{{"type": "integer", "minimum": 1}, {"type": "string", "pattern": "^[1-9][0-9]*[kKmM]$"}}}, true
	case spec.Depth:
		return schema{"anyOf": []schema{{"enum": []string{"uniform", "grid"}}, {"type": "number", "minimum": 0, "maximum": 100}}}, true
	case spec.Duration:
		return schema{"type": "string", "pattern": `^\+?([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)`}, true
	case spec.Extra:
		return schema{"type": "object"}, true
	case spec.Memory:
		return schema{"type": []string{"string", "null"}}, true
	case yamlpos.Texts:
		return schema{"type": "object", "additionalProperties": schema{"type": "string", "minLength": 1}}, true
	case spec.Threshold:
		return number("number", tag), true
	case spec.Criteria:
		return schema{"type": "object", "minProperties": 1, "additionalProperties": g.either(number("number", tag), reflect.ValueOf(spec.Criterion{}))}, true
	}
	return nil, false
}

// either is a value of a short form, or a struct.
func (g *generator) either(short schema, v reflect.Value) schema {
	return schema{"anyOf": []schema{short, g.define(reflect.Zero(v.Type()))}}
}
