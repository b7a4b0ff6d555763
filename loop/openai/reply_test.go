package openai_test

import (
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/openai"
	"github.com/poimen-memory/mem/scripted/fakeserver"
)

func TestRepliesAreToldApart(t *testing.T) {
	usage := &loop.Usage{PromptTokens: 11, CompletionTokens: 3}
	for name, test := range map[string]struct {
		reply   fakeserver.Reply
		want    loop.Completion
		replies openai.Replies
	}{
		"text":           {fakeserver.Reply{Text: " a\n"}, loop.Completion{Text: " a\n", Finish: "stop"}, openai.Replies{}},
		"empty":          {fakeserver.Reply{}, loop.Completion{Finish: "stop"}, openai.Replies{}},
		"reasoning":      {fakeserver.Reply{Text: "a", Reasoning: "why"}, loop.Completion{Text: "a", Reasoning: "why", Finish: "stop"}, openai.Replies{}},
		"length":         {fakeserver.Reply{Text: "a", Finish: "length"}, loop.Completion{Text: "a", Finish: "length"}, openai.Replies{Cut: 1}},
		"max_tokens":     {fakeserver.Reply{Text: "a", Finish: "MAX_TOKENS"}, loop.Completion{Text: "a", Finish: "length"}, openai.Replies{Cut: 1}},
		"cut reasoning":  {fakeserver.Reply{Null: true, Reasoning: "wh", Finish: "length"}, loop.Completion{Reasoning: "wh", Finish: "length"}, openai.Replies{Cut: 1}},
		"content filter": {fakeserver.Reply{Text: "a", Finish: "content_filter"}, loop.Completion{Text: "a", Finish: "content_filter"}, openai.Replies{Filtered: 1}},
		"null":           {fakeserver.Reply{Null: true}, loop.Completion{Finish: "stop"}, openai.Replies{Null: 1}},
		"tools":          {fakeserver.Reply{Null: true, ToolCall: "f", Finish: "tool_calls"}, loop.Completion{Finish: "tool_calls"}, openai.Replies{ToolCalls: 1}},
		"tools, stop":    {fakeserver.Reply{ToolCall: "f"}, loop.Completion{Finish: "tool_calls"}, openai.Replies{ToolCalls: 1}},
		"tools and text": {fakeserver.Reply{Text: "a", ToolCall: "f"}, loop.Completion{Text: "a", Finish: "stop"}, openai.Replies{}},
		"refusal":        {fakeserver.Reply{Null: true, Refusal: "I can't"}, loop.Completion{Text: "I can't", Finish: "stop"}, openai.Replies{Refused: 1}},
	} {
		for _, shape := range []fakeserver.Shape{fakeserver.VLLM, fakeserver.OldVLLM, fakeserver.LlamaCpp} {
			for mode, want := range map[fakeserver.UsageMode]*loop.Usage{
				fakeserver.UsageReported: usage, fakeserver.UsageAbsent: nil, fakeserver.UsageNull: nil,
			} {
				test.reply.Usage, test.reply.PromptTokens, test.reply.CompletionTokens = mode, 11, 3
				test.want.Usage = want
				s := serve(t, fakeserver.Config{Shape: shape, Reply: func(fakeserver.Request) fakeserver.Reply { return test.reply }})
				c := client(t, s.BaseURL(), openai.Config{})
				if diff := cmp.Diff(test.want, complete(t, c)); diff != "" {
					t.Errorf("%s, shape %d, usage %d (-want +got):\n%s", name, shape, mode, diff)
				}
				if diff := cmp.Diff(test.replies, c.Stats().Replies); diff != "" {
					t.Errorf("%s, shape %d: counted (-want +got):\n%s", name, shape, diff)
				}
			}
		}
	}
}

func TestUnusualReplies(t *testing.T) {
	for name, test := range map[string]struct {
		body string
		want loop.Completion
	}{
		"parts":            {`{"choices":[{"message":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}}]}`, loop.Completion{Text: "ab"}},
		"reasoning object": {`{"choices":[{"message":{"content":"a","reasoning":{"x":1}}}]}`, loop.Completion{Text: "a"}},
		"both reasonings":  {`{"choices":[{"message":{"content":"a","reasoning":null,"reasoning_content":"r"}}]}`, loop.Completion{Text: "a", Reasoning: "r"}},
		"zero usage":       {`{"choices":[{"message":{"content":"a"}}],"usage":{"prompt_tokens":0,"completion_tokens":0}}`, loop.Completion{Text: "a"}},
		"null error":       {`{"error":null,"choices":[{"message":{"content":"a"},"finish_reason":null}]}`, loop.Completion{Text: "a"}},
		"not UTF-8":        {"{\"choices\":[{\"message\":{\"content\":\"\\u00e9\xff\\ud83d\\ude00\xf0\x9f\",\"reasoning\":\"\xc3\\n\"}}],\"id\":\"\xff\"}", loop.Completion{Text: "é\xff😀\xf0\x9f", Reasoning: "\xc3\n"}},
		"function call":    {`{"choices":[{"message":{"content":null,"function_call":{"name":"f","arguments":""}},"finish_reason":"stop"}]}`, loop.Completion{Finish: "tool_calls"}},
	} {
		s := serve(t, fakeserver.Config{Plan: fakeserver.Script(fakeserver.Raw(200, "application/json", test.body))})
		if diff := cmp.Diff(test.want, complete(t, client(t, s.BaseURL(), openai.Config{}))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestReplyWithTheKeyIsNone: a reply is recorded, and records are never rewritten. A word that
// stands for a key is one that a model may say.
func TestReplyWithTheKeyIsNone(t *testing.T) {
	for name, say := range map[string]func(key string) fakeserver.Reply{
		"text":      func(key string) fakeserver.Reply { return fakeserver.Reply{Text: "a " + key} },
		"reasoning": func(key string) fakeserver.Reply { return fakeserver.Reply{Text: "a", Reasoning: key + " b"} },
		"finish":    func(key string) fakeserver.Reply { return fakeserver.Reply{Text: "a", Finish: key} },
		"refusal":   func(key string) fakeserver.Reply { return fakeserver.Reply{Null: true, Refusal: key} },
		"base64": func(key string) fakeserver.Reply {
			return fakeserver.Reply{Text: base64.StdEncoding.EncodeToString([]byte("Bearer " + key))}
		},
	} {
		for secret, records := range map[string]bool{key: false, "EMPTY": true} {
			s := serve(t, fakeserver.Config{Reply: func(r fakeserver.Request) fakeserver.Reply {
				return say(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
			}})
			c, err := openai.New(openai.Config{BaseURL: s.BaseURL(), Model: "m", APIKey: openai.NewKey(secret)})
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.Complete(t.Context(), ask)
			switch {
			case records && (err != nil || got == loop.Completion{}):
				t.Errorf("%s, key %s: %v", name, secret, err)
			case !records && (err == nil || !strings.Contains(err.Error(), "holds the API key") || got.Text+got.Reasoning+got.Finish != "" || s.Requests() != 1):
				t.Errorf("%s: %+v, %v after %d requests", name, got, err, s.Requests())
			}
		}
	}
}

// TestKeyInUsageIsHidden: what is wrong with a server's usage is shown, also where the line is
// cut within the key.
func TestKeyInUsageIsHidden(t *testing.T) {
	for name, usage := range map[string]func(key string) string{
		"usage": func(key string) string { return strconv.Quote(key) },
		"count": func(key string) string { return `{"prompt_tokens": "` + hex.EncodeToString([]byte(key)) + `"}` },
		"cut":   func(key string) string { return strconv.Quote(strings.Repeat("x", 490) + key) },
	} {
		s := serve(t, fakeserver.Config{Reply: func(r fakeserver.Request) fakeserver.Reply {
			return fakeserver.Reply{Text: "a", RawUsage: usage(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))}
		}})
		c := client(t, s.BaseURL(), openai.Config{APIKey: openai.NewKey(key)})
		complete(t, c)
		why := c.Stats().BadUsageWhy
		if !strings.Contains(why, "[hidden") || strings.Contains(why, key[:5]) || strings.Contains(why, hex.EncodeToString([]byte(key))) {
			t.Errorf("%s: %s", name, why)
		}
	}
}
