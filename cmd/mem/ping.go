package main

import (
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/models"
	"github.com/poimen-memory/mem/harness/ping"
	"github.com/poimen-memory/mem/harness/render"
	"github.com/poimen-memory/mem/harness/run"
	"github.com/poimen-memory/mem/internal/printable"
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
		RunE:    func(cmd *cobra.Command, args []string) error { return pingModels(cmd, args) },
	}
}

func pingModels(cmd *cobra.Command, args []string) error {
	ctx := cmd.Context()
	live := &models.Clients{Meter: &models.Meter{}, Tries: 1}
	defer live.Close()
	all, err := prepare(ctx, harness.Config{Clients: live, Run: run.Config{Live: true}}, args)
	if err != nil {
		return err
	}
	for _, w := range live.Warnings {
		printable.Fprintf(cmd.ErrOrStderr(), "mem: warning: %s\n", w)
	}
	rows := ping.Models(ctx, cmd.ErrOrStderr(), live, all)
	if len(rows) == 0 {
		return errors.New("no live model: want a spec with one")
	}
	if err := render.Pings(cmd.OutOrStdout(), terminal(cmd), rows); err != nil {
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
