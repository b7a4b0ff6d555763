package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/eventlog"
	"github.com/poimen-memory/mem/prompt"
	"github.com/poimen-memory/mem/prompt/token"
)

// memoryBefore is the memory that the model of a logged run saw at a turn, nil for none.
func memoryBefore(path string, turn int) (*string, error) {
	events, log, err := readLog(path)
	if err != nil {
		return nil, err
	}
	if turn > log.Turns {
		return nil, fmt.Errorf("%s: found %d turns, so no model was asked at turn %d", path, log.Turns, turn)
	}
	return memoryOf(events, turn), nil
}

// memoryAtEnd is the memory that a logged run was asked for its answer with, nil for none.
func memoryAtEnd(path string) (*string, error) {
	events, log, err := readLog(path)
	if err != nil {
		return nil, err
	}
	if log.State != eventlog.Complete {
		return nil, fmt.Errorf("%s: the run did not end, so it was not asked for its answer", path)
	}
	return memoryOf(events, log.Turns+1), nil
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
func readLog(path string) ([]loop.Event, eventlog.Report, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, eventlog.Report{}, fmt.Errorf("%s: no such log, want one that mem eval left", path)
	}
	if err != nil {
		return nil, eventlog.Report{}, err
	}
	report, err := eventlog.Verify(bytes.NewReader(data), countMemory)
	if err != nil {
		return nil, eventlog.Report{}, err
	}
	if report.State == eventlog.Corrupt {
		return nil, eventlog.Report{}, fmt.Errorf("%s:%d: the log is corrupt: %s", path, report.Line, report.Rule)
	}
	var events []loop.Event
	for e, err := range eventlog.Read(bytes.NewReader(data[:report.Bytes])) {
		if err != nil {
			return nil, eventlog.Report{}, fmt.Errorf("%s: %v", path, err)
		}
		events = append(events, e)
	}
	return events, report, nil
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
