package journal

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// encodeLine is v as a line of a journal without its chain, its newline included.
func encodeLine(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return b.Bytes(), err
}

// endLine is an End as it is written.
type endLine struct {
	End End `json:"end"`
}

// wire is a Call as it is written. JSON cannot hold what is not UTF-8, and a reply's exact
// bytes decide whether it parses: such a text is written for reading, and its bytes beside it.
type wire struct {
	Call
	ReplyBytes     []byte `json:"reply_bytes,omitempty"`
	ReasoningBytes []byte `json:"reasoning_bytes,omitempty"`
}

func wired(c Call) wire {
	w := wire{Call: c}
	w.Reply, w.ReplyBytes = readable(c.Reply)
	w.Reasoning, w.ReasoningBytes = readable(c.Reasoning)
	return w
}

// readable is text as JSON can hold it, and its bytes where that is another one.
func readable(text string) (string, []byte) {
	if utf8.ValidString(text) {
		return text, nil
	}
	return strings.ToValidUTF8(text, "\uFFFD"), []byte(text)
}

// call is the Call that was written.
func (w wire) call() Call {
	c := w.Call
	if w.ReplyBytes != nil {
		c.Reply = string(w.ReplyBytes)
	}
	if w.ReasoningBytes != nil {
		c.Reasoning = string(w.ReasoningBytes)
	}
	return c
}

// same says whether two forms of one Call hold the same texts and bytes.
func (w wire) same(other wire) bool {
	return w.Reply == other.Reply && bytes.Equal(w.ReplyBytes, other.ReplyBytes) &&
		w.Reasoning == other.Reasoning && bytes.Equal(w.ReasoningBytes, other.ReasoningBytes)
}
