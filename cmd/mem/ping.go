package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/gate"
	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/render"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/openai"
	"github.com/poimen-memory/mem/prompt"
)

func pingCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "ping SPEC…",
		Short: "Ask each live model one turn, before a whole evaluation does",
		Long: `ping asks each live model of the specs for its server's list of models and for one gate
turn: the first prompt that an evaluation would send. It shows whether the reply's gates can
be read, how far the server's count of tokens is from ours (what its chat template adds
included), and how long it took. It costs one call a model and tries nothing again.

Exit code 3 if a model does not answer, or answers what cannot be read.`,
		Example: `  mem ping experiments/live.yaml`,
		RunE:    func(cmd *cobra.Command, args []string) error { return ping(cmd, args) },
	}
}

func ping(cmd *cobra.Command, args []string) error {
	ctx := cmd.Context()
	live := newClients(&meter{}, func(string, time.Time, error) {})
	live.tries = 1
	all, err := prepareLive(ctx, harness.Config{Live: true}, live, args)
	if err != nil {
		return err
	}
	for _, w := range live.warned {
		fmt.Fprintln(cmd.ErrOrStderr(), "mem: warning: "+w)
	}
	var rows []render.PingRow
	for _, x := range all {
		for i := range x.Spec.Models {
			if m := &x.Spec.Models[i]; m.Live != nil {
				rows = append(rows, live.ping(ctx, x, m))
			}
		}
	}
	if len(rows) == 0 {
		return errors.New("no live model: want a spec with one")
	}
	if err := terminal(cmd.OutOrStdout(), false).Pings(cmd.OutOrStdout(), rows); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if slices.ContainsFunc(rows, func(r render.PingRow) bool { return r.Problem != "" }) {
		return exitWith(exitIncomplete)
	}
	return nil
}

// ping asks one model.
func (c *clients) ping(ctx context.Context, x experiment, m *spec.Model) render.PingRow {
	client := c.byModel[[2]string{x.Spec.Experiment.Value, m.ID.Value}]
	row := render.PingRow{Model: m.ID.Value, Server: client.BaseURL(), Listed: listed(ctx, client)}
	first, err := firstPrompt(x, m.ID.Value)
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
func firstPrompt(x experiment, model string) (prompt.Prompt, error) {
	for _, cell := range x.Cells() {
		if cell.Model == model && cell.Session != harness.MemoriesSession {
			return x.Prompt(harness.PromptAt{Session: cell.Session, Query: cell.Query, Turn: 1})
		}
	}
	return prompt.Prompt{}, errors.New("the spec has no run of it")
}

func decided(d gate.Decision) string {
	return map[bool]string{true: "yes", false: "no"}[d.Update] + ", " + map[bool]string{true: "end", false: "continue"}[d.Exit]
}
