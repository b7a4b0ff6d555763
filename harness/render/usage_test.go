package render_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/render"
	"github.com/poimen-memory/mem/harness/render/internal/rendertest"
	"github.com/poimen-memory/mem/harness/result"
)

// metered is an experiment with three live models: one dear and under-counted, one without
// a price, one whose server counts nothing.
func metered() *result.Result {
	r, usd := rendertest.Passed(), 0.12345
	r.Usage = []result.Usage{
		{Model: "grumem-3b", Calls: 1230, PromptTokens: 6543210, CompletionTokens: 98765, ParseRetries: 12, RetriesHelped: 9, USD: &usd},
		{Model: "free", Calls: 3, Unmetered: 1, PromptTokens: 15000, CompletionTokens: 90},
		{Model: "silent", Calls: 4, Unmetered: 4},
	}
	r.Drift = []check.Drift{
		{Model: "grumem-3b", Tokenizer: "o200k_base", Prompts: 1230, Overhead: 23, P50: 0.181, P95: 0.19, Max: 0.2345},
		{Model: "free", Tokenizer: "o200k_base", Prompts: 2, P50: -0.01, P95: 0, Max: 0},
		{Model: "silent", Tokenizer: "o200k_base"},
	}
	return r
}

func services() []render.ServiceRow {
	return []render.ServiceRow{
		{Model: "grumem-3b", Calls: 1230, P50: 1234 * time.Millisecond, P95: 9 * time.Second, TokensPerSecond: 812.345, TurnsPerMinute: 61.5, Retries: 7, Limit: 12, Most: 32},
		{Model: "free", Calls: 3, P50: 4 * time.Millisecond, P95: 5 * time.Millisecond, Limit: 8, Most: 8},
	}
}

// Of no server there is nothing to say, and a quiet terminal says nothing of any.
func TestServiceOfNone(t *testing.T) {
	var b bytes.Buffer
	rows := []render.ServiceRow{{Model: "m"}}
	if err := render.Service(&b, render.Terminal{}, nil); err != nil || b.Len() > 0 {
		t.Errorf("%v, %q", err, &b)
	}
	if err := render.Service(&b, render.Terminal{Detail: render.Quiet}, rows); err != nil || b.Len() > 0 {
		t.Errorf("%v, %q", err, &b)
	}
}
