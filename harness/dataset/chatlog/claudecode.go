package chatlog

import (
	"slices"
	"strings"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/jsonpos"
)

// claudeCode is a session log of Claude Code while it is read.
type claudeCode struct {
	uuids  map[corpus.Digest]bool
	queued []string // messages that were queued during a turn and not delivered yet
	early  []string // messages that were said when they left the queue; a later copy is skipped
}

func newClaudeCode() entries { return &claudeCode{uuids: map[corpus.Digest]bool{}} }

func (c *claudeCode) read(e *entry, v jsonpos.Value) {
	fields := e.Fields(v, "", "type")
	if fields == nil {
		return
	}
	if id := e.Optional(fields, "uuid", ""); id != "" {
		key := corpus.DigestOf(id)
		if c.uuids[key] {
			e.skip("entry whose uuid is that of an earlier one")
			return
		}
		c.uuids[key] = true
	}
	if e.Flag(fields, "isSidechain", "") {
		e.speaker = strings.TrimSpace("sub-agent " + e.Optional(fields, "agentId", ""))
	}
	switch kind := e.Text(fields["type"], "type"); kind {
	case "user", "assistant":
		c.message(e, kind, fields)
	case "system":
		if e.say(kind, e.Optional(fields, "content", "")); len(e.records) == 0 {
			e.skip("entry of type system without a text")
		}
	case "queue-operation":
		c.queue(e, fields)
	case "attachment":
		c.attachment(e, fields)
	default:
		e.skip("entry of type", kind)
	}
}

func (c *claudeCode) message(e *entry, role string, fields map[string]jsonpos.Value) {
	v, ok := fields["message"]
	if !ok {
		e.skip("entry without a message of type", role)
		return
	}
	content, ok := e.Fields(v, "message", "content")["content"]
	if !ok {
		return
	}
	if content.IsString() && c.saidEarlier(content.Text()) {
		e.skip("queued message that is there already")
		return
	}
	addBlocks(e, role, content, "message.content")
	markPreviews(e)
	e.empty("entry of type " + role)
}

// markPreviews marks and counts the outputs of which the log holds the beginning alone: the rest
// stands in a file beside it.
func markPreviews(e *entry) {
	for _, r := range slices.Clone(e.records) {
		text := strings.TrimPrefix(r.Text, by(e.speaker, ""))
		if r.Role == "tool" && strings.HasPrefix(strings.TrimSpace(text), "<persisted-output>") {
			r.Text = by(e.speaker, "(preview) "+text)
			e.skip("rest of a tool's output that is stored elsewhere")
		}
	}
}

// queue follows what a user typed during a turn. What is dequeued comes as a message of its
// own; what is removed was given to the running turn.
func (c *claudeCode) queue(e *entry, fields map[string]jsonpos.Value) {
	operation := e.Optional(fields, "operation", "")
	text := ""
	if content, ok := fields["content"]; ok && !content.IsNull() {
		text = plain(e, content)
	}
	if operation == "enqueue" && text != "" {
		c.queued = append(c.queued, text)
		return
	}
	if len(c.queued) == 0 || text != "" && !slices.Contains(c.queued, text) {
		e.skip("entry of type", "queue-operation")
		return
	}
	at := max(slices.Index(c.queued, text), 0)
	switch text = c.queued[at]; operation {
	case "popAll":
		for range c.queued {
			e.skip("queued message that was withdrawn")
		}
		c.queued = nil
		return
	case "remove":
		e.say("user", text)
		c.early = append(c.early, text)
	}
	c.queued = slices.Delete(c.queued, at, at+1)
}

// end counts the messages that were still queued when the log ended.
func (c *claudeCode) end(e *entry) {
	for range c.queued {
		e.skip("queued message that was never sent")
	}
}

// attachment adds a queued message that was given to the running turn.
func (c *claudeCode) attachment(e *entry, fields map[string]jsonpos.Value) {
	attached := map[string]jsonpos.Value{}
	if v, ok := fields["attachment"]; ok {
		attached = e.Fields(v, "attachment")
	}
	kind := e.Optional(attached, "type", "attachment.")
	prompt, ok := attached["prompt"]
	if kind != "queued_command" || !ok {
		e.skip("attachment of type", kind)
		return
	}
	text := plain(e, prompt)
	if c.saidEarlier(text) {
		e.skip("queued message that is there already")
		return
	}
	if at := slices.Index(c.queued, text); at >= 0 {
		c.queued = slices.Delete(c.queued, at, at+1)
	}
	addBlocks(e, "user", prompt, "attachment.prompt")
	e.empty("attachment")
}

// saidEarlier reports whether a queued message was said when it left the queue.
func (c *claudeCode) saidEarlier(text string) bool {
	at := slices.Index(c.early, text)
	if at >= 0 {
		c.early = slices.Delete(c.early, at, at+1)
	}
	return at >= 0
}

// plain is the text of a content, without its other parts.
func plain(e *entry, v jsonpos.Value) string {
	reader := &entry{Parser: e.Parser}
	reader.parts("user", v, "content", nil)
	var texts []string
	for _, r := range reader.records {
		if r.Skipped == "" {
			texts = append(texts, r.Text)
		}
	}
	return strings.Join(texts, "\n")
}
