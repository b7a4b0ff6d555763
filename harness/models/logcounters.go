package models

import (
	"fmt"

	"github.com/poimen-memory/mem/loop/eventlog"
	"github.com/poimen-memory/mem/prompt"
	"github.com/poimen-memory/mem/prompt/token"
)

// LogCounters counts the memories of logs again: by the named vocabularies, and that of a
// tokenizer.json, "" for none.
func LogCounters(file string) (eventlog.CountTokens, error) {
	if file == "" {
		return CountMemory, nil
	}
	known, err := TokenizerFile(file)
	if err != nil {
		return nil, fmt.Errorf("--tokenizer: %w", err)
	}
	return alsoOf(known), nil
}

// CountMemory is an eventlog.CountTokens of the named vocabularies: a file's numbers
// are not verified.
func CountMemory(tokenizer string) func(string) int {
	c, err := token.New(tokenizer)
	if err != nil {
		return nil
	}
	return asShown(c)
}

// alsoOf is CountMemory that knows one more counter.
func alsoOf(known *token.Counter) eventlog.CountTokens {
	return func(tokenizer string) func(string) int {
		if tokenizer == known.Name() {
			return asShown(known)
		}
		return CountMemory(tokenizer)
	}
}

// asShown counts a memory as prompts show it.
func asShown(c *token.Counter) func(string) int {
	return func(text string) int {
		sent, _, _ := prompt.Escape(text)
		return c.Count(sent)
	}
}
