package chatlog

import (
	"slices"
	"strconv"
	"strings"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/jsonpos"
)

// oTel is the messages of OpenTelemetry's GenAI spans, of which each repeats the conversation
// up to it.
type oTel struct {
	said map[string][]corpus.Digest // of each conversation so far
	last string                     // the conversation of the last span
}

func newOTel() entries { return &oTel{said: map[string][]corpus.Digest{}} }

// span is a span, with the fields that become records.
type span struct {
	at         diag.Pos
	trace      string
	end        int // nanoseconds since 1970
	attributes map[string]jsonpos.Value
}

// read takes an export of OTLP in JSON. Its spans are sorted by their end: the span of an agent
// ends after those of its calls, and repeats them.
func (o *oTel) read(e *entry, v jsonpos.Value) {
	var spans []span
	fields := e.Fields(v, "", "resourceSpans")
	if fields == nil {
		return
	}
	for _, resource := range e.List(fields["resourceSpans"], "resourceSpans") {
		scopes := e.Fields(resource, "resourceSpans", "scopeSpans")
		if scopes == nil {
			continue
		}
		for _, scope := range e.List(scopes["scopeSpans"], "scopeSpans") {
			if list := e.Fields(scope, "scopeSpans", "spans"); list != nil {
				for _, s := range e.List(list["spans"], "spans") {
					spans = append(spans, readSpan(e, s))
				}
			}
		}
	}
	slices.SortStableFunc(spans, func(a, b span) int { return a.end - b.end })
	for _, s := range spans {
		e.at = s.at
		o.span(e, s)
	}
}

// readSpan reads a span's start and its attributes, those of its events too.
func readSpan(e *entry, v jsonpos.Value) span {
	fields := e.Fields(v, "spans")
	s := span{at: e.Pos(v), trace: e.Optional(fields, "traceId", "spans."), attributes: map[string]jsonpos.Value{}}
	if v, ok := fields["endTimeUnixNano"]; ok {
		s.end, _ = strconv.Atoi(e.TextOrNumber(v, "endTimeUnixNano"))
	}
	if events, ok := fields["events"]; ok {
		for _, event := range e.List(events, "events") {
			otelAttributes(e, s.attributes, e.Fields(event, "events"))
		}
	}
	otelAttributes(e, s.attributes, fields)
	return s
}

func otelAttributes(e *entry, into map[string]jsonpos.Value, fields map[string]jsonpos.Value) {
	list, ok := fields["attributes"]
	if !ok {
		return
	}
	for _, a := range e.List(list, "attributes") {
		if pair := e.Fields(a, "attributes", "key", "value"); pair != nil {
			into[e.Text(pair["key"], "attributes.key")] = anyValue(e, pair["value"])
		}
	}
}

// anyValue is the JSON that an attribute's value stands for: OTLP wraps each value in its type,
// and instrumentations may write a structure as a text of JSON.
func anyValue(e *entry, v jsonpos.Value) jsonpos.Value {
	raw := unwrap(e, v)
	if text := (jsonpos.Value{Raw: raw}); text.IsString() {
		if inner, wrong := jsonpos.Parse([]byte(text.Text()), ""); wrong == nil && inner.Raw[0] == '[' {
			raw = inner.Raw
		}
	}
	return jsonpos.Value{Raw: raw, At: v.At}
}

func unwrap(e *entry, v jsonpos.Value) []byte {
	fields := e.Fields(v, "attributes.value")
	names := sortedKeys(fields)
	if len(names) == 0 {
		return []byte("null")
	}
	name, inner := names[0], fields[names[0]] // a wrapper has one field, its type
	switch name {
	case "arrayValue":
		var list []string
		if values, ok := e.Fields(inner, name)["values"]; ok {
			for _, element := range e.List(values, name) {
				list = append(list, string(unwrap(e, element)))
			}
		}
		return []byte("[" + strings.Join(list, ",") + "]")
	case "kvlistValue":
		var list []string
		if values, ok := e.Fields(inner, name)["values"]; ok {
			for _, pair := range e.List(values, name) {
				if p := e.Fields(pair, name, "key", "value"); p != nil {
					list = append(list, jsonText(e.Text(p["key"], name+".key"))+":"+string(unwrap(e, p["value"])))
				}
			}
		}
		return []byte("{" + strings.Join(list, ",") + "}")
	}
	return inner.Raw
}

// readSpan adds what a span says that none before it has said.
func (o *oTel) span(e *entry, s span) {
	var all []message
	for _, name := range []string{"gen_ai.system_instructions", "gen_ai.input.messages", "gen_ai.output.messages"} {
		v, ok := s.attributes[name]
		if !ok || v.IsNull() {
			continue
		}
		if name == "gen_ai.system_instructions" {
			all = append(all, message{role: "system", parts: e.List(v, name)})
			continue
		}
		for _, m := range e.List(v, name) {
			all = append(all, oTelMessage(e, m, name))
		}
	}
	if len(all) == 0 {
		e.skip("span without messages")
		return
	}
	conversation := s.conversation()
	if o.last != "" && conversation != o.last {
		e.say("system", "Conversation "+conversation)
	}
	o.last = conversation
	o.said[conversation] = add(e, o.said[conversation], all)
}

// conversation is the id of the conversation, or of the trace if the span has none.
func (s span) conversation() string {
	if id := s.attributes["gen_ai.conversation.id"]; len(id.Raw) > 0 && id.IsString() {
		return id.Text()
	}
	return s.trace
}

// message is a message of a span.
type message struct {
	role  string
	parts []jsonpos.Value
}

func oTelMessage(e *entry, v jsonpos.Value, path string) message {
	fields := e.Fields(v, path, "role", "parts")
	if fields == nil {
		return message{}
	}
	return message{e.Text(fields["role"], path+".role"), e.List(fields["parts"], path+".parts")}
}

// digest names a message: spans repeat it.
func (m message) digest() corpus.Digest {
	var b strings.Builder
	b.WriteString(m.role)
	for _, p := range m.parts {
		b.WriteString(textJSON(p))
	}
	return corpus.DigestOf(b.String())
}

// add says the messages after those that the conversation has so far, and returns what it has
// then. If a span begins otherwise, for example after compaction, only those messages are said
// that were not before.
func add(e *entry, said []corpus.Digest, all []message) []corpus.Digest {
	n := 0
	for n < len(all) && n < len(said) && all[n].digest() == said[n] {
		n++
	}
	continued := n == len(said) || n == len(all)
	for _, m := range all[n:] {
		key := m.digest()
		if !continued && slices.Contains(said, key) {
			e.skip("message that an earlier span has")
			continue
		}
		said = append(said, key)
		oTelSay(e, m)
	}
	return said
}

func oTelSay(e *entry, m message) {
	role := roleOf(m.role)
	if role == "" {
		e.skip("message of role", m.role)
		return
	}
	before := len(e.records)
	for _, v := range m.parts {
		part := e.Fields(v, "parts", "type")
		if part == nil {
			continue
		}
		switch kind := e.Optional(part, "type", "parts."); kind {
		case "text":
			e.say(role, e.Optional(part, "content", "parts."))
		case "reasoning":
			e.think(e.Optional(part, "content", "parts."))
		case "tool_call":
			e.call(e.Optional(part, "name", "parts."), part["arguments"])
		case "server_tool_call":
			e.call(e.Optional(part, "name", "parts."), part["server_tool_call"])
		case "tool_call_response", "server_tool_call_response":
			for _, name := range []string{"response", "result", "server_tool_call_response"} { // result before version 1.38
				if !isEmpty(part[name]) {
					e.say("tool", textOf(part[name]))
				}
			}
		default:
			e.skip("content part", kind)
		}
	}
	if len(e.records) == before {
		e.skip("empty message of role " + role)
	}
}
