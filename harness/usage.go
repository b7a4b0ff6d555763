package harness

import (
	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/prompt"
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

// usage adds up what servers counted, for each model that has a server or had one when it
// was recorded.
func (e *Experiment) usage(runs []*done) ([]Usage, []check.Drift) {
	var list []Usage
	var drift []check.Drift
	for i := range e.Spec.Models {
		m := &e.Spec.Models[i]
		if m.Live == nil && m.Replay == nil {
			continue
		}
		u := Usage{Model: m.ID.Value}
		var counts []check.Count
		for _, d := range runs {
			if d.Model != u.Model {
				continue
			}
			for _, own := range d.ownUsage(runs) {
				u.add(own)
				counts = append(counts, own.samples...)
			}
		}
		if u.Calls > 0 {
			u.price(m.Price)
			list = append(list, u)
			drift = append(drift, check.MeasureDrift(u.Model, e.Tokenizer(), counts))
		}
	}
	return list, drift
}

// ownUsage is the usage of a run that is counted with no other: a run that replays another
// one's turns asks for an answer of its own only if its memory is another.
func (d *done) ownUsage(runs []*done) []usage {
	if d.twin == "" {
		return []usage{d.usage, d.answering}
	}
	for _, twin := range runs {
		if twin.Name == d.twin && sameText(twin.memory, d.memory) {
			return nil
		}
	}
	return []usage{d.answering}
}

func sameText(a, b *prompt.Text) bool {
	return a == nil && b == nil || a != nil && b != nil && a.Raw == b.Raw
}

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
