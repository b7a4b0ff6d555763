package chatreply_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/poimen-memory/mem/loop/openai/chatreply"
)

// TestLogProbs: the tokens of a reply, in one piece and as a stream; bytes stand before a text
// that cannot hold them, and what is in another form is passed over.
func TestLogProbs(t *testing.T) {
	const one = `{"token":"a","logprob":-0.5,"top_logprobs":[{"token":"a","logprob":-0.5},{"token":"b","logprob":-Infinity}]}`
	for logprobs, want := range map[string]string{
		`{"content":[` + one + `]}`: "a -0.5 [a b]",
		`{"content":[` + one + `,{"token":"\\xff","bytes":[255],"logprob":-1}]}`: "a -0.5 [a b],\xff -1 []",
		`{"content":[{"token":"c","bytes":[999],"logprob":null}]}`:               "c none []",
		`null`: "", `[]`: "", `{"content":[]}`: "", `{"content":"x"}`: "", `{"content":[` + one + `,7]}`: "", `{"content":[{"logprob":1}]}`: "",
	} {
		whole := `{"choices":[{"message":{"content":"a"},"finish_reason":"stop","logprobs":` + logprobs + `}]}`
		streamed := `data: {"choices":[{"delta":{"content":"a"},"logprobs":` + logprobs + "}]}\n\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\",\"logprobs\":null}]}\n\ndata: [DONE]\n\n"
		for _, body := range []string{whole, streamed} {
			c, err := chatreply.Read("", []byte(body))
			if err != nil || string(c.Text) != "a" {
				t.Errorf("%s: %q, %v", body, c.Text, err)
			}
			if got := said(c); got != want {
				t.Errorf("%s: found %q, want %q", body, got, want)
			}
		}
	}
}

func said(c chatreply.Reply) string {
	var tokens []string
	for _, token := range c.LogProbs {
		p := "none"
		if token.LogProb != nil {
			p = fmt.Sprint(*token.LogProb)
		}
		var top []string
		for _, a := range token.Top {
			top = append(top, a.Text)
		}
		tokens = append(tokens, fmt.Sprintf("%s %s %v", token.Text, p, top))
	}
	return strings.Join(tokens, ",")
}
