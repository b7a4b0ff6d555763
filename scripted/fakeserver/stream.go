package fakeserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// Streamed is the answer as an event stream, whatever was asked for: a comment, deltas of a
// few bytes, a finish_reason, usage in a chunk without choices, and [DONE]. Lines end with
// eol, which "" makes "\n".
func Streamed(eol string) Fault {
	return Fault{"streamed", func(w http.ResponseWriter, _ *http.Request, answer []byte) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		w.Write([]byte(stream(answer, eol)))
	}}
}

func stream(answer []byte, eol string) string {
	var whole struct {
		Choices []struct {
			Message      map[string]any `json:"message"`
			FinishReason any            `json:"finish_reason"`
		} `json:"choices"`
		Usage any `json:"usage"`
	}
	if err := json.Unmarshal(answer, &whole); err != nil {
		panic(err) // it is ours
	}
	events := []string{": a comment"}
	chunk := func(choices []object, usage any) {
		data := encode(object{"object": "chat.completion.chunk", "choices": choices, "usage": usage})
		events = append(events, "data: "+strings.TrimSpace(string(data)))
	}
	delta := func(name string, v any) { chunk([]object{{"index": 0, "delta": object{name: v}}}, nil) }
	message := whole.Choices[0].Message
	for _, name := range []string{"role", "reasoning", "reasoning_content", "content", "refusal", "tool_calls"} {
		if text, ok := message[name].(string); ok && name != "role" {
			for _, piece := range pieces(text) {
				delta(name, piece)
			}
		} else if v, ok := message[name]; ok {
			delta(name, v)
		}
	}
	chunk([]object{{"index": 0, "delta": object{}, "finish_reason": whole.Choices[0].FinishReason}}, nil)
	chunk([]object{}, whole.Usage)
	if eol == "" {
		eol = "\n"
	}
	return fmt.Sprint(strings.Join(append(events, "data: [DONE]"), eol+eol), eol, eol)
}

// pieces are a text's, of a few characters each; an empty text is one piece.
func pieces(text string) (list []string) {
	const size = 3
	runes := []rune(text)
	for len(runes) > size {
		list, runes = append(list, string(runes[:size])), runes[size:]
	}
	return append(list, string(runes))
}
