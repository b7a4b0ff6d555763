package chatlog

import (
	"github.com/poimen-memory/mem/harness/jsonpos"
)

// openAISession reads a chat as OpenAI's API takes it: an object with a list of messages.
func openAISession(p *jsonpos.Parser, v jsonpos.Value) Session {
	fields := p.Fields(v, "", "messages")
	if fields == nil {
		return Session{}
	}
	s := Session{}
	s.ID, s.IDField = idOf(p, fields, "id")
	top := &entry{Parser: p, at: p.Pos(v), id: "system"}
	if system, ok := fields["system"]; ok {
		top.parts("system", system, "system", nil)
	}
	top.rest(fields, "a chat", "id", "messages", "system", "model", "tool_choice", "parallel_tool_calls",
		"temperature", "top_p", "max_tokens", "max_completion_tokens", "metadata", "stream", "seed", "stop", "reasoning_effort", "response_format", "user")
	s.Records = append(top.records, session(p, fields["messages"], "messages", openAIMessage)...)
	return s
}

func openAIMessage(e *entry, v jsonpos.Value) { openAIMessageWith(e, v) }

// openAIMessageWith is what was thought, what was said, and a record for each call. Fields that
// are named are not content.
func openAIMessageWith(e *entry, v jsonpos.Value, named ...string) {
	fields := e.Fields(v, "", "role")
	if fields == nil {
		return
	}
	said := e.Text(fields["role"], "role")
	role := roleOf(said)
	if role == "" {
		e.skip("message of role", said)
		return
	}
	openAIReasoning(e, fields)
	if content, ok := fields["content"]; ok {
		e.speaker = e.Optional(fields, "name", "")
		e.parts(role, content, "content", nil)
		e.speaker = ""
	}
	e.say(role, e.Optional(fields, "refusal", ""))
	openAICalls(e, fields)
	e.rest(fields, "a message", append(named, "role", "content", "name", "refusal", "reasoning", "reasoning_content", "reasoning_details",
		"tool_calls", "function_call", "tool_call_id", "id", "created", "timestamp")...)
	e.empty("message of role " + role)
}

// openAIReasoning adds the reasoning. Servers name it in three ways; some send several.
func openAIReasoning(e *entry, fields map[string]jsonpos.Value) {
	before := e.said
	e.think(e.Optional(fields, "reasoning_content", ""))
	if v, ok := fields["reasoning"]; ok && !v.IsNull() && e.said == before {
		e.think(textOf(v))
	}
	details, ok := fields["reasoning_details"]
	if !ok || details.IsNull() || e.said > before {
		return
	}
	for _, v := range e.List(details, "reasoning_details") {
		detail := e.Fields(v, "reasoning_details")
		text := e.Optional(detail, "text", "reasoning_details.") + e.Optional(detail, "summary", "reasoning_details.")
		if e.think(text); text == "" {
			e.skip("reasoning detail without a text")
		}
	}
}

func openAICalls(e *entry, fields map[string]jsonpos.Value) {
	if v, ok := fields["function_call"]; ok && !v.IsNull() {
		openAICall(e, e.Fields(v, "function_call"), "function_call.")
	}
	v, ok := fields["tool_calls"]
	if !ok || v.IsNull() {
		return
	}
	for _, c := range e.List(v, "tool_calls") {
		switch call := e.Fields(c, "tool_calls"); {
		case call == nil:
		case has("function")(call):
			openAICall(e, e.Fields(call["function"], "tool_calls.function"), "tool_calls.function.")
		case has("custom")(call):
			openAICall(e, e.Fields(call["custom"], "tool_calls.custom"), "tool_calls.custom.")
		default:
			e.skip("tool call without a function")
		}
	}
}

func openAICall(e *entry, f map[string]jsonpos.Value, path string) {
	name := e.Optional(f, "name", path)
	if name == "" {
		e.skip("tool call without a name")
		return
	}
	arguments := f["arguments"]
	if input, ok := f["input"]; ok {
		arguments = input
	}
	e.call(name, arguments)
}
