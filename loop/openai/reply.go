package openai

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	sdk "github.com/sashabaranov/go-openai"

	"github.com/poimen-memory/mem/loop"
)

// envelope is what go-openai's types drop: whether content is null, reasoning under
// either name, usage that is absent, and errors.
type envelope struct {
	Choices []struct {
		Message struct {
			Content          json.RawMessage `json:"content"`
			ReasoningContent json.RawMessage `json:"reasoning_content"`
			Reasoning        json.RawMessage `json:"reasoning"`
		} `json:"message"`
		Error json.RawMessage `json:"error"`
	} `json:"choices"`
	Usage  *loop.Usage     `json:"usage"`
	Error  json.RawMessage `json:"error"`
	Detail json.RawMessage `json:"detail"`
	Object string          `json:"object"`
}

func (e envelope) isError() bool {
	return present(e.Error) || present(e.Detail) || e.Object == "error"
}

func present(v json.RawMessage) bool { return len(v) > 0 && string(v) != "null" }

// usage is nil where the server does not count: some fill in zeros.
func (e envelope) usage() *loop.Usage {
	if e.Usage == nil || e.Usage.PromptTokens == 0 {
		return nil
	}
	return e.Usage
}

// answer is a completion and what kind of reply it was.
type answer struct {
	loop.Completion
	kind replyKind
}

type replyKind int

const (
	ordinary replyKind = iota
	cut
	filtered
	toolCalls
	refusal
	null
)

// answer reads the first choice. Its error is a failure.
func (x *exchange) answer(resp sdk.ChatCompletionResponse) (answer, error) {
	choice, extra := resp.Choices[0], x.reply.Choices[0]
	finish := string(choice.FinishReason)
	if finish == "error" || finish == "abort" || present(extra.Error) {
		return answer{}, x.replyError("was given up by the server, finish_reason " + finish + suffix(": ", string(extra.Error)))
	}
	if content := extra.Message.Content; !isString(content) && !utf8.Valid(content) {
		return answer{}, x.replyError("has parts that are not valid UTF-8")
	}
	hide := x.cfg.APIKey.hide
	a := answer{Completion: loop.Completion{
		Text: hide(cmp.Or(stringOf(extra.Message.Content), text(choice.Message))), Finish: hide(finishReason(finish)), Usage: x.reply.usage(),
		Reasoning: hide(cmp.Or(stringOf(extra.Message.ReasoningContent), stringOf(extra.Message.Reasoning))),
	}}
	a.kind = kindOf(choice, a.Finish, present(extra.Message.Content))
	if a.kind == toolCalls {
		a.Finish = string(sdk.FinishReasonToolCalls) // some servers say "stop"
	}
	return a, nil
}

// text is the content, in one piece or in parts, or else the refusal: a journal should show
// what was said.
func text(m sdk.ChatCompletionMessage) string {
	var b strings.Builder
	b.WriteString(m.Content)
	for _, part := range m.MultiContent {
		b.WriteString(part.Text)
	}
	return cmp.Or(b.String(), m.Refusal)
}

// stringOf is empty for a value of another type: reasoning is not worth losing a reply. It
// keeps bytes that are not UTF-8, for which json puts others: to the gate parser such a
// reply is one that it must not read.
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

// finishReason gives the token limit the name that the loop knows.
func finishReason(s string) string {
	switch strings.ToLower(s) {
	case "length", "max_tokens", "model_length":
		return loop.FinishLength
	}
	return s
}

func kindOf(c sdk.ChatCompletionChoice, finish string, content bool) replyKind {
	m := c.Message
	switch {
	case finish == loop.FinishLength:
		return cut
	case finish == string(sdk.FinishReasonContentFilter):
		return filtered
	case text(m) == "" && (len(m.ToolCalls) > 0 || m.FunctionCall != nil):
		return toolCalls
	case !content && m.Refusal != "":
		return refusal
	case !content:
		return null
	}
	return ordinary
}
