package chatlog

import (
	"strings"

	"github.com/poimen-memory/mem/harness/jsonpos"
)

// addBlocks reads the content of a message: texts, thoughts, calls of tools and their results.
func addBlocks(e *entry, role string, v jsonpos.Value, path string) {
	e.parts(role, v, path, func(kind string, block map[string]jsonpos.Value) bool {
		return addBlock(e, kind, block, path+".")
	})
}

func addBlock(e *entry, kind string, block map[string]jsonpos.Value, path string) bool {
	switch {
	case kind == "thinking":
		e.think(e.Optional(block, "thinking", path))
	case kind == "tool_use", kind == "server_tool_use", kind == "mcp_tool_use":
		e.call(e.Optional(block, "name", path), block["input"])
	case kind == "tool_result", kind == "mcp_tool_result":
		toolResult(e, block, path)
	case strings.HasSuffix(kind, "_tool_result") && has("content")(block): // of a tool that the server runs
		e.say("tool", textOf(block["content"]))
	case kind == "document" && has("source")(block):
		addDocument(e, block, path)
	default:
		return false
	}
	return true
}

// toolResult adds what a tool returned, a failure as such.
func toolResult(e *entry, block map[string]jsonpos.Value, path string) {
	content, ok := block["content"]
	if !ok {
		e.skip("tool result without content")
		return
	}
	before := e.said
	e.parts("tool", content, path+"content", nil)
	if e.said > before && e.Flag(block, "is_error", path) {
		last := e.records[len(e.records)-1]
		last.Text = "(error) " + last.Text
	}
}

// addDocument adds a document that is text; another one is only counted.
func addDocument(e *entry, block map[string]jsonpos.Value, path string) {
	source := e.Fields(block["source"], path+"source")
	if text := e.Optional(source, "data", path+"source."); e.Optional(source, "type", path+"source.") == "text" {
		e.say("user", by(e.Optional(block, "title", path), text))
		return
	}
	e.skip("content part document that is not text")
}
