package chatreply_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/poimen-memory/mem/loop/openai/chatreply"
)

func TestErrorsAreTold(t *testing.T) {
	for body, want := range map[string]error{
		`{"error":{"message":"x"}}`:                                   chatreply.ServerError(`{"error":{"message":"x"}}`),
		`{"choices":[{"message":{"content":"a"}}],"error":"x"}`:       chatreply.ServerError(`{"choices":[{"message":{"content":"a"}}],"error":"x"}`),
		`data: {"choices":[{"delta":{"content":"a"}}]}` + "\n\n":      chatreply.BrokenOff("breaks off: its event stream ends without finish_reason or [DONE]"),
		`{"choices":[{"finish_reason":"length","error":{"code":1}}]}`: chatreply.BrokenOff(`was given up by the server, finish_reason length: {"code":1}`),
	} {
		if _, err := chatreply.Read("", []byte(body)); !cmp.Equal(want, err) {
			t.Errorf("%s: %#v, want %#v", body, err, want)
		}
	}
}

// FuzzRead: a reply that can be read is read alike where it comes as the one event of a
// stream.
func FuzzRead(f *testing.F) {
	for _, body := range []string{
		`{"choices":[{"index":0,"message":{"content":"a","reasoning":"r"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7}}`,
		`{"choices":[{"message":{"content":[{"type":"thinking","thinking":[{"text":"r"}]},{"text":"\ud83d\ude00"}],"tool_calls":[1]}}]}`,
		`{"choices":[{"message":{"content":null,"refusal":"no"},"logprobs":[NaN]}],"error":{}}`,
		"{\"choices\":[{\"message\":{\"content\":\"\xff\\n\"}}]}",
		": c\r\ndata: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\r\rdata: [DONE]\r\n",
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		whole, err := chatreply.Read("application/json", body)
		var compact bytes.Buffer
		if err != nil || json.Compact(&compact, body) != nil || elsewhere(body) {
			return
		}
		streamed, err := chatreply.Read("text/event-stream", []byte("data: "+compact.String()+"\n\ndata: [DONE]\n\n"))
		same := cmp.Options{cmpopts.IgnoreUnexported(chatreply.Reply{}), cmpopts.IgnoreFields(chatreply.Reply{}, "Usage"), cmpopts.EquateEmpty()}
		if diff := cmp.Diff(whole, streamed, same); diff != "" || err != nil {
			t.Errorf("%q: %v (-whole +streamed):\n%s", body, err, diff)
		}
	})
}

// elsewhere reports whether a stream would take body's choice for another than the first.
func elsewhere(body []byte) bool {
	var reply struct{ Choices []struct{ Index any } }
	return json.Unmarshal(body, &reply) != nil || len(reply.Choices) == 0 || reply.Choices[0].Index != nil && reply.Choices[0].Index != 0.0
}
