package openai_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/openai"
	"github.com/poimen-memory/mem/scripted/fakeserver"
)

// values are of every type that JSON has.
var values = []string{
	`NaN`, `[-Infinity, "NaN"]`, `{"top": Infinity}`, `null`, `true`, `false`, `0`, `-1`, `1.5e9`, `1e400`, `""`, `"x"`, `[]`, `[null]`, `[1,"a"]`, `{}`, `{"a":{"b":[]}}`, `18446744073709551616`,
}

// TestFieldsThatAreNotUsedMayHaveAnyType: no reply is lost for one.
func TestFieldsThatAreNotUsedMayHaveAnyType(t *testing.T) {
	if testing.Short() {
		t.Skip("many replies, one at a time")
	}
	want := loop.Completion{Text: "a", Reasoning: "r", Finish: "stop", Usage: &loop.Usage{PromptTokens: 7, CompletionTokens: 2}}
	for _, v := range values {
		for _, in := range []string{
			`"id":V`, `"object":V`, `"created":V`, `"model":V`, `"system_fingerprint":V`, `"service_tier":V`, `"prompt_filter_results":V`,
			`"provider":V`, `"detail":V`, `"timings":V`, `"prompt_logprobs":V`,
		} {
			reply(t, strings.ReplaceAll(in, "V", v)+`,"choices":[{"message":{"content":"a","reasoning":"r"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":2}`, want)
		}
		for _, in := range []string{`"index":V`, `"logprobs":V`, `"content_filter_results":V`, `"stop_reason":V`, `"token_ids":V`} {
			reply(t, `"choices":[{`+strings.ReplaceAll(in, "V", v)+`,"message":{"content":"a","reasoning":"r"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":2}`, want)
		}
		for _, in := range []string{`"role":V`, `"tool_calls":V`, `"function_call":V`, `"audio":V`, `"annotations":V`, `"name":V`, `"reasoning_details":V`} {
			reply(t, `"choices":[{"message":{`+strings.ReplaceAll(in, "V", v)+`,"content":"a","reasoning":"r"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":2}`, want)
		}
		for _, in := range []string{`"total_tokens":V`, `"prompt_tokens_details":V`, `"completion_tokens_details":V`, `"cost":V`} {
			reply(t, `"choices":[{"message":{"content":"a","reasoning":"r"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":2,`+strings.ReplaceAll(in, "V", v)+`}`, want)
		}
	}
	for _, v := range []string{`null`, `false`, `0`, `""`, `[]`, `{}`, `{"message":"","code":null}`} {
		reply(t, `"error":`+v+`,"choices":[{"error":`+v+`,"message":{"content":"a","refusal":false,"reasoning":"r"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":2}`, want)
	}
}

// reply wants the completion of a body of these fields, under any status of success.
func reply(t *testing.T, fields string, want loop.Completion) {
	t.Helper()
	for _, status := range []int{200, 201, 203} {
		c := offline(t, openai.Config{}, func(*http.Request) *http.Response { return respond(status, "{"+fields+"}") })
		if diff := cmp.Diff(want, complete(t, c)); diff != "" {
			t.Errorf("status %d, {%s} (-want +got):\n%s", status, fields, diff)
		}
	}
}

// TestFieldsThatAreUsed in their several forms.
func TestFieldsThatAreUsed(t *testing.T) {
	for body, want := range map[string]loop.Completion{
		`{"message":{"content":"a","reasoning":{"content":"r"}}}`:                                                          {Text: "a", Reasoning: "r"},
		`{"message":{"content":"a","reasoning_content":{"text":"r"}}}`:                                                     {Text: "a", Reasoning: "r"},
		`{"message":{"content":"a","reasoning":[{"type":"summary_text","text":"r"},{"text":"s"}]}}`:                        {Text: "a", Reasoning: "rs"},
		`{"message":{"content":"a","reasoning":7}}`:                                                                        {Text: "a"},
		`{"message":{"content":[null,"a",{"type":"text","text":"b"},{"type":"image_url","image_url":{}}]}}`:                {Text: "ab"},
		`{"message":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"r"}]},{"type":"text","text":"a"}]}}`: {Text: "a", Reasoning: "r"},
		`{"message":{"content":{"type":"text","text":"a"}}}`:                                                               {Text: "a"},
		`{"message":{"content":[]}}`:                                                                                       {},
		`{"message":{"content":"a"},"finish_reason":{"type":"stop"}}`:                                                      {Text: "a", Finish: "stop"},
		`{"message":{"content":"a"},"finish_reason":7}`:                                                                    {Text: "a"},
		`{"message":{"content":null,"function_call":"","tool_calls":{},"refusal":false}}`:                                  {},
		`{"message":{"content":null,"refusal":"no"}}`:                                                                      {Text: "no"},
		`{"message":null}`: {},
		`{"delta":{"content":"a"},"finish_reason":"stop"}`: {Text: "a", Finish: "stop"},
	} {
		reply(t, `"choices":[`+body+`]`, want)
	}
	reply(t, `"choices":[{"message":{"content":"a"},"usage":{"prompt_tokens":7,"completion_tokens":2}}]`,
		loop.Completion{Text: "a", Usage: &loop.Usage{PromptTokens: 7, CompletionTokens: 2}})
}

// TestStreamsArePutTogether in every shape, with either end of lines.
func TestStreamsArePutTogether(t *testing.T) {
	said := fakeserver.Reply{Text: "a <check>yes</check> é", Reasoning: "why not", PromptTokens: 7, CompletionTokens: 2}
	want := loop.Completion{Text: said.Text, Reasoning: said.Reasoning, Finish: "stop", Usage: &loop.Usage{PromptTokens: 7, CompletionTokens: 2}}
	for _, shape := range []fakeserver.Shape{fakeserver.VLLM, fakeserver.OldVLLM, fakeserver.LlamaCpp} {
		for _, eol := range []string{"\n", "\r\n", "\r"} {
			s := serve(t, fakeserver.Config{
				Shape: shape, Reply: func(fakeserver.Request) fakeserver.Reply { return said }, Plan: fakeserver.Script(fakeserver.Streamed(eol)),
			})
			if diff := cmp.Diff(want, complete(t, client(t, s.BaseURL(), openai.Config{}))); diff != "" {
				t.Errorf("shape %d, %q (-want +got):\n%s", shape, eol, diff)
			}
		}
	}
}

func TestUnusualStreams(t *testing.T) {
	const a, b = `{"choices":[{"delta":{"content":"a"}}]}`, `{"choices":[{"delta":{"content":"b"},"finish_reason":"stop"}]}`
	want := loop.Completion{Text: "ab", Finish: "stop"}
	for name, test := range map[string]struct{ kind, body string }{
		"another type":       {"application/json", "data: " + a + "\n\ndata: " + b + "\n\ndata: [DONE]\n\n"},
		"comments first":     {"text/plain", ": OPENROUTER PROCESSING\n\n: again\n\ndata: " + a + "\n\ndata: " + b + "\n\n"},
		"no blank lines":     {"text/event-stream", "data: " + a + "\ndata: " + b + "\ndata: [DONE]\n"},
		"no space":           {"text/event-stream", "data:" + a + "\n\ndata:" + b + "\n\ndata:[DONE]"},
		"names and ids":      {"text/event-stream", "event: message\nid: 1\nretry: 10\ndata: " + a + "\n\nid: 2\ndata: " + b + "\n\n"},
		"data in two lines":  {"text/event-stream", "data: {\"choices\":[{\"delta\":\ndata: {\"content\":\"a\"}}]}\n\ndata: " + b + "\n\n"},
		"byte order mark":    {"text/event-stream", "\uFEFFdata: " + a + "\n\ndata: " + b + "\n\n"},
		"empty lines, space": {"", "\n\n data: x"[:2] + "data: " + a + "\n\n\n\ndata: " + b + "\n\n"},
		"nothing at its end": {"text/event-stream", "data: " + a + "\n\ndata: " + b},
		"another choice":     {"text/event-stream", "data: " + a + "\n\ndata: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"x\"}}]}\n\ndata: " + b + "\n\n"},
		"after its end":      {"text/event-stream", "data: " + a + "\n\ndata: " + b + "\n\ndata: [DONE]\n\ndata: what\n\n"},
		"one JSON":           {"text/event-stream", `{"choices":[{"message":{"content":"ab"},"finish_reason":"stop"}]}`},
		"no numbers":         {"text/event-stream", "data: {\"logprobs\":[-Infinity,\"NaN\"]," + a[1:] + "\n\ndata: " + b + "\n\n"},
		"empty event":        {"text/event-stream", "data:\n\ndata: " + a + "\n\nevent: ping\n\ndata: " + b + "\n\n"},
	} {
		c := offline(t, openai.Config{}, func(*http.Request) *http.Response { return respond(200, test.body, "Content-Type", test.kind) })
		if diff := cmp.Diff(want, complete(t, c)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestBrokenStreams(t *testing.T) {
	for body, test := range map[string]struct {
		attempts int
		says     string
	}{
		"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n":                                                          {3, "breaks off: its event stream ends without finish_reason or [DONE]"},
		"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: {\"error\":{\"message\":\"died\",\"code\":500}}\n\n": {3, "status 200 (500): died"},
		"event: error\ndata: {\"message\":\"too long\",\"code\":\"400\"}\n\n":                                                {1, "status 200 (400): too long"},
		"event: error\ndata: gone\n\n":   {3, "status 200: gone"},
		"data: {\"choices\":[\n\n":       {1, "is no chat completion: an event of its stream: unexpected EOF"},
		"data: 7\n\n":                    {1, "an event of its stream is 7, want an object"},
		": nothing\n\ndata: [DONE]\n\n":  {1, "has no choices"},
		"data: {\"choices\":[null]}\n\n": {1, "choices[0] is null"},
	} {
		n := 0
		c := offline(t, openai.Config{Retry: impatient(3)}, func(*http.Request) *http.Response {
			n++
			return respond(200, body, "Content-Type", "text/event-stream")
		})
		if _, err := c.Complete(t.Context(), ask); err == nil || !strings.Contains(err.Error(), test.says) || n != test.attempts {
			t.Errorf("%q: %v after %d attempts, want %s after %d", body, err, n, test.says, test.attempts)
		}
	}
}

// TestLargeRepliesTakeLittleTime, in however many pieces they come.
func TestLargeRepliesTakeLittleTime(t *testing.T) {
	if testing.Short() {
		t.Skip("large replies, one at a time")
	}
	delta := `data: {"choices":[{"delta":{"content":"ab","reasoning":"cd"}}]}` + "\n"
	for name, body := range map[string]string{
		"events":         strings.Repeat(delta+"\n", 30_000) + "data: [DONE]\n\n",
		"no blank lines": strings.Repeat(delta, 30_000) + "data: [DONE]\n\n",
		"parts":          `{"choices":[{"message":{"content":[` + strings.Repeat(`{"type":"text","text":"ab"},{"type":"thinking","thinking":"cd"},`, 30_000) + `null]}}]}`,
	} {
		c := offline(t, openai.Config{}, func(*http.Request) *http.Response { return respond(200, body) })
		start := time.Now()
		if got := complete(t, c); len(got.Text) != 60_000 || len(got.Reasoning) != 60_000 {
			t.Errorf("%s: %d and %d bytes", name, len(got.Text), len(got.Reasoning))
		}
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%s: took %v", name, took)
		}
	}
}

// FuzzReply: whatever a server sends, in one piece or streamed, there is a completion or an
// error of a known kind, no count of tokens outside its bounds, and never the key.
func FuzzReply(f *testing.F) {
	f.Add("application/json", `{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":2}}`)
	f.Add("application/json", `{"choices":[null],"error":{"message":"x"}}`)
	f.Add("text/event-stream", ": c\r\n\r\ndata: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\r\n\r\ndata: [DONE]\r\n\r\n")
	f.Add("", `{"choices":[{"message":{"content":[{"text":"\ud83d\ude00"}],"reasoning":{"text":"\xff"}}}],"usage":{"prompt_tokens":1e308}}`)
	f.Add("text/html", key)
	f.Fuzz(func(t *testing.T, kind, body string) {
		c := offline(t, openai.Config{Retry: openai.Retry{MaxTries: 1}}, func(*http.Request) *http.Response {
			return respond(200, body, "Content-Type", kind)
		})
		got, err := c.Complete(t.Context(), ask)
		if err == nil && got.Usage != nil && (got.Usage.PromptTokens < 1 || got.Usage.CompletionTokens < 0 || got.Usage.PromptTokens > 1e8 || got.Usage.CompletionTokens > 1e8) {
			t.Errorf("usage is %+v", got.Usage)
		}
		if err != nil {
			if got != (loop.Completion{}) && got.Text+got.Reasoning+got.Finish != "" {
				t.Errorf("an error with a reply: %+v, %v", got, err)
			}
			if strings.Contains(err.Error(), key) {
				t.Errorf("the error shows the key: %v", err)
			}
		}
		if strings.Contains(got.Text+got.Reasoning+got.Finish, key) {
			t.Errorf("the reply holds the key: %+v", got)
		}
		if s := c.Stats(); s.Calls != 1 || s.PromptTokens < 0 || s.CompletionTokens < 0 {
			t.Errorf("%+v", s)
		}
	})
}
