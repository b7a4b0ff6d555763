package chatlog

import "github.com/poimen-memory/mem/harness/jsonpos"

// shareGPTSession reads a conversation in the form that ShareGPT's dumps began.
func shareGPTSession(p *jsonpos.Parser, v jsonpos.Value) Session {
	fields := p.Fields(v, "")
	list := "conversations"
	if has("conversation")(fields) {
		list = "conversation"
	}
	if fields = p.Fields(v, "", list); fields == nil {
		return Session{}
	}
	s := Session{}
	s.ID, s.IDField = idOf(p, fields, "id")
	top := &entry{Parser: p, at: p.Pos(v), id: "system"}
	top.say("system", p.Optional(fields, "system", ""))
	top.rest(fields, "a conversation", "id", list, "system", "source", "model")
	s.Records = append(top.records, session(p, fields[list], list, shareGPTTurn)...)
	return s
}

func shareGPTTurn(e *entry, v jsonpos.Value) {
	fields := e.Fields(v, "", "from", "value")
	if fields == nil {
		return
	}
	from := e.Text(fields["from"], "from")
	text := e.Optional(fields, "value", "")
	role := roleOf(from)
	switch {
	case from == "function_call" && text != "":
		shareGPTCall(e, text)
	case role == "":
		e.skip("turn from", from)
	default:
		e.say(role, text)
	}
	e.empty("turn from " + from)
}

// shareGPTCall adds a call of a tool, which is JSON in a text by convention alone.
func shareGPTCall(e *entry, text string) {
	if v, wrong := jsonpos.Parse([]byte(text), ""); wrong == nil && v.Raw[0] == '{' {
		reader := jsonpos.Parser{}
		if call := reader.Fields(v, "", "name", "arguments"); call != nil && call["name"].IsString() {
			e.call(call["name"].Text(), call["arguments"])
			return
		}
	}
	e.say("tool", "call "+text)
}
