package loop

import (
	"context"

	"github.com/poimen-memory/mem/gate"
	"github.com/poimen-memory/mem/prompt"
)

// Answer is what a model answered from a memory: the paper's ψ(Q, M_t).
type Answer struct {
	Text     string // after its reasoning, trimmed; empty: no reply held one
	Attempts int
	Failures []gate.Kind // of the replies before Text, or of all
}

// AskAnswer asks for the answer that p asks for, of at most maxTokens. A reply that holds
// none is asked for again as a turn's is, Attempts times in all; an answer is never made
// up. The error is ctx's own or a *ModelError.
func AskAnswer(ctx context.Context, m Model, p prompt.Prompt, maxTokens int) (Answer, error) {
	text, attempts, failures, err := ask(ctx, m, Request{Turn: AnswerTurn, System: p.System, User: p.User, MaxTokens: maxTokens}, ParseAnswer)
	return Answer{text, attempts, failures}, err
}

// ParseAnswer reads the answer that a completion holds. The error is a *gate.SyntaxError.
func ParseAnswer(c Completion) (string, error) {
	reply, err := c.whole()
	if err != nil {
		return "", err
	}
	return gate.Answer(reply)
}
