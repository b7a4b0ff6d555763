package harness

import (
	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/spec"
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
			if d.Model == u.Model && !d.replayed {
				u.add(d)
				counts = append(counts, d.usage.samples...)
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

func (u *Usage) add(d *done) {
	u.Calls += d.usage.replies
	u.Unmetered += d.usage.replies - d.usage.metered
	u.PromptTokens += d.usage.prompt
	u.CompletionTokens += d.usage.completion
	u.ParseRetries += d.usage.retries
	u.RetriesHelped += d.usage.helped
}

func (u *Usage) price(p *spec.Price) {
	if p != nil {
		usd := p.Of(u.PromptTokens, u.CompletionTokens)
		u.USD = &usd
	}
}
