package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/poimen-memory/mem/loop"
)

// maxTokens is more than one call can take. A greater count is a mistake of the server's.
const maxTokens = 100_000_000

// readUsage reads a server's count of a reply's tokens, or says why it cannot be right. It is
// nil without a reason where the server does not count. A count that cannot be right never
// enters a sum. quote makes the server's text fit for the reason.
func readUsage(v json.RawMessage, replied bool, quote func(string) string) (*loop.Usage, string) {
	if len(v) == 0 {
		return nil, ""
	}
	var counts map[string]json.RawMessage
	if json.Unmarshal(v, &counts) != nil {
		return nil, fmt.Sprintf("usage: found %s, want an object", quote(string(v)))
	}
	least := 0
	if replied {
		least = 1
	}
	prompt, why := tokenCount(counts, "prompt_tokens", 1, quote)
	if why != "" {
		return nil, why
	}
	completion, why := tokenCount(counts, "completion_tokens", least, quote)
	if why != "" {
		return nil, why
	}
	return &loop.Usage{PromptTokens: prompt, CompletionTokens: completion}, ""
}

func tokenCount(counts map[string]json.RawMessage, name string, least int, quote func(string) string) (int, string) {
	v := counts[name]
	n, err := strconv.ParseFloat(string(v), 64)
	if err != nil || n != math.Trunc(n) || n < float64(least) || n > maxTokens {
		if len(v) == 0 {
			v = json.RawMessage("nothing")
		}
		return 0, fmt.Sprintf("usage.%s: found %s, want a whole number from %d to %d", name, quote(string(v)), least, maxTokens)
	}
	return int(n), ""
}

// Cost is what a server may charge for one request, in tokens. A part of it that the server
// did not count, or counted far below what was sent, is as the Config counts.
type Cost struct {
	Sent               bool // the server may have taken the request; else the rest is zero
	Prompt, Completion int
}

// bytesPerToken is how many bytes of text a token stands for at most, but for odd texts. A
// server's count below that is compared with ours.
const bytesPerToken = 16

// cost is what an attempt may be charged for; count is the Config's.
func cost(count func(string) int, r loop.Request, a answer, err error) Cost {
	if err != nil && !charged(err) {
		return Cost{}
	}
	var server loop.Usage
	if a.Usage != nil {
		server = *a.Usage
	}
	prompt := server.PromptTokens
	if prompt == 0 || prompt < (len(r.System)+len(r.User))/bytesPerToken {
		prompt = max(prompt, count(r.System)+count(r.User))
	}
	return Cost{Sent: true, Prompt: prompt, Completion: max(server.CompletionTokens, replied(count, r, a, server))}
}

// replied is our count of a reply, where the server's is missing or far too low.
func replied(count func(string) int, r loop.Request, a answer, server loop.Usage) int {
	if unread := guess(a.unread); unread > 0 && server.CompletionTokens == 0 {
		if r.MaxTokens > 0 {
			return min(unread, r.MaxTokens)
		}
		return unread
	}
	if said := len(a.Text) + len(a.Reasoning); server.CompletionTokens == 0 || server.CompletionTokens < said/bytesPerToken {
		return count(a.Text) + count(a.Reasoning)
	}
	return 0
}

// charged reports whether a server may charge for a request that failed so. It may not have
// refused it, and the request must have reached it.
func charged(err error) bool {
	var reply *ReplyError
	var status *StatusError
	var transport *TransportError
	switch {
	case errors.As(err, &reply):
		return true
	case errors.As(err, &status):
		return status.Status < 300
	case errors.As(err, &transport):
		return transport.sent()
	}
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) // in flight when the caller left
}
