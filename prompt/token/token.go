// Package token counts tokens by the name of a vocabulary. It is the only room that
// knows a tokenizer; the rest of the program sees Count and a name.
//
// The vocabularies cl100k_base, o200k_base and qwen2.5 (which also serves Qwen3) are
// embedded and counted here, exactly as their reference implementations do, without
// allocating and in time n log n. p50k_base and r50k_base are left to tiktoken-go. The
// counts of OpenAI's vocabularies are of ordinary text: special tokens in it count as
// the characters that they are written with. Those of Qwen and of a tokenizer file
// take added tokens in the text, such as <|im_start|>, for one token each, as their
// references do. A byte that is not part of valid UTF-8 counts as U+FFFD.
//
// A tokenizer file is refused when it asks for anything that is not scanned here: a
// guessed count would be worth nothing.
package token

import (
	"fmt"
	"slices"
	"sync"
)

// Counter counts the tokens of a text. It is safe for concurrent use.
type Counter struct {
	name  string
	count func(text string) int
}

// counters has the vocabularies that New knows, each loaded at most once.
var counters = map[string]func() (*Counter, error){
	"cl100k_base": embedded("cl100k_base", splitCL100K, false),
	"o200k_base":  embedded("o200k_base", splitO200K, false),
	"qwen2.5":     embedded("qwen2.5", splitQwen, true),
	"p50k_base":   references["p50k_base"],
	"r50k_base":   references["r50k_base"],
}

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
		return nil, fmt.Errorf("unknown tokenizer %q: want one of %s", name, list(counters))
	}
	return load()
}

func embedded(name string, split splitter, nfc bool) func() (*Counter, error) {
	return sync.OnceValues(func() (*Counter, error) {
		v, special, err := load(name)
		if err != nil {
			return nil, err
		}
		e, err := newEncoding(v, split)
		if err != nil {
			return nil, err
		}
		e.nfc, e.added = nfc, newAdded(special)
		return &Counter{name: name, count: e.count}, nil
	})
}

// Name is the vocabulary's name, as reports show it.
func (c *Counter) Name() string { return c.name }

// Count is the number of tokens of text.
func (c *Counter) Count(text string) int { return c.count(text) }
