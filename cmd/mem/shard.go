package main

import (
	"context"
	"errors"
	"time"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/render"
	"github.com/poimen-memory/mem/harness/timing"
)

// checkShard refuses what a shard has nothing for: it writes records, and judges nothing.
func checkShard(e *evaluation) error {
	switch {
	case !e.shard.Given():
	case e.fresh:
		return errors.New("--fresh: a shard that is started again would throw away what was paid for, want another --out")
	case e.failFast:
		return errors.New("--fail-fast: a shard judges nothing, want it without --shard")
	case e.outputs != render.Files{}, e.baseline.Dir != "", e.noText:
		return errors.New("--junit, --json, --markdown, --baseline, --no-text: a shard writes records only, want them with the mem judge that judges the whole")
	}
	return nil
}

// executeShard executes the runs of a shard, experiment by experiment.
func executeShard(ctx context.Context, e *evaluation, share harness.Share, specs []string) error {
	if err := e.cfg.MakeOut(); err != nil {
		return &exit{exitIncomplete, err}
	}
	var ends []harness.ShareRun
	for _, x := range share.All {
		runs, err := executeOne(ctx, e, x)
		if err != nil {
			return &exit{exitIncomplete, err}
		}
		ends = append(ends, runs...)
	}
	if err := share.Report(e.stdout, e.cfg, ends, specs, e.showing.quiet); err != nil {
		return err
	}
	return exitWith(harness.ShareExit(ends))
}

// executeOne executes the shard's runs of an experiment, if it has any.
func executeOne(ctx context.Context, e *evaluation, x harness.Experiment) ([]harness.ShareRun, error) {
	if len(x.Selected()) == 0 {
		return x.ExecuteShare(ctx, e.cfg)
	}
	start := time.Now()
	e.progress.Begin(e.clients.Status(x.Spec))
	runs, err := x.ExecuteShare(ctx, e.cfg)
	e.progress.End()
	if err != nil {
		return nil, err
	}
	e.clients.NoteCounts(e.stderr, x.Spec)
	session := e.watch.Session(ownVersion(), harness.ShareResult(x, runs), start, e.clients.Served(x.Spec))
	session.Shard = e.shard.String()
	return runs, timing.SaveShard(shownFiles(ctx), x.Folder, session, e.resume)
}
