package journal

import (
	"context"
	"fmt"

	"github.com/poimen-memory/mem/loop"
)

// Replay is a Model that answers from a journal. A request is answered by the recorded
// call of its turn and attempt, if that was the same request to the byte; calls that
// brought no reply are as if they were not there. Next, if there is one, is asked what
// the journal does not hold: a run that was interrupted goes on. Without Next, or where
// the recorded request was another one, the error is a *Miss: never a silent live call.
type Replay struct {
	header Header
	calls  map[[2]int]Call
	last   int  // turn
	broken bool // the answer was asked for, and no reply came
	Next   loop.Model
}

// NewReplay makes a Replay of a journal's header and calls.
func NewReplay(h Header, calls []Call) *Replay {
	p := &Replay{header: h, calls: map[[2]int]Call{}}
	for _, c := range calls {
		if c.Error == "" {
			p.calls[[2]int{c.Turn, c.Attempt}] = c
			p.last = max(p.last, c.Turn)
		}
		p.broken = p.broken || c.Error != "" && c.Turn == loop.AnswerTurn
	}
	return p
}

// Has reports whether the journal answers a request.
func (p *Replay) Has(r loop.Request) bool {
	call, ok := p.calls[[2]int{r.Turn, r.Attempt}]
	return ok && call.Digest == p.header.Digest(r)
}

// Complete answers from the journal, or asks Next.
func (p *Replay) Complete(ctx context.Context, r loop.Request) (loop.Completion, error) {
	if err := ctx.Err(); err != nil {
		return loop.Completion{}, err
	}
	call, ok := p.calls[[2]int{r.Turn, r.Attempt}]
	switch {
	case ok && call.Digest == p.header.Digest(r):
		return loop.Completion{Text: call.Reply, Reasoning: call.Reasoning, Finish: call.Finish, Usage: call.Usage, Confidence: call.Confidence}, nil
	case ok:
		return loop.Completion{}, &Miss{Request: r, Nearest: &call}
	case p.Next != nil:
		return p.Next.Complete(ctx, r)
	}
	return loop.Completion{}, p.miss(r)
}

// miss finds the recorded call that comes nearest to a request of which there is none.
func (p *Replay) miss(r loop.Request) *Miss {
	for attempt := r.Attempt - 1; attempt > 0; attempt-- {
		if call, ok := p.calls[[2]int{r.Turn, attempt}]; ok {
			return &Miss{Request: r, Nearest: &call, Ended: true}
		}
	}
	return &Miss{Request: r, Ended: r.Turn > p.last || r.Turn == loop.AnswerTurn && p.broken, Last: p.last}
}

// Miss is a request that a journal does not answer.
type Miss struct {
	Request loop.Request
	Nearest *Call // recorded, if any comes near
	Ended   bool  // the recording ends before this request: it was interrupted
	Last    int   // turn of the recording
}

func (m *Miss) Error() string {
	r := m.Request
	asked := fmt.Sprintf("turn %d", r.Turn)
	if r.Turn == loop.AnswerTurn {
		asked = "the answer"
	}
	switch {
	case m.Nearest == nil && r.Turn == loop.AnswerTurn && m.Ended:
		return "the recording ends before its answer came"
	case m.Nearest == nil && r.Turn == loop.AnswerTurn:
		return "the recording has no answer: it was made without answer in its spec"
	case m.Nearest == nil:
		return fmt.Sprintf("the recording has no turn %d: it ends after turn %d", r.Turn, m.Last)
	case m.Ended:
		return fmt.Sprintf("the recording of %s ends after attempt %d", asked, m.Nearest.Attempt)
	case m.Nearest.User == "" && m.Nearest.System == "":
		return fmt.Sprintf("the recorded request of %s, attempt %d was another one (digest %.12s…; its prompt is not in the recording)",
			asked, r.Attempt, m.Nearest.Digest)
	}
	return fmt.Sprintf("the recorded request of %s, attempt %d was another one: %s", asked, r.Attempt, m.difference())
}

func (m *Miss) difference() string {
	c, r := m.Nearest, m.Request
	switch {
	case c.System != r.System:
		return "system message " + parts(c.System, r.System)
	case c.User != r.User:
		return "prompt " + parts(c.User, r.User)
	case c.MaxTokens != r.MaxTokens:
		return fmt.Sprintf("max_tokens was %d, is %d", c.MaxTokens, r.MaxTokens)
	}
	return "its model or sampling parameters differ"
}

// Misconfigured reports whether the recording is of something else, and not just short: then
// it is a loop.Misconfigured.
func (m *Miss) Misconfigured() bool { return !m.Ended }

// parts says where two texts part.
func parts(recorded, now string) string {
	n := common(recorded, now)
	return fmt.Sprintf("differs at byte %d: recorded %s, now %s", n, excerpt(recorded, n), excerpt(now, n))
}

// common is how many bytes two texts begin with alike.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func excerpt(s string, at int) string {
	from := max(0, at-20)
	return fmt.Sprintf("%+q", s[from:min(len(s), at+40)])
}
