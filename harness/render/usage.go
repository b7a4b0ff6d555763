package render

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/check"
)

// usageTable has a row for each model whose server counts: what its replies took, and how
// far the server's counts of prompts are from ours. Costs stand where prices do.
func usageTable(r *harness.Result) table {
	number := func(head string, of func(harness.Usage) int) column {
		return column{head: head, right: true, cells: each(r.Usage, func(u harness.Usage) string { return strconv.Itoa(of(u)) })}
	}
	t := table{
		{head: "model", key: true, cells: each(r.Usage, func(u harness.Usage) string { return u.Model })},
		number("calls", func(u harness.Usage) int { return u.Calls }),
		number("parse\nretries", func(u harness.Usage) int { return u.ParseRetries }),
		number("that\nhelped", func(u harness.Usage) int { return u.RetriesHelped }),
		number("prompt\ntokens", func(u harness.Usage) int { return u.PromptTokens }),
		number("completion\ntokens", func(u harness.Usage) int { return u.CompletionTokens }),
	}
	if slices.ContainsFunc(r.Usage, func(u harness.Usage) bool { return u.USD != nil }) {
		t = append(t, column{head: "cost,\nUSD", right: true, cells: each(r.Usage, cost)})
	}
	share := func(head string, of func(check.Drift) float64) column {
		return column{head: head, right: true, cells: each(r.Usage, func(u harness.Usage) string { return percent(driftOf(r.Drift, u.Model), of) })}
	}
	return append(t,
		share("drift %\np50", func(d check.Drift) float64 { return d.P50 }),
		share("drift %\np95", func(d check.Drift) float64 { return d.P95 }),
		share("drift %\nmax", func(d check.Drift) float64 { return d.Max }),
	)
}

func percent(d check.Drift, of func(check.Drift) float64) string {
	if d.Prompts == 0 {
		return undefined
	}
	return fmt.Sprintf("%+.1f", 100*of(d))
}

func cost(u harness.Usage) string {
	if u.USD == nil {
		return undefined
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

// usageNotes explain the table, and say what is not in it.
func usageNotes(r *harness.Result) []string {
	notes := []string{
		"parse retries: calls that asked a turn again; that helped: turns that parsed only then.",
		"drift: how many more tokens the server counts in a prompt than " + r.Tokenizer + ", what its chat template adds taken off.",
	}
	for _, d := range r.Drift {
		if d.Overhead > 0 {
			notes = append(notes, fmt.Sprintf("%s: %s of chat template a prompt, estimated over %s.", d.Model, plural(d.Overhead, "token"), plural(d.Prompts, "prompt")))
		}
	}
	for _, u := range r.Usage {
		if u.Unmetered > 0 {
			notes = append(notes, fmt.Sprintf("%s: %s without a count of tokens, in no sum.", u.Model, plural(u.Unmetered, "call")))
		}
	}
	return notes
}

func (p *page) usage(r *harness.Result) {
	if len(r.Usage) == 0 {
		return
	}
	p.section("Calls, as servers count")
	p.table(usageTable(r))
	for _, note := range usageNotes(r) {
		p.paragraph("  ", note)
	}
}

func (d *document) usage(r *harness.Result) {
	if len(r.Usage) == 0 {
		return
	}
	d.line("Calls, as servers count:\n")
	d.table(usageTable(r))
	for _, note := range usageNotes(r) {
		d.line("- %s", escape(note))
	}
	d.line("")
}

// ServiceRow is how a live model's server did in one session: what a clock saw, so that it
// stands in no report but the terminal's.
type ServiceRow struct {
	Model           string
	Calls           int           // answered
	P50, P95        time.Duration // of attempts that brought a reply
	TokensPerSecond float64       // of completions, all calls together
	TurnsPerMinute  float64
	Retries         int // after failures in transport
	Limit, Most     int // calls in flight: the adaptive limit at the end, and its ceiling
}

// Service shows how the servers of live models did.
func (t Terminal) Service(w io.Writer, rows []ServiceRow) error {
	if len(rows) == 0 || t.Quiet {
		return nil
	}
	text := func(head string, of func(ServiceRow) string) column {
		return column{head: head, right: true, cells: each(rows, of)}
	}
	p := page{Terminal: t}
	p.section("Servers in this session")
	p.table(table{
		{head: "model", key: true, cells: each(rows, func(r ServiceRow) string { return r.Model })},
		text("calls", func(r ServiceRow) string { return strconv.Itoa(r.Calls) }),
		text("latency\np50, s", func(r ServiceRow) string { return seconds(r.P50) }),
		text("latency\np95, s", func(r ServiceRow) string { return seconds(r.P95) }),
		text("tokens/s", func(r ServiceRow) string { return fmt.Sprintf("%.1f", r.TokensPerSecond) }),
		text("turns/min", func(r ServiceRow) string { return fmt.Sprintf("%.1f", r.TurnsPerMinute) }),
		text("retries", func(r ServiceRow) string { return strconv.Itoa(r.Retries) }),
		text("limit", func(r ServiceRow) string { return fmt.Sprintf("%d of %d", r.Limit, r.Most) }),
	})
	p.paragraph("  ", "latency: of attempts that brought a reply. retries: of transport, after "+
		"refusals, timeouts and server errors. limit: calls in flight at the end, of those asked for.")
	return p.flush(w)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f", d.Seconds()) }
