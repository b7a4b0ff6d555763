package chatlog

import "github.com/poimen-memory/mem/harness/jsonpos"

// geminiSession reads a session file of Gemini CLI that is one JSON object.
func geminiSession(p *jsonpos.Parser, v jsonpos.Value) Session {
	fields := p.Fields(v, "", "sessionId", "messages")
	if fields == nil {
		return Session{}
	}
	s := Session{}
	s.ID, s.IDField = idOf(p, fields, "sessionId")
	top := &entry{Parser: p, at: p.Pos(v)}
	top.rest(fields, "a session", "sessionId", "messages", "projectHash", "startTime", "lastUpdated", "directories", "kind", "activeExtensionName")
	s.Records = append(top.records, session(p, fields["messages"], "messages", geminiMessage)...)
	return s
}

// geminiLine tells the first entry of a session file of one entry a line from a session.
func geminiLine(fields map[string]jsonpos.Value) bool { return !has("messages")(fields) }

// geminiEntry reads a line of a session file of one entry a line: a message, or what describes the
// session.
func geminiEntry(e *entry, v jsonpos.Value) {
	fields := e.Fields(v, "")
	switch {
	case fields == nil:
	case has("type")(fields):
		geminiMessage(e, v)
	case has("$rewindTo")(fields):
		e.skip("rewind: what it takes back is imported")
	default:
		e.skip("description of the session")
	}
}

// geminiMessage reads a message with its thoughts, and the calls of tools with their results.
func geminiMessage(e *entry, v jsonpos.Value) {
	fields := e.Fields(v, "", "type")
	if fields == nil {
		return
	}
	kind := e.Text(fields["type"], "type")
	role := roleOf(kind)
	if role == "" { // info, error, warning: shown to the user alone
		e.skip("message of type", kind)
		return
	}
	if thoughts, ok := fields["thoughts"]; ok && !thoughts.IsNull() {
		for _, t := range e.List(thoughts, "thoughts") {
			thought := e.Fields(t, "thoughts")
			e.think(by(e.Optional(thought, "subject", "thoughts."), e.Optional(thought, "description", "thoughts.")))
		}
	}
	if content, ok := fields["content"]; ok {
		geminiParts(e, role, content, "content")
	}
	if calls, ok := fields["toolCalls"]; ok && !calls.IsNull() {
		for _, c := range e.List(calls, "toolCalls") {
			call := e.Fields(c, "toolCalls")
			e.call(e.Optional(call, "name", "toolCalls."), call["args"])
			if result, ok := call["result"]; ok {
				geminiParts(e, "tool", result, "toolCalls.result")
			}
		}
	}
	e.rest(fields, "a message", "type", "id", "timestamp", "content", "displayContent", "thoughts", "toolCalls", "tokens", "model")
	e.empty("message of type " + kind)
}

// geminiParts reads a text, a part, or a list of them: parts of Gemini's API have no type but a
// field for each kind.
func geminiParts(e *entry, role string, v jsonpos.Value, path string) {
	switch {
	case v.IsNull():
		return
	case v.IsString():
		e.say(role, v.Text())
		return
	case v.Raw[0] == '[':
		for _, part := range e.List(v, path) {
			geminiParts(e, role, part, path)
		}
		return
	}
	part := e.Fields(v, path)
	switch {
	case has("text")(part):
		e.say(role, e.Optional(part, "text", path+"."))
	case has("functionResponse")(part):
		if response, ok := e.Fields(part["functionResponse"], path+".functionResponse")["response"]; ok {
			e.say("tool", geminiResponse(e, response, path+".functionResponse.response"))
		}
	case has("functionCall")(part):
		call := e.Fields(part["functionCall"], path+".functionCall")
		e.call(e.Optional(call, "name", path+".functionCall."), call["args"])
	default:
		for _, name := range sortedKeys(part) {
			e.skip("content part", name)
		}
	}
}

// geminiResponse is what a tool answered: its output if it has nothing else.
func geminiResponse(e *entry, v jsonpos.Value, path string) string {
	if v.Raw[0] == '{' {
		if fields := e.Fields(v, path); len(fields) == 1 && has("output")(fields) {
			return textOf(fields["output"])
		}
	}
	return textOf(v)
}
