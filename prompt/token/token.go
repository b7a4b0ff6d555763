// Package token counts tokens by the name of a vocabulary, or by a tokenizer file. New returns
// the Counter of a vocabulary, Parse that of a tokenizer.json. See ExampleNew.
//
// The vocabularies cl100k_base, o200k_base, p50k_base, r50k_base and qwen2.5 (which also
// serves Qwen3) are embedded, and counted exactly as their reference implementations do,
// without allocating and in time n log n. The counts of OpenAI's vocabularies are of
// ordinary text: special tokens in it count as the characters that they are written with.
// Those of Qwen and of a tokenizer file take added tokens in the text, such as
// <|im_start|>, for one token each, as their references do. A byte that is not part of
// valid UTF-8 counts as U+FFFD.
//
// Parse returns an error for a tokenizer.json with a step that is not implemented here, such as
// byte_fallback: counts are exact or there is none.
package token

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Counter counts the tokens of a text. It is safe for concurrent use.
type Counter struct {
	name  string
	count func(text string) int
}

// counters has the vocabularies that New knows, each loaded at most once. r50k_base is
// p50k_base without its runs of blanks, which come last.
var counters = map[string]func() (*Counter, error){
	"cl100k_base": embedded("cl100k_base", source{file: "cl100k_base", split: splitCL100K}),
	"o200k_base":  embedded("o200k_base", source{file: "o200k_base", split: splitO200K}),
	"qwen2.5":     embedded("qwen2.5", source{file: "qwen2.5", split: splitQwen, nfc: true}),
	"p50k_base":   embedded("p50k_base", source{file: "p50k_base", split: splitGPT2}),
	"r50k_base":   embedded("r50k_base", source{file: "p50k_base", limit: 50256, split: splitGPT2}),
}

// openAI lists the vocabularies that tiktoken-go knows.
func openAI() []string { return []string{"cl100k_base", "o200k_base", "p50k_base", "r50k_base"} }

// Names lists the vocabularies that New knows, sorted.
func Names() []string {
	names := make([]string, 0, len(counters))
	for name := range counters {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// New returns the counter of a named vocabulary. It is loaded by the first call that
// names it, from the program itself: nothing is downloaded.
func New(name string) (*Counter, error) {
	load, ok := counters[name]
	if !ok {
		return nil, fmt.Errorf("unknown tokenizer %q: want one of %s", name, strings.Join(Names(), ", "))
	}
	return load()
}

// Reference returns tiktoken-go's counter of a vocabulary of OpenAI, to check New's against.
// It is there only in a build with the tag reference. Its name is the vocabulary's.
func Reference(name string) (*Counter, error) {
	if !slices.Contains(openAI(), name) {
		return nil, fmt.Errorf("no reference for tokenizer %q: want one of %s", name, strings.Join(openAI(), ", "))
	}
	return reference(name)
}

// source is an embedded vocabulary, and how a text is prepared for it.
type source struct {
	file  string
	limit int // the number of tokens, 0 for all that the file has
	split splitter
	nfc   bool
}

func embedded(name string, s source) func() (*Counter, error) {
	return sync.OnceValues(func() (*Counter, error) {
		v, special, err := load(s.file, s.limit)
		if err != nil {
			return nil, err
		}
		e, err := newEncoding(v, s.split)
		if err != nil {
			return nil, err
		}
		e.nfc, e.added = s.nfc, newAdded(special)
		return &Counter{name: name, count: e.count}, nil
	})
}

// Name is the vocabulary's name, as reports show it.
func (c *Counter) Name() string { return c.name }

// Count is the number of tokens of text.
func (c *Counter) Count(text string) int { return c.count(text) }
