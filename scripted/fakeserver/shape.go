package fakeserver

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"net/http"
)

// Reply is what the model says to one request. The zero value is empty content.
type Reply struct {
	Text      string
	Null      bool   // content is null, whatever Text is
	Reasoning string // apart from the text, under the shape's name for it; "": no such field
	Finish    string // "": "stop"
	ToolCall  string // a function's name to call; "": none
	Refusal   string
	Usage     UsageMode

	LogProbs string // the JSON of choices[0].logprobs; "": null
	RawUsage string // the JSON in place of usage, whatever Usage is; "": as Usage says

	// Tokens that usage reports; 0: a quarter of the bytes.
	PromptTokens, CompletionTokens int
}

// UsageMode is how a reply counts tokens.
type UsageMode int

// Servers report usage, leave it out, or write null.
const (
	UsageReported UsageMode = iota
	UsageAbsent
	UsageNull
)

// Shape is a server's dialect.
type Shape int

// The dialects: vLLM's since 0.10, that of older ones, which differs in errors and in the
// name of the reasoning, and llama.cpp's server's.
const (
	VLLM Shape = iota
	OldVLLM
	LlamaCpp
)

type object = map[string]any

// encode is json.Marshal of what cannot fail, with tags as they are.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // a test that replies what is no JSON
	}
	return b.Bytes()
}

// Error is an error body as the server writes it.
func (s Shape) Error(status int, message string) []byte {
	kind := http.StatusText(status)
	switch s {
	case OldVLLM:
		return encode(object{"object": "error", "message": message, "type": kind, "param": nil, "code": status})
	case LlamaCpp:
		return encode(object{"error": object{"code": status, "message": message, "type": kind}})
	default:
		return encode(object{"error": object{"message": message, "type": kind, "param": nil, "code": status}})
	}
}

func (s Shape) completion(r Request, reply Reply) []byte {
	o := object{
		"id": "chatcmpl-0", "object": "chat.completion", "created": 1700000000, "model": r.Model,
		"choices": []object{{
			"index": 0, "message": s.message(reply), "finish_reason": reply.finish(), "logprobs": reply.logProbs(),
		}},
	}
	switch {
	case reply.RawUsage != "":
		o["usage"] = json.RawMessage(reply.RawUsage)
	case reply.Usage == UsageReported:
		o["usage"] = reply.usage(r)
	case reply.Usage == UsageNull:
		o["usage"] = nil
	}
	if s == LlamaCpp {
		o["system_fingerprint"] = "b5000-fake"
		o["timings"] = object{"prompt_n": 1, "prompt_ms": 1.5, "predicted_n": 1, "predicted_ms": 2.5}
	} else {
		o["prompt_logprobs"], o["kv_transfer_params"] = nil, nil
	}
	return encode(o)
}

func (s Shape) message(reply Reply) object {
	m := object{"role": "assistant", "content": reply.Text}
	if reply.Null {
		m["content"] = nil
	}
	if reply.Reasoning != "" {
		m[s.reasoning()] = reply.Reasoning
	}
	if reply.Refusal != "" {
		m["refusal"] = reply.Refusal
	}
	if reply.ToolCall != "" {
		m["tool_calls"] = []object{{
			"id": "call_0", "type": "function", "function": object{"name": reply.ToolCall, "arguments": "{}"},
		}}
	}
	return m
}

func (s Shape) reasoning() string {
	if s == VLLM {
		return "reasoning"
	}
	return "reasoning_content"
}

func (r Reply) finish() string {
	if r.Finish == "" {
		return "stop"
	}
	return r.Finish
}

func (r Reply) usage(req Request) object {
	prompt, completion := r.PromptTokens, r.CompletionTokens
	if prompt == 0 {
		prompt = len(req.Text("system")+req.Text("user"))/4 + 1
	}
	if completion == 0 {
		completion = len(r.Reasoning+r.Text)/4 + 1
	}
	return object{"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
}

// digest is the same in every process, as a seeded hash is not.
func digest(r Request) uint64 {
	h := sha256.New()
	h.Write(r.Body)
	binary.Write(h, binary.BigEndian, int64(r.Again))
	return binary.BigEndian.Uint64(h.Sum(nil))
}

// logProbs are null unless the test says otherwise.
func (r Reply) logProbs() any {
	if r.LogProbs == "" {
		return nil
	}
	return json.RawMessage(r.LogProbs)
}
