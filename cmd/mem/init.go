package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/harness/starter"
	"github.com/poimen-memory/mem/harness/tty"
)

func initCommand() *cobra.Command {
	var s starter.Starter
	var live bool
	var ci string
	cmd := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Write a small experiment to begin with",
		Long: `init writes a small experiment that passes, with all that it names: a session, a gate
script, a golden prompt with its ledger, and the schema that editors read. It goes into DIR,
here if none is named. A file that is there already is never written over.

With --live it writes an experiment that decides on a live model by 50 generated sessions. On a
terminal it asks for the server and the model, unless flags say them; what is not said is taken
from the environment, as .env.example shows. With --ci it writes a workflow that runs the
experiments on every change, against a baseline.`,
		Example: `  mem init
  mem init gates && cd gates && mem eval experiments/first.yaml
  mem init --live --base-url http://localhost:8000/v1 --model grumem-3b
  mem init --ci github`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "."
			if len(args) == 1 {
				dir = filepath.Clean(args[0])
			}
			switch s.Kind = starter.Scripted; {
			case live:
				s.Kind = starter.Live
				if tty.Is(cmd.InOrStdin()) && tty.Is(cmd.ErrOrStderr()) {
					s.Server.Ask(cmd.InOrStdin(), cmd.ErrOrStderr())
				}
			case s.Server != (starter.Server{}):
				return fmt.Errorf("--base-url, --model, --api-key-env: these are about a live model, want --live with them")
			case cmd.Flags().Changed("ci"):
				if s.Kind = starter.Kind(ci); s.Kind != starter.GitHub && s.Kind != starter.GitLab {
					return fmt.Errorf("--ci: found %q, want one of github, gitlab", ci)
				}
			}
			return initialize(cmd.Context(), cmd.OutOrStdout(), dir, s)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&live, "live", false, "write an experiment that decides on a live model")
	flags.StringVar(&s.Server.BaseURL, "base-url", "", "with --live: the server's `URL`, up to /v1")
	flags.StringVar(&s.Server.Model, "model", "", "with --live: the model's `NAME` at the server")
	flags.StringVar(&s.Server.KeyEnv, "api-key-env", "", "with --live: the `VARIABLE` that holds the key (default MEM_API_KEY)")
	flags.StringVar(&ci, "ci", "", "write a workflow for `SYSTEM`: github or gitlab")
	cmd.MarkFlagsMutuallyExclusive("live", "ci")
	completeWords(cmd, "ci", string(starter.GitHub), string(starter.GitLab))
	return cmd
}

// initialize writes nothing unless nothing is in the way.
func initialize(ctx context.Context, w io.Writer, dir string, s starter.Starter) error {
	if err := s.Free(dir); err != nil {
		return err
	}
	names, err := s.Write(dir)
	if err != nil {
		return &exit{exitIncomplete, err}
	}
	if s.Kind == starter.Scripted {
		if err := updateGoldens(ctx, io.Discard, []string{filepath.Join(dir, starter.ScriptedSpec)}, "The first version."); err != nil {
			return err
		}
		names = append(names, starter.Made[:]...)
	}
	return s.Next(w, dir, names)
}
