package chatreply

import (
	"encoding/json"

	"github.com/poimen-memory/mem/loop/gateprob"
)

// place is a token of a reply as the API writes it. Bytes are those of a token that is no text.
type place struct {
	Token   *string  `json:"token"`
	Bytes   []int    `json:"bytes"`
	LogProb *float64 `json:"logprob"`
	Top     []place  `json:"top_logprobs"`
}

// logProbs reads choices[0].logprobs, or the part of it in an event. What is in another form is
// passed over: a reply is not lost for it.
func logProbs(v json.RawMessage) (tokens []gateprob.Token) {
	var content []json.RawMessage
	if json.Unmarshal(fields(v)["content"], &content) != nil {
		return nil
	}
	for _, raw := range content {
		var p place
		if json.Unmarshal(raw, &p) != nil || p.Token == nil {
			return nil // a gap would move what follows
		}
		t := gateprob.Token{Text: p.text(), LogProb: p.LogProb}
		for _, a := range p.Top {
			if a.Token != nil {
				t.Top = append(t.Top, gateprob.Alternative{Text: a.text(), LogProb: a.LogProb})
			}
		}
		tokens = append(tokens, t)
	}
	return tokens
}

func (p place) text() string {
	if len(p.Bytes) == 0 {
		return *p.Token
	}
	text := make([]byte, len(p.Bytes))
	for i, b := range p.Bytes {
		if b < 0 || b > 255 {
			return *p.Token
		}
		text[i] = byte(b)
	}
	return string(text)
}
