// Package chatreply reads what a server answers to a request for a chat completion, in one
// piece or as a stream of events.
//
// It reads only what is used. Everything else in a reply may have any type: servers differ,
// and a reply that was paid for is not lost for a field that is not used.
package chatreply

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/poimen-memory/mem/loop/gateprob"
)

// Reply is what is used of a chat completion: its first choice, and its usage.
type Reply struct {
	Text, Reasoning, Refusal []byte // a stream appends to them
	Finish                   string

	HasContent bool // content is not null
	CallsTools bool
	LogProbs   []gateprob.Token // of the reply's tokens; none: absent, or in no form that is known
	Usage      json.RawMessage  // as the server wrote it; nil: null or absent

	chosen bool // there was a choice
}

// ServerError is the body of an error in a completion's place, or beside it.
type ServerError json.RawMessage

func (ServerError) Error() string { return "the server reports an error" }

// BrokenOff is what is wrong with a reply that may come whole when it is asked for again.
type BrokenOff string

func (b BrokenOff) Error() string { return string(b) }

// Read reads the body of a response. Its error is a ServerError, a BrokenOff, or says what is
// wrong with the body, of which it holds all.
func Read(contentType string, body []byte) (Reply, error) {
	if isStream(contentType, body) {
		return readStream(body)
	}
	return readWhole(body)
}

func readWhole(body []byte) (Reply, error) {
	var c Reply
	var reply map[string]json.RawMessage
	text := bytes.TrimPrefix(body, []byte("\uFEFF"))
	if err := json.Unmarshal(text, &reply); err != nil && json.Unmarshal(withoutNaN(text), &reply) != nil {
		return c, fmt.Errorf("is no chat completion: %v: %s", err, body)
	}
	if err := c.read(reply, body); err != nil {
		return c, err
	}
	return c, c.missing(body)
}

// noNumber is a string, or what Python's json writes for numbers that JSON does not have:
// log probabilities are -Infinity now and then.
var noNumber = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|-?\b(?:NaN|Infinity)\b`)

// withoutNaN has null in place of NaN and Infinity.
func withoutNaN(body []byte) []byte {
	return noNumber.ReplaceAllFunc(body, func(found []byte) []byte {
		if found[0] == '"' {
			return found
		}
		return []byte("null")
	})
}

// missing is what is wrong with a reply without a choice.
func (c *Reply) missing(body []byte) error {
	if !c.chosen {
		return fmt.Errorf("has no choices: %s", body)
	}
	return nil
}

// read adds a whole reply, or a part of a streamed one.
func (c *Reply) read(reply map[string]json.RawMessage, body []byte) error {
	var choices []json.RawMessage
	json.Unmarshal(reply["choices"], &choices)
	if present(reply["error"]) || len(choices) == 0 && (present(reply["detail"]) || stringOf(reply["object"]) == "error") {
		return ServerError(body)
	}
	if v := reply["usage"]; len(v) > 0 && string(v) != "null" {
		c.Usage = v
	}
	if len(choices) == 0 {
		return nil
	}
	return c.choose(choices[0])
}

// choose adds the first choice: its message, or the next part of it.
func (c *Reply) choose(v json.RawMessage) error {
	choice := fields(v)
	if choice == nil {
		return fmt.Errorf("has no message: choices[0] is %s, want an object", v)
	}
	if present(choice["error"]) {
		return BrokenOff(fmt.Sprintf("was given up by the server, finish_reason %s: %s", nameOf(choice["finish_reason"]), choice["error"]))
	}
	c.chosen = true
	c.LogProbs = append(c.LogProbs, logProbs(choice["logprobs"])...)
	c.Finish = cmp.Or(nameOf(choice["finish_reason"]), c.Finish)
	if present(choice["usage"]) { // Moonshot
		c.Usage = choice["usage"]
	}
	message := fields(choice["message"])
	if delta := fields(choice["delta"]); delta != nil {
		message = delta
	}
	return c.say(message)
}

// say adds a message, or the next part of one.
func (c *Reply) say(message map[string]json.RawMessage) error {
	if v := message["content"]; len(v) > 0 && string(v) != "null" {
		if !c.addContent(v) {
			return fmt.Errorf("cannot be read: message.content is %s, want a text or a list of text parts", v)
		}
		c.HasContent = true
	}
	c.Reasoning = append(c.Reasoning, cmp.Or(textOf(message["reasoning_content"]), textOf(message["reasoning"]))...)
	c.Refusal = append(c.Refusal, stringOf(message["refusal"])...)
	c.CallsTools = c.CallsTools || present(message["tool_calls"]) || present(message["function_call"])
	return nil
}

// addContent reads content: a text, a part, or a list of both; it is false for anything
// else. Parts of reasoning are not of the text, and parts without any, such as images, are
// passed over.
func (c *Reply) addContent(v json.RawMessage) bool {
	if isString(v) {
		c.Text = append(c.Text, stringOf(v)...)
		return true
	}
	var parts []json.RawMessage
	if json.Unmarshal(v, &parts) != nil {
		parts = []json.RawMessage{v}
		if fields(v)["text"] == nil {
			return false
		}
	}
	for _, part := range parts {
		if f := fields(part); present(f["thinking"]) || present(f["reasoning"]) { // Mistral, Anthropic
			c.Reasoning = append(c.Reasoning, textOf(f["thinking"])+textOf(f["reasoning"])...)
			continue
		}
		c.Text = append(c.Text, textOf(part)...)
	}
	return true
}

// textOf is the text of a string, a part or a list of them; empty for anything else, and
// where they are nested deeper than any server does.
func textOf(v json.RawMessage) string { return textWithin(v, 4) }

func textWithin(v json.RawMessage, depth int) string {
	if isString(v) || depth == 0 {
		return stringOf(v)
	}
	var list []json.RawMessage
	if json.Unmarshal(v, &list) == nil {
		var b strings.Builder
		for _, part := range list {
			b.WriteString(textWithin(part, depth-1))
		}
		return b.String()
	}
	object := fields(v)
	for _, name := range []string{"text", "content", "summary"} {
		if text := textWithin(object[name], depth-1); text != "" {
			return text
		}
	}
	return ""
}

// nameOf is a name that stands alone, or as an object's type.
func nameOf(v json.RawMessage) string {
	if f := fields(v); f != nil {
		v = f["type"]
	}
	return stringOf(v)
}

// fields are an object's; nil for anything else.
func fields(v json.RawMessage) (f map[string]json.RawMessage) {
	if json.Unmarshal(v, &f) != nil {
		return nil
	}
	return f
}

// present reports whether v says anything: null, false, 0, "", and lists and objects of
// nothing else do not.
func present(v json.RawMessage) bool {
	var value any
	return len(v) > 0 && (json.Unmarshal(v, &value) != nil || says(value))
}

func says(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case float64:
		return v != 0
	case string:
		return strings.TrimSpace(v) != ""
	case []any:
		return slices.ContainsFunc(v, says)
	case map[string]any:
		for _, field := range v {
			if says(field) {
				return true
			}
		}
		return false
	}
	return true
}

// stringOf is empty for a value of another type. It keeps bytes that are not UTF-8, for
// which json puts others: to the gate parser such a reply is one that it must not read.
func stringOf(v json.RawMessage) string {
	if !isString(v) {
		return ""
	}
	var b strings.Builder
	for v = v[1 : len(v)-1]; len(v) > 0; {
		n := validPrefix(v)
		b.WriteString(unescape(v[:n]))
		v = v[n:]
		if len(v) > 0 {
			b.WriteByte(v[0])
			v = v[1:]
		}
	}
	return b.String()
}

func isString(v json.RawMessage) bool { return len(v) > 1 && v[0] == '"' }

// validPrefix is how many bytes are UTF-8, from the first on.
func validPrefix(v []byte) (n int) {
	for n < len(v) {
		r, size := utf8.DecodeRune(v[n:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		n += size
	}
	return n
}

// unescape decodes the inside of a JSON string.
func unescape(v []byte) (s string) {
	json.Unmarshal(slices.Concat([]byte{'"'}, v, []byte{'"'}), &s)
	return s
}
