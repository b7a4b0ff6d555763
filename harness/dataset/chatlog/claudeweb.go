package chatlog

import "github.com/poimen-memory/mem/harness/jsonpos"

// claudeWebSession reads a conversation of the data export of claude.ai.
func claudeWebSession(p *jsonpos.Parser, v jsonpos.Value) Session {
	fields := p.Fields(v, "", "chat_messages")
	if fields == nil {
		return Session{}
	}
	s := Session{}
	s.ID, s.IDField = idOf(p, fields, "uuid")
	top := &entry{Parser: p, at: p.Pos(v)}
	top.rest(fields, "a conversation", "uuid", "chat_messages", "name", "created_at", "updated_at", "account", "model", "settings")
	s.Records = append(top.records, session(p, fields["chat_messages"], "chat_messages", claudeWebMessage)...)
	return s
}

// claudeWebMessage reads a message: its content or, in older exports, its text alone, and what was
// attached as text.
func claudeWebMessage(e *entry, v jsonpos.Value) {
	fields := e.Fields(v, "", "sender")
	if fields == nil {
		return
	}
	sender := e.Text(fields["sender"], "sender")
	role := roleOf(sender)
	if role == "" {
		e.skip("message of sender", sender)
		return
	}
	content, ok := fields["content"]
	if ok && !content.IsEmpty() {
		addBlocks(e, role, content, "content")
	} else {
		e.say(role, e.Optional(fields, "text", ""))
	}
	if list, ok := fields["attachments"]; ok && !list.IsNull() {
		for _, a := range e.List(list, "attachments") {
			attached := e.Fields(a, "attachments")
			if text := e.Optional(attached, "extracted_content", "attachments."); text != "" {
				e.say(role, by(e.Optional(attached, "file_name", "attachments."), text))
				continue
			}
			e.skip("attachment without a text")
		}
	}
	e.rest(fields, "a message", "sender", "content", "text", "attachments", "uuid", "created_at", "updated_at", "index",
		"parent_message_uuid", "stop_reason", "input_mode", "truncated")
	e.empty("message of sender " + sender)
}
