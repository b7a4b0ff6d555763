package check

import (
	"fmt"
	"slices"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/dist"
)

// Count is one prompt as we count it and as the server did.
type Count struct{ Ours, Server int }

// Drift is how far a server's counts of a model's prompts are from ours. Shares are of
// our count, above 0 where we count too little.
type Drift struct {
	Model     string  `json:"model"`
	Tokenizer string  `json:"tokenizer"` // ours
	Prompts   int     `json:"prompts"`
	Overhead  int     `json:"overhead"` // tokens that the server's chat template adds to each, estimated
	P50       float64 `json:"p50"`
	P95       float64 `json:"p95"`
	Max       float64 `json:"max"`
}

// maxOverhead bounds what a chat template may add to one message: role markers and a
// default system message. Without a bound, prompts of one size would let any drift pass
// for overhead.
const maxOverhead = 64

// MeasureDrift compares counts, after the constant that a chat template adds is taken
// off: the intercept of the least-squares line through them, between 0 and 64.
func MeasureDrift(model, tokenizer string, counts []Count) Drift {
	d := Drift{Model: model, Tokenizer: tokenizer, Prompts: len(counts), Overhead: overhead(counts)}
	if len(counts) == 0 {
		return d
	}
	shares := make([]float64, len(counts))
	for i, c := range counts {
		shares[i] = float64(c.Server-d.Overhead-c.Ours) / float64(max(c.Ours, 1))
	}
	slices.Sort(shares)
	d.P50, d.P95, d.Max = dist.Percentile(shares, 50), dist.Percentile(shares, 95), dist.Percentile(shares, 100)
	return d
}

func overhead(counts []Count) int {
	var n, sx, sy, sxx, sxy float64
	for _, c := range counts {
		x, y := float64(c.Ours), float64(c.Server)
		n, sx, sy, sxx, sxy = n+1, sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	spread := n*sxx - sx*sx
	if spread == 0 { // one size only: nothing tells overhead from drift
		return 0
	}
	slope := (n*sxy - sx*sy) / spread
	return min(max(int((sy-slope*sx)/n+0.5), 0), maxOverhead)
}

// Tokenizer fails a model whose prompts we count too low: a budget counted with the wrong
// tokenizer is a guess. allowed is the share that the server may count more at p95.
func Tokenizer(d Drift, allowed float64, at diag.Pos) Result {
	r := tokenizer(d, allowed)
	r.Pos = at
	return r
}

func tokenizer(d Drift, allowed float64) Result {
	if d.Prompts == 0 {
		return Skipped("tokenizer", d.Model, "the server reports no prompt_tokens")
	}
	found := fmt.Sprintf("%s under-counts %.1f %% at p95, %.1f %% at most (%d prompts, %d tokens of chat template taken off)",
		d.Tokenizer, 100*d.P95, 100*d.Max, d.Prompts, d.Overhead)
	if d.P95 > allowed {
		return fail("tokenizer", d.Model, "%s: want at most %.1f %% at p95, or the tokenizer of the model", found, 100*allowed)
	}
	return pass("tokenizer", d.Model, "%s", found)
}
