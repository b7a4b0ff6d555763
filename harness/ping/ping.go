// Package ping asks live models one turn each, before a whole evaluation does.
package ping

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/poimen-memory/mem/gate"
	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/models"
	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/render"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/internal/printable"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/keyfilter"
	"github.com/poimen-memory/mem/loop/openai"
	"github.com/poimen-memory/mem/prompt"
)

// Models asks each live model of the experiments' specs. Notes about keys go to notes.
func Models(ctx context.Context, notes io.Writer, clients *models.Clients, all []harness.Experiment) (rows []render.PingRow) {
	for _, x := range all {
		for i := range x.Spec.Models {
			if m := &x.Spec.Models[i]; m.Live != nil && (i == 0 || x.Spec.Models[i-1].Base() != m.Base()) {
				noteKey(notes, m)
				rows = append(rows, ask(ctx, clients.Client(x.Spec, m.Base()), x, m.Base()))
			}
		}
	}
	return rows
}

// noteKey says of a key that it is not hidden in what is shown.
func noteKey(w io.Writer, m *spec.Model) {
	name := m.Live.APIKeyEnv.Value
	if key := os.Getenv(name); name != "" && !keyfilter.Filtered(key) {
		printable.Fprintf(w, "mem: note: model %s: the key in %s is not hidden where a server repeats it: it is a placeholder, or has fewer than 8 characters\n", m.Base(), name)
	}
}

// ask asks the model of an id in a spec, whose client it is.
func ask(ctx context.Context, client *openai.Client, x harness.Experiment, id string) render.PingRow {
	row := render.PingRow{Model: id, Server: client.Address(), Listed: listed(ctx, client)}
	first, err := firstPrompt(x, id)
	if err != nil {
		row.Problem = err.Error()
		return row
	}
	row.Ours = first.Tokens.Prompt()
	start := time.Now()
	reply, err := client.Trial(1).Complete(ctx, loop.Request{
		Turn: 1, Attempt: 1, System: first.System, User: first.User, MaxTokens: x.Budget().Response,
	})
	if err != nil {
		row.Problem = err.Error()
		return row
	}
	row.Latency = time.Since(start)
	if reply.Usage != nil {
		row.Theirs = reply.Usage.PromptTokens
	}
	d, err := loop.Parse(reply)
	if err != nil {
		row.Problem, row.Reply = "its gates cannot be read: "+err.Error(), reply.Text
		if why := reply.Textless(); why != "" {
			row.Problem = "its reply cannot be read: " + why
		}
		return row
	}
	row.Gates = decided(d)
	return row
}

// listed is what the server's list of models says. Not all have one, nor is all in it that
// can be asked, so it is never a problem by itself.
func listed(ctx context.Context, client *openai.Client) string {
	known, err := client.Models(ctx)
	switch {
	case err != nil:
		return "no list"
	case slices.Contains(known, client.Model()):
		return "yes"
	case len(known) == 1:
		return "no, but " + known[0]
	}
	return fmt.Sprintf("no, but %d others", len(known))
}

// firstPrompt is the first that a model would be sent.
func firstPrompt(x harness.Experiment, model string) (prompt.Prompt, error) {
	for _, cell := range x.Selected() {
		if cell.Spec.Base() == model && !cell.OverMemories() {
			return x.Prompt(plan.PromptAt{Variant: cell.Setup.Name(), Session: cell.Cell.Session, Query: cell.Query, Turn: 1})
		}
	}
	return prompt.Prompt{}, errors.New("the spec has no run of it")
}

func decided(d gate.Decision) string {
	return map[bool]string{true: "yes", false: "no"}[d.Update] + ", " + map[bool]string{true: "end", false: "continue"}[d.Exit]
}
