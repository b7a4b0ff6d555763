package main

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/poimen-memory/mem/harness/atomicfile"
	"github.com/poimen-memory/mem/harness/render"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/loop/keyfilter"
)

type keysKey struct{}

// withKeys hands a command the filter that all it shows goes through. It learns the keys from
// the specs that the command reads.
func withKeys(ctx context.Context, keys *keyfilter.Filter) context.Context {
	return context.WithValue(ctx, keysKey{}, keys)
}

// keysOf is the filter of withKeys, or one without keys.
func keysOf(ctx context.Context) *keyfilter.Filter {
	if keys, ok := ctx.Value(keysKey{}).(*keyfilter.Filter); ok {
		return keys
	}
	return &keyfilter.Filter{}
}

// loadSpec is spec.Load for what is shown.
func loadSpec(ctx context.Context, path string) (*spec.Spec, error) {
	s, err := spec.Load(path)
	if err == nil {
		learnKeys(ctx, s)
	}
	return s, err
}

// learnKeys has what is shown from now on hide the keys of a spec's live models, whether they
// are to run or not.
func learnKeys(ctx context.Context, s *spec.Spec) {
	for i := range s.Models {
		if live := s.Models[i].Live; live != nil && live.APIKeyEnv.Value != "" {
			keysOf(ctx).Add(os.Getenv(live.APIKeyEnv.Value))
		}
	}
}

// shownFiles writes files that people read, reports and no records, through the filter of keys.
func shownFiles(ctx context.Context) render.WriteFile {
	return func(path string, fill func(io.Writer) error) error {
		return atomicfile.Write(path, func(w io.Writer) error {
			shown := keysOf(ctx).Writer(w)
			return errors.Join(fill(shown), shown.Flush())
		})
	}
}
