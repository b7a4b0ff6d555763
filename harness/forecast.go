package harness

import (
	"context"
	"slices"

	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/spec"
)

// Forecast is what the prompts over a corpus will take, before any is sent. In its table
// every memory is a full one, and every chunk meets every question of its session; where
// there is no question, one that takes its whole limit.
type Forecast struct {
	check.BudgetTable
	Verdict  check.Result // of the budget check on this table
	Sizes    []Bin        // of chunks, as the spec packs them
	Packings []Packing    // as the spec has it, up to the limit budget.chunk, up to the window
}

// Bin is how many chunks have From to To tokens, both included.
type Bin struct{ From, To, Chunks int }

// Packing is what one way to fill chunks comes to.
type Packing struct {
	Tokens, Records int // of a chunk; one of them is 0
	Limit           int // that budget.chunk must have for it
	Chunks          int // of all sessions, which is turns for each query
	Mean            int // tokens of a chunk
	Max             int
	Filled          float64 // part of window − response that a mean chunk with all else at its longest takes
}

// Best is the packing with the fewest chunks; of equals the first, which changes least.
func (f Forecast) Best() Packing {
	return slices.MinFunc(f.Packings, func(a, b Packing) int { return a.Chunks - b.Chunks })
}

// Forecast measures every corpus of the spec. Nothing is run; corpora are packed again to
// see what other packings come to.
func (e *Experiment) Forecast(ctx context.Context) ([]Forecast, error) {
	var list []Forecast
	for i := range e.Spec.Corpora {
		c := &e.Spec.Corpora[i]
		t := e.headroom().Table(c.ID.Value, e.Tokenizer(), e.fullUsage(c))
		f := Forecast{BudgetTable: t, Verdict: e.headroom().Check(t), Sizes: bins(e.chunks(c))}
		for _, pack := range e.packings(c) {
			p, err := e.packed(ctx, c, t, pack)
			if err != nil {
				return nil, err
			}
			f.Packings = append(f.Packings, p)
		}
		list = append(list, f)
	}
	return list, nil
}

// chunks are the tokens of all chunks of a corpus.
func (e *Experiment) chunks(c *spec.Corpus) (tokens []int) {
	for _, s := range e.sessions {
		if s.corpus == c {
			tokens = append(tokens, s.ChunkTokens()...)
		}
	}
	return tokens
}

func (e *Experiment) fullUsage(c *spec.Corpus) check.Usage {
	b := e.prompts.Budget()
	u := check.Usage{Fixed: e.prompts.Fixed(), Memories: []int{b.Memory}}
	for _, s := range e.sessions {
		if s.corpus != c {
			continue
		}
		var questions []int
		for _, q := range s.Queries() {
			questions = append(questions, e.prompts.Measure(q.Text).Tokens)
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
func (e *Experiment) packings(c *spec.Corpus) []corpus.Pack {
	b := e.prompts.Budget()
	list := []corpus.Pack{{Tokens: c.Chunk.Tokens.Value, Records: c.Chunk.Records.Value}}
	most := b.Prompt() - b.Template - b.Question - b.Memory - e.headroom().Min
	for _, tokens := range []int{b.Chunk, most} {
		if pack := (corpus.Pack{Tokens: tokens}); tokens > 0 && !slices.Contains(list, pack) {
			list = append(list, pack)
		}
	}
	return list
}

func (e *Experiment) packed(ctx context.Context, c *spec.Corpus, t check.BudgetTable, pack corpus.Pack) (Packing, error) {
	cfg := source(c, nil)
	cfg.Prompts, cfg.Pack, cfg.Keep, cfg.Labels = e.prompts, pack, -1, ""
	sessions, err := corpus.Load(ctx, cfg)
	if err != nil {
		return Packing{}, err
	}
	p := Packing{Tokens: pack.Tokens, Records: pack.Records, Limit: e.prompts.Budget().Chunk}
	sum := 0
	for _, s := range sessions {
		for _, tokens := range s.ChunkTokens() {
			p.Chunks++
			sum += tokens
			p.Max = max(p.Max, tokens)
		}
	}
	p.Limit = max(p.Limit, pack.Tokens, p.Max)
	if p.Chunks > 0 {
		b := e.prompts.Budget()
		largest := slices.Max(e.chunks(c))
		others := b.Prompt() - t.AtMax - largest // what a prompt takes beside its chunk
		p.Mean = sum / p.Chunks
		p.Filled = float64(others+p.Mean) / float64(b.Prompt())
	}
	return p, nil
}

// bins are at most ten, of one width that is easy to read: 1, 2 or 5 times a power of ten.
func bins(tokens []int) []Bin {
	if len(tokens) == 0 {
		return nil
	}
	low, high := slices.Min(tokens), slices.Max(tokens)
	width := binWidth(low, high)
	first := low / width
	list := make([]Bin, high/width-first+1)
	for i := range list {
		list[i].From = (first + i) * width
		list[i].To = list[i].From + width - 1
	}
	for _, n := range tokens {
		list[n/width-first].Chunks++
	}
	return list
}

func binWidth(low, high int) int {
	const most = 10
	for ten := 1; ; ten *= 10 {
		for _, width := range []int{ten, 2 * ten, 5 * ten} {
			if high/width-low/width < most {
				return width
			}
		}
	}
}
