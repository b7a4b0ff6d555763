package openai

import (
	"cmp"
	"strings"

	sdk "github.com/sashabaranov/go-openai"

	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/gateprob"
	"github.com/poimen-memory/mem/loop/openai/chatreply"
)

// answer is a completion and what kind of reply it was.
type answer struct {
	loop.Completion
	kind     replyKind
	badUsage string // why Usage is nil though the server reports one
	unread   int    // bytes of a reply that is no completion
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

// answer makes a completion of what was read. Its error is a failure.
func (x *exchange) answer(c chatreply.Reply) (answer, error) {
	var a answer
	a.Usage, a.badUsage = readUsage(c.Usage, len(c.Text)+len(c.Reasoning) > 0, x.quote)
	if c.Finish == "error" || c.Finish == "abort" {
		return a, x.passingError("was given up by the server, finish_reason " + c.Finish)
	}
	a.Text, a.Reasoning, a.Finish = cmp.Or(string(c.Text), string(c.Refusal)), string(c.Reasoning), finishReason(c.Finish)
	if x.cfg.Params.LogProbs {
		sure := gateprob.Of(c.LogProbs)
		a.Confidence = &sure
	}
	a.kind = kindOf(c, a.Finish)
	if a.kind == toolCalls {
		a.Finish = string(sdk.FinishReasonToolCalls) // some servers say "stop"
	}
	for _, said := range []string{a.Text, a.Reasoning, a.Finish} {
		if x.filter.Holds(said) {
			// Records are never rewritten, so this reply cannot be one.
			return answer{Completion: loop.Completion{Usage: a.Usage}, unread: len(a.Text + a.Reasoning)},
				x.replyError("holds the API key, so it is not recorded: want no key in what the model is sent, or another key")
		}
	}
	return a, nil
}

// finishReason gives the token limit the name that the loop knows.
func finishReason(s string) string {
	switch strings.ToLower(s) {
	case "length", "max_tokens", "model_length":
		return loop.FinishLength
	}
	return s
}

func kindOf(c chatreply.Reply, finish string) replyKind {
	switch {
	case finish == loop.FinishLength:
		return cut
	case finish == string(sdk.FinishReasonContentFilter):
		return filtered
	case len(c.Text)+len(c.Refusal) == 0 && c.CallsTools:
		return toolCalls
	case !c.HasContent && len(c.Refusal) > 0:
		return refusal
	case !c.HasContent:
		return null
	}
	return ordinary
}
