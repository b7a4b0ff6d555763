package chatlog

import (
	"fmt"

	"github.com/poimen-memory/mem/harness/jsonpos"
)

// sweAgent is the trajectory of an SWE-agent run while its steps are read.
type sweAgent struct{ begun bool }

func newSWEAgent() entries { return &sweAgent{} }

func (s *sweAgent) read(e *entry, v jsonpos.Value) {
	fields := e.Fields(v, "")
	if steps, ok := fields["trajectory"]; ok { // the list does not stand in the file's first 64 KiB
		for i, step := range e.List(steps, "trajectory") {
			inner := &entry{Parser: e.Parser, at: e.Pos(step), id: fmt.Sprintf("m%d", i+1)}
			s.step(inner, inner.Fields(step, "trajectory"))
			e.records = append(e.records, inner.records...)
		}
		return
	}
	s.step(e, fields)
}

// step is one turn: a thought, an action, and what the environment answered. The first step's
// query holds the instructions and the task.
func (s *sweAgent) step(e *entry, fields map[string]jsonpos.Value) {
	if fields == nil {
		return
	}
	if !s.begun {
		s.begun = true
		s.task(e, fields)
	}
	if blocks, ok := fields["thinking_blocks"]; ok && !blocks.IsNull() {
		addBlocks(e, "assistant", blocks, "thinking_blocks")
	}
	thought, action := e.Optional(fields, "thought", ""), e.Optional(fields, "action", "")
	if response := e.Optional(fields, "response", ""); thought == "" && action == "" {
		e.say("assistant", response)
	}
	e.say("assistant", thought)
	if action != "" {
		e.say("tool", "call "+action)
	}
	e.say("tool", e.Optional(fields, "observation", ""))
	e.rest(fields, "a step", "thought", "action", "response", "observation", "thinking_blocks", "query", "state", "execution_time", "messages")
	e.empty("step")
}

func (s *sweAgent) task(e *entry, fields map[string]jsonpos.Value) {
	query, ok := fields["query"]
	if !ok || query.IsNull() {
		e.skip("task, which is not in the first step")
		return
	}
	for i, m := range e.List(query, "query") {
		inner := &entry{Parser: e.Parser, at: e.at, id: fmt.Sprintf("task%d", i+1)}
		openAIMessageWith(inner, m, "agent", "message_type", "is_demo", "tags", "cache_control", "tool_call_ids")
		e.records = append(e.records, inner.records...)
	}
}
