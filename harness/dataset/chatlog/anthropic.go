package chatlog

import "github.com/poimen-memory/mem/harness/jsonpos"

// anthropicSession reads a request to Anthropic's Messages API, or an export in its shape.
func anthropicSession(p *jsonpos.Parser, v jsonpos.Value) Session {
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
	top.rest(fields, "a chat", "id", "messages", "system", "model", "tool_choice", "max_tokens", "temperature",
		"top_p", "top_k", "metadata", "stop_sequences", "stream", "thinking", "betas", "service_tier")
	s.Records = append(top.records, session(p, fields["messages"], "messages", anthropicMessage)...)
	return s
}

// anthropicMessage reads a message of a request, or a response, which is one too.
func anthropicMessage(e *entry, v jsonpos.Value) {
	fields := e.Fields(v, "", "role", "content")
	if fields == nil {
		return
	}
	said := e.Text(fields["role"], "role")
	role := roleOf(said)
	if role == "" {
		e.skip("message of role", said)
		return
	}
	addBlocks(e, role, fields["content"], "content")
	e.rest(fields, "a message", "role", "content", "id", "type", "model", "stop_reason", "stop_sequence", "usage", "container", "context_management")
	e.empty("message of role " + said)
}
