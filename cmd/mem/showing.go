package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/harness/render"
	"github.com/poimen-memory/mem/harness/tty"
)

// terminal says how to write what a command shows.
func terminal(cmd *cobra.Command) render.Terminal {
	return tty.Terminal(cmd.OutOrStdout(), colour(cmd))
}

func colour(cmd *cobra.Command) tty.Colour { return tty.Colour(cmd.Flag("color").Value.String()) }

// showing is how much of results a command shows.
type showing struct {
	quiet, verbose bool
	by             []string
}

func (s *showing) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&s.quiet, "quiet", "q", false, "print verdicts and failures only")
	s.flagsWithoutQuiet(cmd)
	cmd.MarkFlagsMutuallyExclusive("quiet", "verbose")
}

func (s *showing) flagsWithoutQuiet(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&s.verbose, "verbose", "v", false, "print all tables: checks, gate counts, metrics, answers, lengths, budgets")
	byFlag(cmd, &s.by)
}

// terminal is that of the command, for results.
func (s *showing) terminal(cmd *cobra.Command) render.Terminal {
	return s.on(cmd.OutOrStdout(), colour(cmd))
}

func (s *showing) on(w io.Writer, when tty.Colour) render.Terminal {
	as := tty.Terminal(w, when)
	as.By = s.by
	switch {
	case s.quiet:
		as.Detail = render.Quiet
	case s.verbose:
		as.Detail = render.Verbose
	}
	return as
}

// byFlag is tags of queries that numbers are shown by.
func byFlag(cmd *cobra.Command, tags *[]string) {
	cmd.Flags().StringArrayVar(tags, "by", nil, "show gates by the values of this `TAG` of the queries too (may be repeated)")
}
