package chatlog

import (
	"strings"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/jsonpos"
)

// responsesSession reads a request to OpenAI's Responses API, or a response of it.
func responsesSession(p *jsonpos.Parser, v jsonpos.Value) Session {
	fields := p.Fields(v, "")
	if fields == nil {
		return Session{}
	}
	if !has("input", "output")(fields) {
		p.Errorf(v, "", "input is missing: want a request with input, or a response with output")
		return Session{}
	}
	s := Session{}
	s.ID, s.IDField = idOf(p, fields, "id")
	top := &entry{Parser: p, at: p.Pos(v), id: "instructions"}
	if instructions, ok := fields["instructions"]; ok && instructions.IsString() {
		top.say("system", instructions.Text())
	}
	if input, ok := fields["input"]; ok && input.IsString() {
		top.say("user", input.Text())
	}
	top.rest(fields, "a response", "id", "object", "input", "output", "instructions", "model", "status", "created_at", "completed_at", "usage",
		"metadata", "temperature", "top_p", "max_output_tokens", "parallel_tool_calls", "tool_choice", "reasoning", "store", "truncation",
		"text", "service_tier", "user", "background", "stream", "include", "top_logprobs", "prompt_cache_key", "safety_identifier")
	s.Records = top.records
	for _, list := range []string{"input", "output"} {
		if v, ok := fields[list]; ok && !v.IsString() {
			s.Records = append(s.Records, within(list, session(p, v, list, readItem))...)
		}
	}
	return s
}

// within puts the name of their list before the ids of records.
func within(list string, records []*corpus.Record) []*corpus.Record {
	for _, r := range records {
		if r.ID != "" {
			r.ID = list + "/" + r.ID
		}
	}
	return records
}

func readItem(e *entry, v jsonpos.Value) {
	if fields := e.Fields(v, ""); fields != nil {
		responsesItem(e, fields, "")
	}
}

// responsesItem reads an item of OpenAI's Responses API.
func responsesItem(e *entry, item map[string]jsonpos.Value, path string) {
	kind := e.Optional(item, "type", path)
	switch kind {
	case "message", "":
		itemMessage(e, item, path)
	case "reasoning":
		itemReasoning(e, item, path)
	case "function_call", "mcp_call":
		e.call(e.Optional(item, "name", path), item["arguments"])
		itemOutput(e, item["output"], path+"output")
	case "code_interpreter_call":
		e.call("code_interpreter", item["code"])
		itemOutput(e, item["outputs"], path+"outputs")
	case "file_search_call":
		e.call("file_search", item["queries"])
		if !isEmpty(item["results"]) {
			e.say("tool", textOf(item["results"]))
		}
	case "custom_tool_call":
		e.call(e.Optional(item, "name", path), item["input"])
	case "local_shell_call", "shell_call", "web_search_call", "computer_call":
		e.call(strings.TrimSuffix(kind, "_call"), item["action"])
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output", "shell_call_output":
		itemOutput(e, item["output"], path+"output")
	default:
		e.skip("item of type", kind)
		return
	}
	e.empty("item of type " + kind)
}

func itemMessage(e *entry, item map[string]jsonpos.Value, path string) {
	said := e.Optional(item, "role", path)
	role := roleOf(said)
	content, ok := item["content"]
	if role == "" || !ok {
		e.skip("message of role", said)
		return
	}
	e.parts(role, content, path+"content", nil)
}

// isEmpty reports whether a field is absent or says nothing.
func isEmpty(v jsonpos.Value) bool { return len(v.Raw) == 0 || v.IsEmpty() }

// itemReasoning adds the reasoning or, where that is encrypted, its summary.
func itemReasoning(e *entry, item map[string]jsonpos.Value, path string) {
	for _, name := range []string{"content", "summary"} {
		v, ok := item[name]
		if !ok || v.IsNull() {
			continue
		}
		var texts []string
		for _, part := range e.List(v, path+name) {
			texts = append(texts, e.Optional(e.Fields(part, path+name), "text", path+name+"."))
		}
		if text := strings.Join(texts, "\n"); text != "" {
			e.think(text)
			return
		}
	}
	if has("encrypted_content")(item) {
		e.skip("reasoning that is encrypted")
	}
}

// itemOutput adds what a tool returned: a text, a list of parts, or an object with one of them.
func itemOutput(e *entry, v jsonpos.Value, path string) {
	switch {
	case isEmpty(v):
	case v.Raw[0] == '{':
		fields := e.Fields(v, path)
		if content, ok := fields["content"]; ok {
			e.parts("tool", content, path+".content", nil)
			return
		}
		e.say("tool", textOf(v))
	default:
		e.parts("tool", v, path, nil)
	}
}
