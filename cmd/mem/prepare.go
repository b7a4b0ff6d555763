package main

import (
	"context"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/spec"
)

// prepare reads the specs that arguments name, and all that those name.
func prepare(ctx context.Context, cfg harness.Config, args []string) ([]harness.Experiment, error) {
	files, err := spec.Paths(args)
	if err != nil {
		return nil, err
	}
	specs, err := spec.LoadAll(files)
	if err != nil {
		return nil, err
	}
	for _, s := range specs {
		learnKeys(ctx, s)
	}
	return harness.Prepare(ctx, cfg, specs)
}
