package main

import (
	"slices"
	"strings"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/spec/yamlpos"
	"github.com/poimen-memory/mem/prompt/token"
)

// counter is the factory of token counters.
func counter(t spec.Tokenizer) (harness.Counter, error) {
	open, what := token.New, t.Name.Value
	switch {
	case t.File.Value != "":
		open, what = token.File, t.File.Value
	case t.Reference.Value:
		open = token.Reference
	}
	c, err := open(what)
	if err != nil {
		return nil, err // not c: a nil *Counter would be no nil Counter
	}
	return c, nil
}

// tokenizerFlag reads --tokenizer: the name of a vocabulary, or a tokenizer.json.
func tokenizerFlag(value string) (spec.Tokenizer, error) {
	place := yamlpos.Place{Pos: yamlpos.Pos{File: "--tokenizer"}}
	t, names := spec.Tokenizer{At: place}, token.Names()
	switch {
	case slices.Contains(names, value):
		t.Name = yamlpos.At[string]{Value: value, Place: place}
	case strings.HasSuffix(value, ".json"):
		t.File = yamlpos.At[string]{Value: value, Place: place}
	default:
		return t, place.Errorf("%s", yamlpos.OneOf(value, append(names, "a tokenizer.json")))
	}
	return t, nil
}
