package loop

import (
	"context"
	"fmt"
)

// Model answers one prompt: the paper's φ. An error is a transport failure (no reply
// came); a reply that makes no sense is a Completion.
type Model interface {
	Complete(ctx context.Context, r Request) (Completion, error)
}

// Request is one model call. A retry of a turn differs in Attempt alone.
type Request struct {
	Turn, Attempt int // 1-based; Turn may be AnswerTurn
	System, User  string
	MaxTokens     int // of the reply
}

// AnswerTurn is the Turn of a request for the answer, which is none of the turns: it shows a
// memory and no chunk. It is the same whichever turn was the last, so that the same request
// about the same memory is the same request.
const AnswerTurn = 0

// Completion is a model's reply. Reasoning that a server returns apart from the text
// stands before it for the gate parser.
type Completion struct {
	Text, Reasoning string
	Finish          string // FinishLength when the token limit cut the reply
	Usage           *Usage // nil where the server does not report it
	// Confidence is nil where no probabilities were asked for.
	Confidence *Confidence
}

// Confidence is how sure a model was of its gates, by the log probabilities of the reply's
// tokens (package gateprob). Nothing is decided on it.
type Confidence struct {
	Yes     *float64 `json:"yes"` // P(yes) at the value of <check>; nil: not known
	End     *float64 `json:"end"` // P(end) at the value of <next>
	Missing string   `json:"missing,omitempty"`
}

// FinishLength is the finish reason of a reply cut by its token limit.
const FinishLength = "length"

// Usage is the server's own count of tokens.
type Usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
}

// ModelError is a call that brought no reply: the run is incomplete, and can be resumed.
type ModelError struct {
	Turn, Attempt int
	Err           error
}

func (e *ModelError) Error() string {
	if e.Turn == AnswerTurn {
		return fmt.Sprintf("answer, attempt %d: %v", e.Attempt, e.Err)
	}
	return fmt.Sprintf("turn %d, attempt %d: %v", e.Turn, e.Attempt, e.Err)
}

func (e *ModelError) Unwrap() error { return e.Err }
