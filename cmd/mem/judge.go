package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/redact"
	"github.com/poimen-memory/mem/harness/render"
	"github.com/poimen-memory/mem/harness/result"
)

func judgeCommand() *cobra.Command {
	e := evaluation{judgeOnly: true}
	cmd := completes(&cobra.Command{
		Use:   "judge SPEC…",
		Short: "Judge records again, without executing anything",
		Long: `judge reads the records that mem eval left in OUT/EXPERIMENT/runs, judges them by the specs
as they are now, and writes the experiment's reports. It asks no model. With the specs that
the records were made with it writes the same bytes as the evaluation did.

Labels, answers, thresholds, criteria and expectations may have changed: the records are
judged anew. With another template, question, budget, chunking or session, or other labels
of a model that reads them, the records say nothing about the spec: judge names them and
goes on with the next spec.`,
		Example: `  mem judge experiments/m1.8.yaml
  mem judge experiments/*.yaml --out merged`,
		RunE: func(cmd *cobra.Command, args []string) error {
			e.streams(cmd)
			return e.judgeRecords(cmd.Context(), args)
		},
	})
	cmd.Flags().StringVar(&e.out, "out", "reports", "folder `DIR` of the experiments' folders")
	judgingFlags(cmd, &e)
	return cmd
}

// judgeRecords judges what earlier evaluations left.
func (e *evaluation) judgeRecords(ctx context.Context, args []string) error {
	if err := errors.Join(e.outputs.Check(), checkBaseline(e.baseline, !e.pick.All())); err != nil {
		return err
	}
	all, err := prepare(ctx, harness.Config{Out: e.out, Select: e.pick.Wants}, args)
	if err != nil {
		return err
	}
	if all, err = e.pick.Picked(all); err != nil {
		return err
	}
	if err := harness.CheckTags(e.show.By, harness.Tags(all)); err != nil {
		return err
	}
	if err := e.outputs.MakeFolders(); err != nil {
		return &exit{exitIncomplete, err}
	}
	unlock, err := e.lock("mem judge", all, false)
	if err != nil {
		return err
	}
	defer unlock()
	return e.judge(ctx, all)
}

// judgeOne judges the records of an experiment.
func (e *evaluation) judgeOne(ctx context.Context, x harness.Experiment) (*result.Result, error) {
	r, err := x.Judge()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", x.Spec.File, err)
	}
	return r, errors.Join(e.baseline.Judge(e.stdout, r, !e.pick.All()), render.Save(shownFiles(ctx), x.Folder, redact.All(e.noText, r)[0]), e.result(x, r))
}
