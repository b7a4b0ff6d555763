package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/eventlog"
	"github.com/poimen-memory/mem/prompt"
	"github.com/poimen-memory/mem/prompt/token"
)

// memoryBefore is the memory that the model of a logged run saw at a turn, nil for none.
func memoryBefore(path string, turn int) (*string, error) {
	events, turns, err := readLog(path)
	if err != nil {
		return nil, err
	}
	if turn > turns {
		return nil, fmt.Errorf("%s: found %d turns, so no model was asked at turn %d", path, turns, turn)
	}
	return memoryOf(events, turn), nil
}

// memoryAtEnd is the memory that a logged run was asked for its answer with, nil for none.
func memoryAtEnd(path string) (*string, error) {
	events, turns, err := readLog(path)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(events, func(e loop.Event) bool { return e.Type() == loop.RunEnd{}.Type() }) {
		return nil, fmt.Errorf("%s: the run did not end, so it was not asked for its answer", path)
	}
	return memoryOf(events, turns+1), nil
}

func memoryOf(events []loop.Event, before int) (memory *string) {
	for _, e := range events {
		if m, ok := e.(loop.Memory); ok && m.Turn < before {
			memory = &m.Text
		}
	}
	return memory
}

// readLog reads the whole turns of a log that verifies.
func readLog(path string) ([]loop.Event, int, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, fmt.Errorf("%s: no such log, want one that mem eval left", path)
	}
	if err != nil {
		return nil, 0, err
	}
	report, err := eventlog.Verify(bytes.NewReader(data), countMemory)
	if err != nil {
		return nil, 0, err
	}
	if report.State == eventlog.Corrupt {
		return nil, 0, fmt.Errorf("%s:%d: the log is corrupt: %s", path, report.Line, report.Rule)
	}
	var events []loop.Event
	for e, err := range eventlog.Read(bytes.NewReader(data[:report.Bytes])) {
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %v", path, err)
		}
		events = append(events, e)
	}
	return events, report.Turns, nil
}

// countMemory is an eventlog.CountTokens of the named vocabularies: a file's numbers are
// taken on trust.
func countMemory(tokenizer string) func(string) int {
	c, err := token.New(tokenizer)
	if err != nil {
		return nil
	}
	return asShown(c)
}

// alsoOf is countMemory that knows one more counter.
func alsoOf(known *token.Counter) eventlog.CountTokens {
	return func(tokenizer string) func(string) int {
		if tokenizer == known.Name() {
			return asShown(known)
		}
		return countMemory(tokenizer)
	}
}

// asShown counts a memory as prompts show it.
func asShown(c *token.Counter) func(string) int {
	return func(text string) int {
		sent, _, _ := prompt.Escape(text)
		return c.Count(sent)
	}
}
