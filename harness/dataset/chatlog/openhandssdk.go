package chatlog

import "github.com/poimen-memory/mem/harness/jsonpos"

// openHandsSDKEvent reads an event of the OpenHands software agent SDK.
func openHandsSDKEvent(e *entry, fields map[string]jsonpos.Value) {
	kind := e.Text(fields["kind"], "kind")
	switch kind {
	case "SystemPromptEvent":
		if prompt, ok := fields["system_prompt"]; ok {
			e.say("system", e.Optional(e.Fields(prompt, "system_prompt"), "text", "system_prompt."))
		}
		e.rest(fields, "a system prompt", "kind", "id", "timestamp", "source", "system_prompt")
	case "MessageEvent":
		if v, ok := fields["llm_message"]; ok {
			sdkMessage(e, e.Fields(v, "llm_message"))
		}
		sdkParts(e, "user", fields, "extended_content", "")
	case "ActionEvent":
		sdkAction(e, fields)
	case "ObservationEvent":
		sdkObservation(e, fields)
	case "UserRejectObservation":
		e.say("tool", "(rejected) "+e.Optional(fields, "rejection_reason", ""))
	case "AgentErrorEvent":
		e.say("tool", "(error) "+e.Optional(fields, "error", ""))
	case "Condensation":
		e.say("system", e.Optional(fields, "summary", ""))
	default:
		e.skip("event of kind", kind)
	}
	e.empty("event")
}

func sdkMessage(e *entry, message map[string]jsonpos.Value) {
	said := e.Optional(message, "role", "llm_message.")
	role := roleOf(said)
	if role == "" {
		e.skip("message of role", said)
		return
	}
	sdkReasoning(e, message, "llm_message.")
	sdkParts(e, role, message, "content", "llm_message.")
}

func sdkReasoning(e *entry, fields map[string]jsonpos.Value, path string) {
	before := e.said
	e.think(e.Optional(fields, "reasoning_content", path))
	if blocks, ok := fields["thinking_blocks"]; ok && e.said == before {
		addBlocks(e, "assistant", blocks, path+"thinking_blocks")
	}
}

func sdkParts(e *entry, role string, fields map[string]jsonpos.Value, name, path string) {
	if content, ok := fields[name]; ok {
		e.parts(role, content, path+name, nil)
	}
}

// sdkAction is what the agent thought and said, and its call of a tool.
func sdkAction(e *entry, fields map[string]jsonpos.Value) {
	sdkReasoning(e, fields, "")
	sdkParts(e, "assistant", fields, "thought", "")
	v, ok := fields["tool_call"]
	if !ok || v.IsNull() {
		e.call(e.Optional(fields, "tool_name", ""), fields["action"])
		return
	}
	call, path := e.Fields(v, "tool_call"), "tool_call."
	if f, ok := call["function"]; ok {
		call, path = e.Fields(f, "tool_call.function"), "tool_call.function."
	}
	openAICall(e, call, path)
}

// sdkObservation is what a tool returned: its content or, as the first versions wrote it, its
// output.
func sdkObservation(e *entry, fields map[string]jsonpos.Value) {
	v, ok := fields["observation"]
	if !ok {
		return
	}
	observation := e.Fields(v, "observation")
	before := len(e.records)
	if sdkParts(e, "tool", observation, "content", "observation."); len(e.records) == before {
		e.say("tool", e.Optional(observation, "output", "observation."))
	}
	sdkParts(e, "tool", fields, "extended_content", "")
}
