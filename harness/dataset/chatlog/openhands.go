package chatlog

import (
	"slices"
	"strings"

	"github.com/poimen-memory/mem/harness/jsonpos"
)

// openHandsSession reads a row of an evaluation's output, which has the events of a run.
func openHandsSession(p *jsonpos.Parser, v jsonpos.Value) Session {
	fields := p.Fields(v, "")
	list := "history"
	if has("trajectory")(fields) {
		list = "trajectory"
	}
	if fields = p.Fields(v, "", list); fields == nil {
		return Session{}
	}
	s := Session{}
	s.ID, s.IDField = idOf(p, fields, "instance_id", "id")
	s.Records = session(p, fields[list], list, openHandsEvent)
	return s
}

// openHandsEvent reads an action or an observation, an event of the software agent SDK, or a pair
// of them as the first versions wrote it.
func openHandsEvent(e *entry, v jsonpos.Value) {
	if v.Raw[0] == '[' {
		for _, event := range e.List(v, "") {
			openHandsEvent(e, event)
		}
		return
	}
	fields := e.Fields(v, "")
	switch {
	case fields == nil:
	case has("kind")(fields):
		openHandsSDKEvent(e, fields)
	case has("action")(fields):
		openHandsAction(e, fields)
	case has("observation")(fields):
		openHandsObservation(e, fields)
	default:
		e.Errorf(v, "", "action is missing: want an event with action, observation or kind")
	}
}

// housekeeping are arguments of actions that the agent does not write.
var housekeeping = []string{"thought", "blocking", "hidden", "confirmation_state", "is_confirmed", "security_risk", "is_input", "is_static",
	"cwd", "timeout", "keep_prompt", "runnable", "wait_for_response", "impl_source", "return_axtree", "browsergym_send_msg_to_user", "include_extra"}

func openHandsAction(e *entry, fields map[string]jsonpos.Value) {
	kind := e.Optional(fields, "action", "")
	args := map[string]jsonpos.Value{}
	if v, ok := fields["args"]; ok && !v.IsNull() {
		args = e.Fields(v, "args")
	}
	switch kind {
	case "message":
		e.say(openHandsRole(e.Optional(fields, "source", "")), e.Optional(args, "content", "args."))
		if !isEmpty(args["image_urls"]) {
			e.skip("image of a message")
		}
	case "system":
		e.say("system", e.Optional(args, "content", "args."))
	case "think":
		e.think(e.Optional(args, "thought", "args."))
	case "finish":
		e.say("assistant", e.Optional(args, "final_thought", "args."))
		e.say("assistant", e.Optional(args, "thought", "args."))
	case "run", "run_ipython", "read", "write", "edit", "browse", "browse_interactive", "call_tool_mcp", "delegate", "task_tracking":
		e.say("assistant", e.Optional(args, "thought", "args."))
		openHandsCall(e, kind, args)
	default:
		e.skip("action", kind)
	}
	e.empty("action " + kind)
}

func openHandsRole(source string) string {
	if source == "user" {
		return "user"
	}
	return "assistant"
}

// openHandsCall is an action as a tool's call, with the arguments that the agent wrote.
func openHandsCall(e *entry, kind string, args map[string]jsonpos.Value) {
	var pairs []string
	for _, name := range sortedKeys(args) {
		if v := args[name]; !slices.Contains(housekeeping, name) && !v.IsEmpty() {
			pairs = append(pairs, jsonText(name)+":"+textJSON(v))
		}
	}
	e.say("tool", "call "+kind+" {"+strings.Join(pairs, ",")+"}")
}

func openHandsObservation(e *entry, fields map[string]jsonpos.Value) {
	kind := e.Optional(fields, "observation", "")
	if kind == "null" || kind == "agent_state_changed" || kind == "recall" && e.Optional(fields, "content", "") == "" {
		e.skip("observation", kind)
		return
	}
	role := "tool"
	if kind == "message" {
		role = openHandsRole(e.Optional(fields, "source", ""))
	}
	e.say(role, e.Optional(fields, "content", ""))
	e.empty("observation " + kind)
}
