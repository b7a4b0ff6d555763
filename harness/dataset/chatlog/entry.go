package chatlog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/jsonpos"
	"github.com/poimen-memory/mem/prompt"
)

// entry is one entry of a log while it is read: what becomes of it, and what is wrong with it.
type entry struct {
	*jsonpos.Parser
	at      diag.Pos
	id      string
	speaker string // stands before all that is said, unless it is ""
	records []*corpus.Record
	said    int // records that are not skipped
}

// say adds a record that has a text. The second of an entry is ID.2, and so on.
func (e *entry) say(role, text string) {
	if text == "" {
		return
	}
	id := e.id
	if e.said++; e.said > 1 {
		id = fmt.Sprintf("%s.%d", e.id, e.said)
	}
	e.records = append(e.records, &corpus.Record{
		Record: prompt.Record{Role: role, Text: by(e.speaker, text)}, ID: id, At: e.at, IDAt: e.at,
	})
}

// think adds a thought with a mark.
func (e *entry) think(text string) {
	if text != "" {
		e.say("assistant", "(thinking) "+text)
	}
}

// call adds a tool's call. Arguments are a text, or JSON of any other kind.
func (e *entry) call(name string, arguments jsonpos.Value) {
	text := "{}"
	if len(arguments.Raw) > 0 && !arguments.IsNull() {
		text = textOf(arguments)
	}
	e.say("tool", fmt.Sprintf("call %s %s", name, text))
}

// skip adds an entry that is not imported: its kind, and names that the file gives to it.
func (e *entry) skip(kind string, names ...string) {
	for _, name := range names {
		kind += " " + diag.Quote(name)
	}
	e.records = append(e.records, &corpus.Record{Skipped: kind, At: e.at})
}

// empty says that nothing became of the entry.
func (e *entry) empty(what string) {
	if len(e.records) == 0 {
		e.skip("empty " + what)
	}
}

// rest skips the fields that are neither known nor empty.
func (e *entry) rest(fields map[string]jsonpos.Value, of string, known ...string) {
	for _, name := range sortedKeys(fields) {
		if !slices.Contains(known, name) && !fields[name].IsEmpty() {
			e.skip("field of "+of, name)
		}
	}
}

func sortedKeys(fields map[string]jsonpos.Value) []string {
	keys := make([]string, 0, len(fields))
	for key := range fields {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// textOf is a string's text, or the compact JSON of another value.
func textOf(v jsonpos.Value) string {
	if v.IsString() {
		return v.Text()
	}
	return textJSON(v)
}

func textJSON(v jsonpos.Value) string {
	var b bytes.Buffer
	json.Compact(&b, v.Raw) // which was parsed before
	return b.String()
}

// by is a text with who says it.
func by(name, text string) string {
	if name == "" {
		return text
	}
	return name + ": " + text
}

// parts reads a content that is a text, or a list of texts and parts with a type. read takes
// a part and reports whether it knows the type; the texts of others are joined by newlines
// and said in the role.
func (e *entry) parts(role string, v jsonpos.Value, path string, read func(kind string, part map[string]jsonpos.Value) bool) {
	switch {
	case v.IsNull():
		return
	case v.IsString():
		e.say(role, v.Text())
		return
	case v.Raw[0] != '[':
		e.Errorf(v, path, "found %s, want a string, a list of parts or null", v.Kind())
		return
	}
	var texts []string
	flush := func() {
		e.say(role, strings.Join(texts, "\n"))
		texts = nil
	}
	for _, part := range e.List(v, path) {
		if part.IsString() {
			texts = append(texts, part.Text())
			continue
		}
		fields := e.Fields(part, path, "type")
		if fields == nil {
			continue
		}
		kind := e.Text(fields["type"], path+".type")
		if text, ok := fields[textField(kind)]; ok {
			texts = append(texts, e.Text(text, path+"."+textField(kind)))
			continue
		}
		if read != nil {
			flush() // so that the records are in the order of the parts
		}
		if read == nil || !read(kind, fields) {
			e.skip("content part", kind)
		}
	}
	flush()
}

// textField is the field that holds the text of a part, "" for a part that is not a text.
func textField(kind string) string {
	switch kind {
	case "text", "input_text", "output_text":
		return "text"
	case "refusal", "logs":
		return kind
	}
	return ""
}

// roleOf is the role of the record that a message of a role becomes, "" for none.
func roleOf(role string) string {
	switch role {
	case "system", "user", "assistant", "tool":
		return role
	case "developer":
		return "system"
	case "function", "observation", "function_response":
		return "tool"
	case "human":
		return "user"
	case "ai", "gpt", "chatgpt", "bing", "bard", "model", "gemini":
		return "assistant"
	}
	return ""
}

// idOf is the first of the fields that exists.
func idOf(p *jsonpos.Parser, fields map[string]jsonpos.Value, names ...string) (id, field string) {
	for _, field := range names {
		if v, ok := fields[field]; ok && !v.IsNull() {
			return p.TextOrNumber(v, field), field
		}
	}
	return "", ""
}

// session reads a conversation whose messages stand in a list, a field's value.
func session(p *jsonpos.Parser, v jsonpos.Value, list string, read func(*entry, jsonpos.Value)) []*corpus.Record {
	var records []*corpus.Record
	for i, m := range p.List(v, list) {
		e := &entry{Parser: p, at: p.Pos(m), id: fmt.Sprintf("m%d", i+1)}
		before := len(p.Bad)
		read(e, m)
		for n := range p.Bad[before:] {
			f := &p.Bad[before+n]
			f.Field = strings.TrimSuffix(fmt.Sprintf("%s[%d].%s", list, i, f.Field), ".")
		}
		records = append(records, e.records...)
	}
	if len(records) == 0 && len(p.Bad) == 0 {
		p.Errorf(v, list, "has no messages")
	}
	return records
}

// jsonText is a text as a JSON string.
func jsonText(s string) string {
	b, _ := json.Marshal(s) // a string is always JSON
	return string(b)
}
