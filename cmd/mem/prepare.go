package main

import (
	"context"
	"errors"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/spec/yamlpos"
	"github.com/poimen-memory/mem/loop"
)

// experiment is one that is ready to run, with the scripts of its models.
type experiment struct {
	*harness.Experiment
	scripts scripts
}

// models is where the models of one spec come from.
type models struct {
	scripts    scripts
	recordings recordings
	clients    *clients
}

// model makes the model of one run.
func (l models) model(m harness.ModelFor) (loop.Model, error) {
	switch {
	case m.Model.Live != nil:
		return l.clients.model(m)
	case m.Model.Replay != nil:
		return l.recordings.model(m)
	}
	return l.scripts.model(m)
}

// prepare is prepareLive for commands that ask no live model.
func prepare(ctx context.Context, cfg harness.Config, args []string) ([]experiment, error) {
	return prepareLive(ctx, cfg, nil, args)
}

// prepareLive reads specs and all that they name. Nothing may run unless all is right, so the
// error is a yamlpos.Errors with what is wrong anywhere; a bad spec hides what it names.
func prepareLive(ctx context.Context, cfg harness.Config, live *clients, args []string) ([]experiment, error) {
	files, err := specFiles(args)
	if err != nil {
		return nil, err
	}
	specs, err := spec.LoadAll(files)
	if err != nil {
		return nil, err
	}
	var all []experiment
	var errs yamlpos.Errors
	for _, s := range specs {
		e, wrong, err := prepareOne(ctx, cfg, live, s)
		if err != nil {
			return nil, err
		}
		all, errs = append(all, e), append(errs, wrong...)
	}
	return all, errs.Err()
}

// prepareOne's error is one that is not about the spec: ctx was cancelled.
func prepareOne(ctx context.Context, cfg harness.Config, live *clients, s *spec.Spec) (experiment, yamlpos.Errors, error) {
	loaded, errs := loadScripts(s)
	recorded, wrong := findRecordings(s)
	errs = append(errs, wrong...)
	cfg.Models, cfg.Counter = models{loaded, recorded, live}.model, counter
	e, err := harness.Prepare(ctx, cfg, s)
	if wrong, ok := errors.AsType[yamlpos.Errors](err); ok {
		return experiment{}, append(errs, wrong...), nil
	}
	if err == nil && cfg.Live {
		errs = append(errs, live.open(ctx, s, e.Cells())...)
	}
	return experiment{e, loaded}, errs, err
}
