package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/harness/inspect"
	"github.com/poimen-memory/mem/harness/models"
	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/render"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/harness/tty"
	"github.com/poimen-memory/mem/internal/printable"
)

// shown is what `mem show` was asked for.
type shown struct {
	turn    int
	wrong   string // a result.Mistake, or allMistakes
	spec    string
	noPager bool

	reader inspect.Reader
	dir    string
}

const allMistakes = "all"

func showCommand() *cobra.Command {
	var s shown
	cmd := &cobra.Command{
		Use:   "show DIR [RUN]",
		Short: "Show why a turn came out as it did",
		Long: `show reads what mem eval left in a folder. Of DIR alone it lists the runs, the worst first; of
a run its turns; with --turn N one turn: the question, what the gates said and should have
said, the memory before and after, the replies, and the chunk with its evidence marked.

RUN is a run's name, or a part of it up to a slash, as in agent/09 for
agent/09/redis-port/L1/gate-3b/record. --wrong goes through all turns that are wrong, kind by
kind; --wrong=missed through those of one kind: not-parsed, over-budget, missed (evidence
that was not written), noise (written without evidence), early-exit.

On a terminal the output goes through $PAGER, or less.`,
		Example: `  mem show reports/m1.8
  mem show reports/first staging/redis-port --turn 3
  mem show reports/m1.8 --wrong=missed`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error { return s.show(cmd, args) },
	}
	flags := cmd.Flags()
	flags.IntVar(&s.turn, "turn", 0, "show turn `N` of the run, from 1")
	flags.StringVar(&s.wrong, "wrong", "", "show all turns that are wrong, or wrong in one way: `KIND`")
	flags.Lookup("wrong").NoOptDefVal = allMistakes
	flags.StringVar(&s.spec, "spec", "", "the spec `FILE` of the runs, if it is not where it was")
	flags.BoolVar(&s.noPager, "no-pager", false, "write to the terminal directly")
	cmd.MarkFlagsMutuallyExclusive("turn", "wrong")
	kinds := []string{allMistakes}
	for _, m := range result.Mistakes() {
		kinds = append(kinds, string(m))
	}
	completeWords(cmd, "wrong", kinds...)
	cmd.MarkFlagFilename("spec", "yaml", "yml")
	return cmd
}

func (s *shown) show(cmd *cobra.Command, args []string) error {
	s.dir = filepath.Clean(args[0])
	folder := record.Folder{Dir: s.dir}
	r, err := result.Load(folder)
	if err != nil {
		return err
	}
	runs := r.Runs
	if len(args) == 2 {
		if runs, err = inspect.Named(runs, args[1]); err != nil {
			return err
		}
	}
	print, err := s.asked(runs, len(args) == 2)
	if err != nil {
		return err
	}
	s.reader = inspect.Reader{Folder: folder, Plan: s.plan(cmd, r)}
	return tty.Page(cmd.OutOrStdout(), terminal(cmd), s.noPager, keysOf(cmd.Context()), print)
}

// asked is what shows the runs, as the flags say.
func (s *shown) asked(runs []result.Run, some bool) (func(io.Writer, render.Terminal) error, error) {
	one := some && len(runs) == 1
	switch {
	case s.wrong != "":
		ways, err := s.ways()
		return func(w io.Writer, as render.Terminal) error { return render.Wrong(w, as, s.reader, runs, ways) }, err
	case s.turn != 0 && !one:
		return nil, fmt.Errorf("--turn: found %d runs, want one, as in: mem show %s %s --turn %d", len(runs), s.dir, inspect.Worst(runs)[0].Name, s.turn)
	case s.turn != 0:
		return func(w io.Writer, as render.Terminal) error { return s.showTurn(w, as, runs[0]) }, nil
	case one:
		return func(w io.Writer, as render.Terminal) error {
			return render.Run(w, as, s.reader, runs[0], "mem show "+s.dir)
		}, nil
	}
	return func(w io.Writer, as render.Terminal) error {
		return render.Worst(w, as, inspect.Worst(runs), "mem show "+s.dir)
	}, nil
}

func (s *shown) ways() ([]result.Mistake, error) {
	if s.wrong == allMistakes {
		return result.Mistakes(), nil
	}
	way, err := result.ParseMistake(s.wrong)
	if err != nil {
		return nil, fmt.Errorf("--wrong: %w", err)
	}
	return []result.Mistake{way}, nil
}

func (s *shown) showTurn(w io.Writer, as render.Terminal, run result.Run) error {
	t, ok, err := s.reader.Turn(run, s.turn)
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("--turn: found %d, run %s has turns 1 to %d", s.turn, run.Name, run.ChunksSeen)
	}
	return render.Turn(w, as, t)
}

// plan is of the spec as it is now; nil, with a reason on stderr, where it cannot be read.
func (s *shown) plan(cmd *cobra.Command, r *result.Result) *plan.Plan {
	path := s.spec
	if path == "" {
		path = filepath.FromSlash(r.Spec)
	}
	p, err := planned(cmd.Context(), path)
	if err != nil {
		printable.Fprintf(cmd.ErrOrStderr(), "mem: chunks and questions are not shown, want --spec FILE with the runs' spec: %v\n", err)
	}
	return p
}

func planned(ctx context.Context, path string) (*plan.Plan, error) {
	spec, err := loadSpec(ctx, path)
	if err != nil {
		return nil, err
	}
	return plan.New(ctx, plan.Config{Counter: models.Counter}, spec)
}
