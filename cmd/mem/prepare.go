package main

import (
	"context"
	"errors"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/spec/yamlpos"
)

// experiment is one that is ready to run, with the scripts of its models.
type experiment struct {
	*harness.Experiment
	scripts scripts
}

// prepare reads specs and all that they name. Nothing may run unless all is right, so the
// error is a yamlpos.Errors with what is wrong anywhere; a bad spec hides what it names.
func prepare(ctx context.Context, cfg harness.Config, args []string) ([]experiment, error) {
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
		e, wrong, err := prepareOne(ctx, cfg, s)
		if err != nil {
			return nil, err
		}
		all, errs = append(all, e), append(errs, wrong...)
	}
	return all, errs.Err()
}

// prepareOne's error is one that is not about the spec: ctx was cancelled.
func prepareOne(ctx context.Context, cfg harness.Config, s *spec.Spec) (experiment, yamlpos.Errors, error) {
	loaded, errs := loadScripts(s)
	cfg.Models, cfg.Counter = loaded.model, counter
	e, err := harness.Prepare(ctx, cfg, s)
	if wrong, ok := errors.AsType[yamlpos.Errors](err); ok {
		return experiment{}, append(errs, wrong...), nil
	}
	return experiment{e, loaded}, errs, err
}
