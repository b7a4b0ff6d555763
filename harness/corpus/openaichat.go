package corpus

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/poimen-memory/mem/prompt"
)

// chatParts reads chats as OpenAI's API takes them: objects with a list of messages, each
// a sample; or messages one after another, which are one session and read as they come.
func chatParts(ctx context.Context, l *loader) ([]part, error) {
	for it, err := range (jsonFile{path: l.Path}).items() {
		if err != nil {
			return nil, err
		}
		if checkJSON(it.raw, "") == nil && it.raw[0] == '{' {
			if _, message := (&parser{}).fields(value{it.raw, 0}, "")["role"]; message {
				return []part{{read: chatRecords(l.Path)}}, nil
			}
		}
		break
	}
	return sampled{parse: parseChat}.parts(ctx, l)
}

func parseChat(p *parser, v value) sample {
	fields := p.fields(v, "", "messages")
	if fields == nil {
		return sample{}
	}
	s := sample{}
	s.id, s.idField = p.name(fields, "id")
	for i, m := range p.list(fields["messages"], "messages") {
		s.records = append(s.records, p.message(m, i+1, fmt.Sprintf("messages[%d]", i))...)
	}
	if len(s.records) == 0 && len(p.bad) == 0 {
		p.complain(fields["messages"], "messages", "has no messages")
	}
	return s
}

// chatRecords are the records of a file whose elements are messages.
func chatRecords(path string) source {
	return func() iter.Seq2[*record, error] {
		return func(yield func(*record, error) bool) {
			for it, err := range (jsonFile{path: path}).items() {
				if err != nil {
					yield(nil, err)
					return
				}
				records, err := messageItem(it)
				if err != nil && !yield(nil, err) {
					return
				}
				for _, r := range records {
					r.at, r.idAt = it.at, it.at
					if !yield(r, nil) {
						return
					}
				}
			}
		}
	}
}

func messageItem(it item) ([]*record, error) {
	if f := checkJSON(it.raw, "the message is cut short"); f != nil {
		return nil, it.complain([]fault{*f})
	}
	p := &parser{}
	records := p.message(value{it.raw, 0}, it.number, "")
	if len(p.bad) > 0 {
		return nil, it.complain(p.bad)
	}
	return records, nil
}

// chatRoles are the roles of messages and what they become.
func chatRole(role string) string {
	switch role {
	case "system", "user", "assistant", "tool":
		return role
	case "developer":
		return "system"
	case "function":
		return "tool"
	}
	return ""
}

// message is message n: what was thought, what was said, and a record for each call.
func (p *parser) message(v value, n int, path string) []*record {
	fields := p.fields(v, path, "role")
	if fields == nil {
		return nil
	}
	if path != "" {
		path += "."
	}
	said := p.text(fields["role"], path+"role")
	m := entryOf{id: fmt.Sprintf("m%d", n)}
	role := chatRole(said)
	if role == "" {
		m.skip(fmt.Sprintf("message of role %q", said))
		return m.records
	}
	m.add("assistant", thinking(p.optional(fields, "reasoning_content", path)))
	name := p.optional(fields, "name", path)
	if text := p.content(fields, path, &m); text != "" {
		m.add(role, speaker(name, text))
	}
	m.add(role, p.optional(fields, "refusal", path))
	p.calls(fields, path, &m)
	if len(m.records) == 0 {
		m.skip("empty message of role " + role)
	}
	return m.records
}

func speaker(name, text string) string {
	if name == "" {
		return text
	}
	return name + ": " + text
}

// thinking marks a text as thought, not said.
func thinking(text string) string {
	if text == "" {
		return ""
	}
	return "(thinking) " + text
}

// content is a text, or a list of parts of which those with text count.
func (p *parser) content(fields map[string]value, path string, m *entryOf) string {
	v, ok := fields["content"]
	switch {
	case !ok || v.isNull():
		return ""
	case v.isString():
		return v.text()
	case v.raw[0] != '[':
		p.complain(v, path+"content", "found %s, want a string, a list of parts or null", v.kind())
		return ""
	}
	var texts []string
	for _, e := range p.list(v, path+"content") {
		if part := p.fields(e, path+"content", "type"); part != nil {
			texts = p.part(part, path+"content.", texts, m)
		}
	}
	return strings.Join(texts, "\n")
}

// part adds the text of a part of a message's content, or says that it has none.
func (p *parser) part(part map[string]value, path string, texts []string, m *entryOf) []string {
	kind := p.text(part["type"], path+"type")
	field := map[string]string{"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal"}[kind]
	if field == "" {
		m.skip(fmt.Sprintf("content part %q", kind))
		return texts
	}
	if v, ok := part[field]; ok {
		return append(texts, p.text(v, path+field))
	}
	m.skip(fmt.Sprintf("content part %q without %s", kind, field))
	return texts
}

func (p *parser) calls(fields map[string]value, path string, m *entryOf) {
	if v, ok := fields["function_call"]; ok && !v.isNull() {
		p.call(p.fields(v, path+"function_call"), path+"function_call.", m)
	}
	v, ok := fields["tool_calls"]
	if !ok || v.isNull() {
		return
	}
	for _, e := range p.list(v, path+"tool_calls") {
		call := p.fields(e, path+"tool_calls", "function")
		if call != nil {
			p.call(p.fields(call["function"], path+"tool_calls.function"), path+"tool_calls.function.", m)
		}
	}
}

func (p *parser) call(f map[string]value, path string, m *entryOf) {
	if name := p.optional(f, "name", path); name != "" {
		m.add("tool", call(name, p.optional(f, "arguments", path)))
	}
}

// call is how a tool's call reads.
func call(name, arguments string) string { return fmt.Sprintf("call %s %s", name, arguments) }

// entryOf is what one entry of a log becomes: no, one or several records.
type entryOf struct {
	id      string
	records []*record
	n       int // records that are not skipped
}

// add takes a record that has a text. The second of an entry is ID.2, and so on.
func (e *entryOf) add(role, text string) {
	if text == "" {
		return
	}
	id := e.id
	if e.n++; e.n > 1 {
		id = fmt.Sprintf("%s.%d", e.id, e.n)
	}
	e.records = append(e.records, &record{Record: prompt.Record{Role: role, Text: text}, id: id})
}

func (e *entryOf) skip(what string) {
	e.records = append(e.records, &record{skipped: what})
}
