package chatlog

import (
	"strings"

	"github.com/poimen-memory/mem/harness/jsonpos"
)

// codexEntry reads a line of a rollout of Codex CLI: an item of OpenAI's Responses API within a
// payload, or bare as the first versions wrote it.
func codexEntry(e *entry, v jsonpos.Value) {
	fields := e.Fields(v, "")
	payload, path := fields, ""
	kind := e.Optional(fields, "type", "")
	if inner, ok := fields["payload"]; ok {
		path = "payload."
		if payload = e.Fields(inner, "payload"); payload == nil {
			return
		}
	}
	switch {
	case kind == "" && has("id", "record_type")(fields): // the first line, and states, of the first versions
		codexInstructions(e, payload, path)
	case path == "", kind == "response_item": // one of the Responses API
		responsesItem(e, payload, path)
	case kind == "session_meta":
		codexInstructions(e, payload, path)
	case kind == "compacted":
		e.say("system", e.Optional(payload, "message", path))
		e.rest(payload, "a compaction", "message")
		e.empty("compaction")
	default: // event_msg repeats items for the terminal
		e.skip("entry of type", strings.TrimSuffix(kind+" "+e.Optional(payload, "type", path), " "))
	}
}

// codexInstructions adds those of the session: a text, or an object with one.
func codexInstructions(e *entry, fields map[string]jsonpos.Value, path string) {
	for _, name := range []string{"base_instructions", "instructions"} {
		v, ok := fields[name]
		if !ok || v.IsNull() {
			continue
		}
		if v.IsString() {
			e.say("system", v.Text())
			continue
		}
		e.say("system", e.Optional(e.Fields(v, path+name), "text", path+name+"."))
	}
	e.empty("description of the session")
}
