// Package chatlog reads the logs and exports of agents and chats as records. These have no
// labels: package dataset reads data sets that do.
//
// A log is one session whose entries are read as they come, so that memory does not grow with
// the file. An export is a list of conversations, each a session. What was said keeps its role;
// a tool's call is a tool record `call NAME ARGUMENTS`, its result a tool record with the text
// alone, and a thought an assistant record that begins with `(thinking)`. An entry or a part of
// one that becomes no record is a record whose Skipped says what it is.
//
// In a file of one JSON object a line, a line that is not JSON is skipped: a program that is
// killed while it writes leaves such lines. Text that is not UTF-8 is refused.
package chatlog

import (
	"bytes"
	"encoding/json"
	"io"
	"iter"
	"maps"
	"slices"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/jsonpos"
	"github.com/poimen-memory/mem/harness/textfile"
)

// Format reads files of one kind. A format with Session has files of conversations; it may also
// have files whose elements are the entries of one session.
type Format struct {
	Shapes  []jsonpos.Shape                              // what an entry or a conversation has: any of them
	Session func(*jsonpos.Parser, jsonpos.Value) Session // reads a conversation; nil: a file is one session

	records func(path string) corpus.Records    // reads a file that is not JSON, a session
	entries func() entries                      // begins a session; nil: a file is a list of conversations
	entry   func(map[string]jsonpos.Value) bool // whether an element is an entry, not a conversation; nil: all are
	within  string                              // key of the list of entries, if it stands in an object
	lines   bool                                // one entry a line, always
}

// Session is a conversation of a file.
type Session struct {
	ID, IDField string // its own name and where that stands, "" without one
	Records     []*corpus.Record
}

// Formats are the formats by their names.
func Formats() map[string]Format {
	return map[string]Format{
		"aider": {records: aiderRecords},
		"anthropic-messages": {
			Session: anthropicSession, entries: stateless(anthropicMessage), entry: has("role"),
			Shapes: shapes("messages[].role messages[].content[].type=tool_use|tool_result|thinking", "model max_tokens system messages[].role",
				"role content[].type=tool_use|tool_result|thinking", "type=message role content[].type stop_reason"),
		},
		"claude-code": {
			entries: newClaudeCode, lines: true,
			Shapes: shapes("type=user|assistant message.role message.content"),
		},
		"claude-web": {
			Session: claudeWebSession, entries: stateless(claudeWebMessage), entry: has("sender"),
			Shapes: shapes("uuid chat_messages[].sender", "sender text"),
		},
		"codex": {
			entries: stateless(codexEntry), lines: true,
			Shapes: shapes("timestamp type=session_meta|response_item|event_msg|turn_context|compacted payload", "id timestamp instructions", "record_type=state"),
		},
		"gemini-cli": {
			Session: geminiSession, entries: stateless(geminiEntry), entry: geminiLine,
			Shapes: shapes("sessionId messages[].type=user|gemini messages[].content", "sessionId projectHash startTime"),
		},
		"langchain": {
			Session: langChainSession, entries: stateless(langChainMessage), entry: has("type", "lc"),
			Shapes: shapes("messages[].type=human|ai|system|tool messages[].content", "values.messages[].type", "lc id kwargs.content",
				"type=human|ai|system|tool data.content", "type=human|ai|system|tool content"),
		},
		"openai-chat": {
			Session: openAISession, entries: stateless(openAIMessage), entry: has("role"),
			Shapes: shapes("messages[].role messages[].content", "role content"),
		},
		"openai-responses": {
			Session: responsesSession, entries: stateless(readItem), entry: has("type", "role"),
			Shapes: shapes("object=response output[].type", "model input[].role", "type=function_call call_id arguments",
				"type=function_call_output call_id output", "type=message role content[].type=input_text|output_text"),
		},
		"openhands": {
			Session: openHandsSession, entries: stateless(openHandsEvent), entry: has("action", "observation", "kind"),
			Shapes: shapes("source action args", "source observation content", "history[].source", "history[][].action", "trajectory[].source trajectory[].action",
				"kind=MessageEvent llm_message.role source"),
		},
		"otel": {
			entries: newOTel,
			Shapes:  shapes("resourceSpans[].scopeSpans[].spans"),
		},
		"sharegpt": {
			Session: shareGPTSession, entries: stateless(shareGPTTurn), entry: has("from"),
			Shapes: shapes("conversations[].from conversations[].value", "conversation[].from conversation[].value", "from value"),
		},
		"swe-agent": {
			entries: newSWEAgent, within: "trajectory",
			Shapes: shapes("trajectory[].action trajectory[].observation trajectory[].response", "action observation response thought"),
		},
	}
}

func shapes(list ...jsonpos.Shape) []jsonpos.Shape { return list }

// has tells entries by the keys of which one is there.
func has(keys ...string) func(map[string]jsonpos.Value) bool {
	return func(fields map[string]jsonpos.Value) bool {
		return slices.ContainsFunc(keys, func(key string) bool { _, ok := fields[key]; return ok })
	}
}

// Log returns the records of a file that is one session; ok is false if the file is a list of
// conversations, which Session reads.
func (f Format) Log(path string) (records corpus.Records, ok bool, err error) {
	if f.records != nil {
		return f.records(path), true, nil
	}
	if f.Session != nil {
		first, err := firstElement(path)
		if err != nil || !f.entry(first) {
			return nil, false, err
		}
	}
	file := jsonpos.File{Path: path, Within: f.within, Lines: f.lines}
	if !f.lines {
		if file.Lines, err = Lines(path); err != nil {
			return nil, false, err
		}
	}
	return logRecords(file, f.entries), true, nil
}

// firstElement is the fields of the first element of a file, nil if it is no object.
func firstElement(path string) (map[string]jsonpos.Value, error) {
	for it, err := range (jsonpos.File{Path: path}).Items() {
		if err != nil {
			return nil, err
		}
		if v, wrong := jsonpos.Parse(it.Raw, ""); wrong == nil && v.Raw[0] == '{' {
			return maps.Collect(named(v)), nil
		}
		break
	}
	return nil, nil
}

// named are the members of an object by their names.
func named(v jsonpos.Value) iter.Seq2[string, jsonpos.Value] {
	return func(yield func(string, jsonpos.Value) bool) {
		for key, member := range v.Members() {
			if !yield(key.Text(), member) {
				return
			}
		}
	}
}

// Lines reports whether a file has one value a line: its first line is an object, and more lines
// follow.
func Lines(path string) (bool, error) {
	file, err := textfile.Open(path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	lines := textfile.NewLines(file)
	for {
		line, err := lines.Next()
		if err == io.EOF || err == textfile.ErrLongLine {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line[0] == '{' && json.Valid(line) && !lines.Last, nil
		}
	}
}
