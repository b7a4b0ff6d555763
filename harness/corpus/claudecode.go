package corpus

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/poimen-memory/mem/harness/spec/yamlpos"
)

// claudeRecords are the records of a session log of Claude Code, one entry a line; an
// entry's id is L and its line.
func claudeRecords(path string) source {
	return func() iter.Seq2[*record, error] {
		return func(yield func(*record, error) bool) {
			file, err := openFile(path)
			if err != nil {
				yield(nil, err)
				return
			}
			defer file.Close()
			l := logLines{jsonlFile(path), newLines(file)}
			for {
				records, err := l.next()
				if err == io.EOF || err != nil && !yield(nil, err) {
					return
				}
				for _, r := range records {
					if !yield(r, nil) {
						return
					}
				}
			}
		}
	}
}

// logLines reads a log entry by entry.
type logLines struct {
	file  jsonlFile
	lines *lines
}

// next is the records of the next line. The error is io.EOF at the end, or a
// yamlpos.Errors, after which reading goes on.
func (l logLines) next() ([]*record, error) {
	line, err := l.lines.next()
	switch {
	case err == io.EOF:
		return nil, err
	case err == errLongLine:
		return nil, l.file.complain(l.lines, nil, []fault{{msg: err.Error()}})
	case err != nil:
		return nil, fmt.Errorf("%s: line %d: %w", l.file, l.lines.number, err)
	case len(bytes.TrimSpace(line)) == 0:
		return nil, nil
	case l.lines.last && !json.Valid(line):
		// The program was killed while it wrote, or is writing now.
		return []*record{{skipped: "last line that is torn"}}, nil
	}
	e := entryOf{id: fmt.Sprintf("L%d", l.lines.number)}
	if bad := claudeEntry(line, &e); len(bad) > 0 {
		return nil, l.file.complain(l.lines, line, bad)
	}
	for _, r := range e.records {
		r.at = yamlpos.Pos{File: string(l.file), Line: l.lines.number, Col: 1}
		r.idAt = r.at
	}
	return e.records, nil
}

// claudeEntry reads one entry, or says all that is wrong with it.
func claudeEntry(line []byte, e *entryOf) []fault {
	start := skipSpace(line, 0)
	if f := checkJSON(line, "the line ends within an entry"); f != nil {
		return []fault{*f}
	}
	p := &parser{}
	fields := p.fields(value{line[start:], start}, "", "type")
	if fields == nil {
		return p.bad
	}
	c := claude{parser: p, entryOf: e}
	if p.flag(fields, "isSidechain", "") {
		c.thread = strings.TrimSpace("sub-agent " + p.optional(fields, "agentId", ""))
	}
	switch kind := p.text(fields["type"], "type"); kind {
	case "user", "assistant":
		c.message(kind, fields)
	case "system":
		if c.say(kind, p.optional(fields, "content", "")); len(e.records) == 0 {
			e.skip("entry of type system without a text")
		}
	default:
		e.skip(fmt.Sprintf("entry of type %q", kind))
	}
	return p.bad
}

// claude is an entry while it is read.
type claude struct {
	*parser
	*entryOf
	thread string // of a sub-agent, stands before all that it says
}

func (c claude) say(role, text string) {
	if text != "" {
		c.add(role, speaker(c.thread, text))
	}
}

func (c claude) message(role string, fields map[string]value) {
	v, ok := fields["message"]
	if !ok {
		c.skip("entry of type " + role + " without a message")
		return
	}
	content, ok := c.fields(v, "message", "content")["content"]
	switch {
	case !ok:
	case content.isString():
		c.say(role, content.text())
	default:
		for _, e := range c.list(content, "message.content") {
			if block := c.fields(e, "message.content", "type"); block != nil {
				c.block(role, block)
			}
		}
	}
	if len(c.records) == 0 {
		c.skip("empty entry of type " + role)
	}
}

// block is a part of a message: a text, a thought, a tool's call or its result.
func (c claude) block(role string, block map[string]value) {
	const path = "message.content."
	switch kind := c.text(block["type"], path+"type"); kind {
	case "text":
		c.say(role, c.optional(block, "text", path))
	case "thinking":
		c.say(role, thinking(c.optional(block, "thinking", path)))
	case "tool_use":
		input := []byte("{}")
		if v, ok := block["input"]; ok {
			input = v.raw
		}
		c.say("tool", call(c.optional(block, "name", path), string(input)))
	case "tool_result":
		c.say("tool", c.content(block, path, c.entryOf))
	default:
		c.skip(fmt.Sprintf("content part %q", kind))
	}
}
