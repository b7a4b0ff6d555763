package openai

import (
	"context"

	"github.com/poimen-memory/mem/loop"
)

// trialSeeds is how far the seeds of two trials are apart: more than a turn's attempts,
// which count up from a trial's seed.
const trialSeeds = 1000

// Trial is the client as one trial uses it, from 1 on. Where a seed is set each trial has
// one of its own, Seed + 1000 × (n − 1): repeats with the same seed would be no repeats.
// Limits and Stats are the client's.
type Trial struct {
	client *Client
	offset int64
}

// Trial makes the model of the n-th trial.
func (c *Client) Trial(n int) Trial { return Trial{c, trialSeeds * int64(n-1)} }

// Complete is the client's, with the trial's seed.
func (t Trial) Complete(ctx context.Context, r loop.Request) (loop.Completion, error) {
	return t.client.complete(ctx, r, t.offset)
}

// Sampling is the client's, with the trial's seed.
func (t Trial) Sampling() map[string]any {
	fields := t.client.Sampling()
	if seed, ok := fields["seed"].(int64); ok {
		fields["seed"] = seed + t.offset
	}
	return fields
}
