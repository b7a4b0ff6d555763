package chatlog

import (
	"cmp"
	"strings"

	"github.com/poimen-memory/mem/harness/jsonpos"
)

// langChainSession reads an object with messages, or a state of LangGraph, whose values have
// them.
func langChainSession(p *jsonpos.Parser, v jsonpos.Value) Session {
	fields := p.Fields(v, "")
	path := ""
	if values, ok := fields["values"]; ok {
		path, v = "values.", values
	}
	if fields = p.Fields(v, strings.TrimSuffix(path, "."), "messages"); fields == nil {
		return Session{}
	}
	s := Session{}
	s.ID, s.IDField = idOf(p, fields, "id", "thread_id")
	top := &entry{Parser: p, at: p.Pos(v)}
	top.rest(fields, "a state", "messages", "id", "thread_id")
	s.Records = append(top.records, session(p, fields["messages"], path+"messages", langChainMessage)...)
	return s
}

// langChainMessage reads a message as one of LangChain's three ways of writing it: with its
// fields, within data, or as the arguments of a constructor.
func langChainMessage(e *entry, v jsonpos.Value) {
	fields := e.Fields(v, "")
	if fields == nil {
		return
	}
	kind, constructed := e.Optional(fields, "type", ""), langChainClass(e, fields)
	for _, inner := range []string{"data", "kwargs"} {
		if v, ok := fields[inner]; ok {
			if fields = e.Fields(v, inner); fields == nil {
				return
			}
			if kind == "constructor" || kind == "" {
				kind = cmp.Or(e.Optional(fields, "type", inner+"."), constructed)
			}
			break
		}
	}
	if kind == "chat" || kind == "ChatMessage" {
		kind = e.Optional(fields, "role", "")
	}
	kind = strings.TrimSuffix(strings.TrimSuffix(kind, "Chunk"), "Message")
	role := roleOf(strings.ToLower(kind))
	if role == "" {
		e.skip("message of type", kind)
		return
	}
	langChainContent(e, role, fields)
	e.empty("message of type " + kind)
}

// langChainClass is the class of a constructor, which is the last element of its id.
func langChainClass(e *entry, fields map[string]jsonpos.Value) (class string) {
	if id, ok := fields["id"]; ok && id.Raw[0] == '[' {
		for _, name := range e.List(id, "id") {
			class = textOf(name)
		}
	}
	return class
}

func langChainContent(e *entry, role string, fields map[string]jsonpos.Value) {
	more := map[string]jsonpos.Value{}
	if v, ok := fields["additional_kwargs"]; ok && !v.IsNull() {
		more = e.Fields(v, "additional_kwargs")
	}
	e.think(e.Optional(more, "reasoning_content", "additional_kwargs."))
	calls := fields["tool_calls"]
	hasCalls := len(calls.Raw) > 0 && !calls.IsNull() && textJSON(calls) != "[]"
	if content, ok := fields["content"]; ok {
		e.parts(role, content, "content", func(kind string, part map[string]jsonpos.Value) bool {
			if kind == "reasoning" {
				e.think(e.Optional(part, "reasoning", "content."))
				return true
			}
			// A call stands in the content as its provider writes it, and again in tool_calls.
			return hasCalls && (kind == "tool_use" || kind == "tool_call") || addBlock(e, kind, part, "content.")
		})
	}
	if !hasCalls {
		openAICalls(e, more)
	} else {
		for _, c := range e.List(calls, "tool_calls") {
			if call := e.Fields(c, "tool_calls", "name"); call != nil {
				e.call(e.Text(call["name"], "tool_calls.name"), call["args"])
			}
		}
	}
	e.rest(fields, "a message", "content", "additional_kwargs", "tool_calls", "type", "role", "id", "name", "response_metadata",
		"usage_metadata", "tool_call_id", "status", "example", "tool_call_chunks", "chunk_position")
}
