package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/poimen-memory/mem/loop"
)

// Params are the sampling parameters. What is nil or empty is not sent; all else is sent
// as it stands here, zeros included.
type Params struct {
	Temperature, TopP *float64
	Seed              *int64 // a call's attempt n sends Seed + n − 1
	Stop              []string
	MaxTokensField    string         // "max_tokens", which "" means, or "max_completion_tokens"
	LogProbs          bool           // ask for the log probabilities of the reply's tokens
	Extra             map[string]any // further fields of the body, such as top_k
}

// reserved are the fields that Extra may not hold: they have a place of their own, or ask
// for a reply that is not one message.
func reserved() []string {
	return []string{
		"max_completion_tokens", "max_tokens", "messages", "model", "n", "seed", "stop", "temperature", "top_p",
	}
}

// topLogProbs is how many tokens of each place are asked for: what servers allow. Two spellings
// of each word are among them.
const topLogProbs = 5

func (p Params) tokensField() (string, error) {
	switch p.MaxTokensField {
	case "", "max_tokens":
		return "max_tokens", nil
	case "max_completion_tokens":
		return p.MaxTokensField, nil
	}
	return "", fmt.Errorf("max_tokens_field: is %q; want max_tokens or max_completion_tokens", p.MaxTokensField)
}

// fields returns what is sent with every call. Extra values are frozen by encoding them.
func (p Params) fields() (map[string]any, error) {
	fields := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(p.Extra)) {
		if slices.Contains(reserved(), name) {
			return nil, fmt.Errorf("extra.%s: is not an extra field; want none of %v there", name, reserved())
		}
		value, err := encode(p.Extra[name])
		if err != nil {
			return nil, fmt.Errorf("extra.%s: %v", name, err)
		}
		fields[name] = json.RawMessage(value)
	}
	for name, value := range map[string]*float64{"temperature": p.Temperature, "top_p": p.TopP} {
		if value != nil {
			fields[name] = *value
		}
	}
	if p.LogProbs {
		fields["logprobs"] = true
		if fields["top_logprobs"] == nil {
			fields["top_logprobs"] = topLogProbs
		}
	}
	if p.Seed != nil {
		fields["seed"] = *p.Seed
	}
	if len(p.Stop) > 0 {
		fields["stop"] = slices.Clone(p.Stop)
	}
	_, err := encode(fields) // a NaN is found here
	return fields, err
}

// message is one of the conversation. Unlike go-openai's, an empty content is sent.
type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// messages leaves out an empty system message, and nothing else.
func messages(r loop.Request) ([]message, error) {
	all := []message{{"system", r.System}, {"user", r.User}}
	if r.System == "" {
		all = all[1:]
	}
	for _, m := range all {
		if !utf8.ValidString(m.Content) {
			return nil, fmt.Errorf("%s message: is not valid UTF-8; JSON would change its bytes", m.Role)
		}
	}
	return all, nil
}

// bodies makes the bodies of a model's requests.
type bodies struct {
	shared      map[string]any // fields of every body, the model included
	tokensField string
}

func newBodies(model string, p Params) (bodies, error) {
	shared, fieldsErr := p.fields()
	tokensField, tokensErr := p.tokensField()
	if err := errors.Join(fieldsErr, tokensErr); err != nil {
		return bodies{}, err
	}
	shared["model"] = model
	return bodies{shared, tokensField}, nil
}

// body returns the bytes of r's request, its seed moved by offset. Its keys are sorted.
func (b bodies) body(r loop.Request, offset int64) ([]byte, error) {
	said, err := messages(r)
	if err != nil {
		return nil, err
	}
	fields := maps.Clone(b.shared)
	fields["messages"] = said
	if _, asked := fields["stream"]; !asked {
		fields["stream"] = false // some servers stream unless they are told not to
	}
	if r.MaxTokens > 0 {
		fields[b.tokensField] = r.MaxTokens
	}
	if seed, ok := fields["seed"].(int64); ok {
		// At temperature 0 the same request would most likely fail the same way.
		fields["seed"] = seed + offset + int64(max(r.Attempt, 1)) - 1
	}
	return encode(fields)
}

// encode is json.Marshal without the escapes that HTML would need: prompts are full of tags.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
