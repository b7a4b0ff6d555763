package view

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/render/internal/layout"
	"github.com/poimen-memory/mem/harness/result"
)

// UsageTable has a row for each model whose server counts: what its replies took, and how
// far the server's counts of prompts are from ours. Costs stand where prices do.
func UsageTable(r *result.Result) layout.Table {
	number := func(head string, of func(result.Usage) int) layout.Column {
		return layout.Column{Head: head, Right: true, Cells: layout.Each(r.Usage, func(u result.Usage) string { return strconv.Itoa(of(u)) })}
	}
	t := layout.Table{
		{Head: "model", Key: true, Cells: layout.Each(r.Usage, func(u result.Usage) string { return u.Model })},
		number("calls", func(u result.Usage) int { return u.Calls }),
		number("parse\nretries", func(u result.Usage) int { return u.ParseRetries }),
		number("that\nhelped", func(u result.Usage) int { return u.RetriesHelped }),
		number("prompt\ntokens", func(u result.Usage) int { return u.PromptTokens }),
		number("completion\ntokens", func(u result.Usage) int { return u.CompletionTokens }),
	}
	if slices.ContainsFunc(r.Usage, func(u result.Usage) bool { return u.USD != nil }) {
		t = append(t, layout.Column{Head: "cost,\nUSD", Right: true, Cells: layout.Each(r.Usage, cost)})
	}
	share := func(head string, of func(check.Drift) float64) layout.Column {
		return layout.Column{Head: head, Right: true, Cells: layout.Each(r.Usage, func(u result.Usage) string { return percent(driftOf(r.Drift, u.Model), of) })}
	}
	return append(t,
		share("drift %\np50", func(d check.Drift) float64 { return d.P50 }),
		share("drift %\np95", func(d check.Drift) float64 { return d.P95 }),
		share("drift %\nmax", func(d check.Drift) float64 { return d.Max }),
	)
}

func percent(d check.Drift, of func(check.Drift) float64) string {
	if d.Prompts == 0 {
		return Undefined
	}
	return fmt.Sprintf("%+.1f", 100*of(d))
}

func cost(u result.Usage) string {
	if u.USD == nil {
		return Undefined
	}
	return fmt.Sprintf("%.4f", *u.USD)
}

func driftOf(list []check.Drift, model string) check.Drift {
	for _, d := range list {
		if d.Model == model {
			return d
		}
	}
	return check.Drift{}
}

// UsageNotes explain the table, and say what is not in it.
func UsageNotes(r *result.Result) []string {
	notes := []string{
		"parse retries: calls that asked a turn again; that helped: turns that parsed only then.",
		"drift: how many more tokens the server counts in a prompt than " + r.Tokenizer + ", what its chat template adds taken off.",
	}
	for _, d := range r.Drift {
		if d.Overhead > 0 {
			notes = append(notes, fmt.Sprintf("%s: %s of chat template a prompt, estimated over %s.", d.Model, diag.Count(d.Overhead, "token"), diag.Count(d.Prompts, "prompt")))
		}
	}
	for _, u := range r.Usage {
		if u.Unmetered > 0 {
			notes = append(notes, fmt.Sprintf("%s: %s without a count of tokens, in no sum.", u.Model, diag.Count(u.Unmetered, "call")))
		}
	}
	return notes
}
