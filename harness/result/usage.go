package result

import (
	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/journal"
)

// Usage is what a model's replies took, as its server counts, over the runs that asked it
// or whose recording answers: a run that replays another is not counted again.
type Usage struct {
	Model            string   `json:"model"`
	Calls            int      `json:"calls"`     // that brought a reply
	Unmetered        int      `json:"unmetered"` // calls whose reply came without a count
	PromptTokens     int      `json:"prompt_tokens"`
	CompletionTokens int      `json:"completion_tokens"`
	ParseRetries     int      `json:"parse_retries"`  // calls that asked a turn again
	RetriesHelped    int      `json:"retries_helped"` // turns that parsed only at a retry
	USD              *float64 `json:"usd,omitempty"`  // of the tokens, by the spec's prices; nil: it has none
}

// usageRows is what a run's replies cost, as its server counts.
type usage struct {
	replies, metered   int // metered: with a count
	prompt, completion int
	retries, helped    int    // calls that asked again, and turns or answers that parsed only then
	texts              int    // replies with text
	textless           string // why the first of the others has none
	samples            []check.Count
}

// add folds a call whose prompt has so many tokens by our count.
func (u *usage) add(c journal.Call, tokens int) {
	if c.Error != "" {
		return
	}
	u.replies++
	u.retries += count(c.Attempt > 1)
	u.read(loop.Completion{Text: c.Reply, Reasoning: c.Reasoning, Finish: c.Finish})
	if c.Usage == nil {
		return
	}
	u.metered++
	u.prompt += c.Usage.PromptTokens
	u.completion += c.Usage.CompletionTokens
	u.samples = append(u.samples, check.Count{Ours: tokens, Server: c.Usage.PromptTokens})
}

// usageRows adds up what servers counted, for each model that has a server or had one when it
// was recorded.
func usageRows(s *summary) (list []Usage, drift []check.Drift) {
	for i := range s.plan.Spec.Models {
		m := &s.plan.Spec.Models[i]
		if m.Live == nil && m.Replay == nil {
			continue
		}
		u := Usage{Model: m.ID.Value}
		var counts []check.Count
		for _, d := range s.runs {
			if d.Model != u.Model {
				continue
			}
			for _, own := range ownUsage(s, d) {
				u.add(own)
				counts = append(counts, own.samples...)
			}
		}
		if u.Calls > 0 {
			u.price(m.Price)
			list = append(list, u)
			drift = append(drift, check.MeasureDrift(u.Model, s.plan.Tokenizer(), counts))
		}
	}
	return list, drift
}

// ownUsage is the usage of a run that is counted with no other: a run that replays another
// one's turns asks for an answer of its own only if its memory is another.
func ownUsage(s *summary, d *runData) []usage {
	if d.planned.ReplayOf == "" {
		return []usage{d.usage, d.answered}
	}
	if source, ok := s.byName[d.planned.ReplayOf]; ok && sameText(source.FinalMemory, d.FinalMemory) {
		return nil
	}
	return []usage{d.answered}
}

func sameText(a, b *string) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }

func (u *Usage) add(of usage) {
	u.Calls += of.replies
	u.Unmetered += of.replies - of.metered
	u.PromptTokens += of.prompt
	u.CompletionTokens += of.completion
	u.ParseRetries += of.retries
	u.RetriesHelped += of.helped
}

func (u *Usage) price(p *spec.Price) {
	if p != nil {
		usd := p.Of(u.PromptTokens, u.CompletionTokens)
		u.USD = &usd
	}
}
