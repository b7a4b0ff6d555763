package models

import (
	"slices"
	"strings"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/spec/yamlpos"
	"github.com/poimen-memory/mem/prompt/token"
)

// Tokenizer reads the value of --tokenizer: the name of a vocabulary, or a tokenizer.json.
func Tokenizer(value string) (spec.Tokenizer, error) {
	place := diag.Flag("--tokenizer")
	t, names := spec.Tokenizer{At: place}, token.Names()
	switch {
	case slices.Contains(names, value):
		t.Name = yamlpos.At[string]{Value: value, Place: place}
	case strings.HasSuffix(value, ".json"):
		t.File = yamlpos.At[string]{Value: value, Place: place}
	default:
		return t, place.Errorf("%s", diag.OneOf(value, append(names, "a tokenizer.json")))
	}
	return t, nil
}

// FlagCounter makes the token counter that a value of --tokenizer names.
func FlagCounter(value string) (plan.Counter, error) {
	t, err := Tokenizer(value)
	if err != nil {
		return nil, err
	}
	return Counter(t)
}
