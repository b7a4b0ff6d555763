// Package models makes the models that a spec names: gate scripts and policies, recordings,
// and clients of live servers. It is the one factory of mem's commands and tests; the packages
// that run and judge know no concrete model.
package models

import (
	"context"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/run"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/internal/inputfile"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/prompt/token"
)

// Set is where the models of one spec come from. The zero Set has none.
type Set struct {
	scripts    scripts
	recordings recordings
	clients    *Clients
}

// Load reads the scripts and looks into the recordings that a spec names, so that what is
// wrong with them is known before anything runs. clients may be nil where no live model runs.
func Load(s *spec.Spec, clients *Clients) (Set, diag.Errors) {
	scripts, errs := loadScripts(s)
	recordings, wrong := findRecordings(s)
	return Set{scripts, recordings, clients}, append(errs, wrong...)
}

// Open makes the clients of the spec's live models that cells need; see Clients.
func (s Set) Open(ctx context.Context, sp *spec.Spec, runs []*plan.Run) diag.Errors {
	return s.clients.open(ctx, sp, runs)
}

// Model makes the model of one run. It is a run.Config's Models.
func (s Set) Model(m run.ModelFor) (loop.Model, error) {
	switch {
	case m.Model.Live != nil:
		return s.clients.model(m)
	case m.Model.Replay != nil:
		return s.recordings.model(m)
	}
	return s.scripts.model(m)
}

// Unused says which entries of the spec's scripts none of the calls came to, in the order of
// its models. asked are the turns and attempts of all calls, by model.
func (s Set) Unused(sp *spec.Spec, asked map[string][][2]int) []string {
	return s.scripts.unused(sp, asked)
}

// TokenizerFile reads the token counter of a tokenizer.json.
func TokenizerFile(path string) (*token.Counter, error) {
	data, err := inputfile.Read(path, inputfile.MaxTokenizer)
	if err != nil {
		return nil, err
	}
	return token.Parse(path, data)
}

// Counter makes the token counter that a spec names.
func Counter(t spec.Tokenizer) (plan.Counter, error) {
	open, name := token.New, t.Name.Value
	switch {
	case t.File.Value != "":
		open, name = TokenizerFile, t.File.Value
	case t.Reference.Value:
		open = token.Reference
	}
	c, err := open(name)
	if err != nil {
		return nil, err // not c: a nil *Counter would be a Counter that is not nil
	}
	return c, nil
}
