package forecast

import (
	"context"
	"slices"

	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/dist"
	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/spec"
)

// Forecast is what the prompts over a corpus will take, before any is sent. In its table
// every memory is a full one, and every chunk meets every question of its session; where
// there is no question, one that takes its whole limit.
type Forecast struct {
	check.BudgetTable
	Verdict  check.Result // of the budget check on this table
	Sizes    []dist.Bin   // of chunks, as the spec packs them
	Packings []Packing    // as the spec has it, up to the limit budget.chunk, up to the window
}

// Packing is what one way to fill chunks comes to.
type Packing struct {
	Tokens, Records int  // of a chunk; one of them is 0
	Limit           int  // that budget.chunk must have for it
	Chunks          int  // of all sessions, which is turns for each query
	Whole           bool // a session of several records is one chunk: the gates decide once
	Mean            int  // tokens of a chunk
	Max             int
	Filled          float64 // part of window − response that a mean chunk with all else at its longest takes
}

// Best is the packing with the fewest chunks that parts every session; of equals the first,
// which changes least. It is the spec's own if no other parts them.
func (f Forecast) Best() Packing {
	best := f.Packings[0]
	for _, p := range f.Packings[1:] {
		if !p.Whole && p.Chunks < best.Chunks {
			best = p
		}
	}
	return best
}

// Forecast measures every corpus of the spec. Nothing is run; corpora are packed again to
// see what other packings come to.
func Corpora(ctx context.Context, p *plan.Plan) ([]Forecast, error) {
	var list []Forecast
	for i := range p.Spec.Corpora {
		c := &p.Spec.Corpora[i]
		t := p.Headroom().Table(c.ID.Value, p.Tokenizer(), fullUsage(p, c))
		f := Forecast{BudgetTable: t, Verdict: p.Headroom().Check(t), Sizes: dist.Bins(chunks(p, c))}
		for _, pack := range packings(p, c) {
			packing, err := packed(ctx, p, c, t, pack)
			if err != nil {
				return nil, err
			}
			f.Packings = append(f.Packings, packing)
		}
		list = append(list, f)
	}
	return list, nil
}

// chunks are the tokens of all chunks of a corpus.
func chunks(p *plan.Plan, c *spec.Corpus) (tokens []int) {
	for _, s := range p.Sessions {
		if s.Corpus == c {
			tokens = append(tokens, s.ChunkTokens()...)
		}
	}
	return tokens
}

func fullUsage(p *plan.Plan, c *spec.Corpus) check.Usage {
	b := p.Budget()
	u := check.Usage{Fixed: p.Prompts.Fixed(), Memories: []int{b.Memory}}
	for _, s := range p.Sessions {
		if s.Corpus != c {
			continue
		}
		var questions []int
		for _, q := range s.Queries() {
			questions = append(questions, p.Prompts.Measure(q.Text).Tokens)
		}
		if questions == nil {
			questions = []int{b.Question}
		}
		for _, chunk := range s.ChunkTokens() {
			for _, question := range questions {
				u.Prompts = append(u.Prompts, u.Fixed.Prompt()+question+b.Memory+chunk)
			}
		}
		u.Chunks = append(u.Chunks, s.ChunkTokens()...)
		u.Questions = append(u.Questions, questions...)
	}
	return u
}

// packings are the spec's own and those that fill a chunk up to a limit: that of the spec,
// and the highest that any spec with its other limits may have, min_headroom kept free.
func packings(p *plan.Plan, c *spec.Corpus) []corpus.Pack {
	b := p.Budget()
	list := []corpus.Pack{{Tokens: c.Chunk.Tokens.Value, Records: c.Chunk.Records.Value}}
	most := b.Prompt() - b.Template - b.Question - b.Memory - p.Headroom().Min
	for _, tokens := range []int{b.Chunk, most} {
		if pack := (corpus.Pack{Tokens: tokens}); tokens > 0 && !slices.Contains(list, pack) {
			list = append(list, pack)
		}
	}
	return list
}

func packed(ctx context.Context, p *plan.Plan, c *spec.Corpus, t check.BudgetTable, pack corpus.Pack) (Packing, error) {
	cfg := plan.Source(c, nil)
	cfg.Prompts, cfg.Pack, cfg.Keep, cfg.Labels = p.Prompts, pack, -1, ""
	sessions, err := corpus.Load(ctx, cfg)
	if err != nil {
		return Packing{}, err
	}
	packing := Packing{Tokens: pack.Tokens, Records: pack.Records, Limit: p.Budget().Chunk}
	sum := 0
	for _, s := range sessions {
		packing.Whole = packing.Whole || s.Len() == 1 && s.Records() > 1
		for _, tokens := range s.ChunkTokens() {
			packing.Chunks++
			sum += tokens
			packing.Max = max(packing.Max, tokens)
		}
	}
	packing.Limit = max(packing.Limit, pack.Tokens, packing.Max)
	if packing.Chunks > 0 {
		b := p.Budget()
		largest := slices.Max(chunks(p, c))
		others := b.Prompt() - t.AtMax - largest // what a prompt takes beside its chunk
		packing.Mean = sum / packing.Chunks
		packing.Filled = float64(others+packing.Mean) / float64(b.Prompt())
	}
	return packing, nil
}
