package models

import (
	"fmt"
	"path/filepath"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/run"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/spec/yamlpos"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/scripted"
)

// scripts are the gate scripts of one spec, by path.
type scripts map[string]*scripted.Script

// loadScripts reads them all before anything runs.
func loadScripts(s *spec.Spec) (scripts, diag.Errors) {
	loaded, errs := scripts{}, diag.Errors(nil)
	for i := range s.Models {
		at := s.Models[i].Script
		if !at.Present() || loaded[at.Value] != nil {
			continue
		}
		script, err := scripted.LoadScript(filepath.ToSlash(at.Value)) // one spelling in reports everywhere
		if err != nil {
			errs = append(errs, scriptErrors(at, err)...)
			continue
		}
		if loaded[at.Value] = script; s.Answer != nil && !script.Answers() {
			errs = append(errs, at.Errorf("%s has no answer, and this spec asks for one: want answer: TEXT beside its turns", at.Value))
		}
	}
	return loaded, errs
}

// scriptErrors keeps a script's own positions; that it cannot be read is the spec's.
func scriptErrors(at yamlpos.At[string], err error) diag.Errors {
	if errs, ok := err.(diag.Errors); ok {
		return errs
	}
	return diag.Errors{at.Errorf("%s: %v", at.Value, withoutPath(err))}
}

// unused says which entries no call came to, in the order of the spec's models.
func (l scripts) unused(s *spec.Spec, asked map[string][][2]int) []string {
	calls := map[string][][2]int{} // by path: models may share a script
	var paths []string
	for i := range s.Models {
		m := &s.Models[i]
		path := m.Script.Value
		if l[path] == nil {
			continue
		}
		if _, seen := calls[path]; !seen {
			paths = append(paths, path)
		}
		calls[path] = append(calls[path], asked[m.ID.Value]...)
	}
	var list []string
	for _, path := range paths {
		for _, unused := range l[path].Unused(calls[path]) {
			list = append(list, unused.Error())
		}
	}
	return list
}

// model makes the model of one run. Policies may learn from turn to turn, so no two runs
// share one.
func (l scripts) model(m run.ModelFor) (loop.Model, error) {
	if m.Model.Script.Present() {
		return l[m.Model.Script.Value].Model(), nil
	}
	oracle := scripted.Oracle{Truth: m.Truth, Budget: m.Budget.Memory, Counter: m.Count}
	switch m.Model.Policy.Value {
	case "oracle":
		return oracle, nil
	case spec.NoisyOracle:
		return noisy(oracle, m), nil
	case "always_update":
		return scripted.AlwaysUpdate{Budget: m.Budget.Memory, Counter: m.Count}, nil
	case "never_update":
		return scripted.NeverUpdate{}, nil
	case "lexical":
		return scripted.NewLexical(m.Budget.Memory, m.Count), nil
	}
	return nil, fmt.Errorf("model %s: no such policy as %q", m.Cell.Model, m.Model.Policy.Value)
}

func noisy(oracle scripted.Oracle, m run.ModelFor) scripted.NoisyOracle {
	return scripted.NoisyOracle{
		Oracle:      oracle,
		WrongUpdate: m.Model.WrongUpdate.Value, WrongExit: m.Model.WrongExit.Value, Malformed: m.Model.Malformed.Value,
		Seed: m.Model.Seed.Value, Query: m.Cell.Query, Corpus: m.Cell.Session,
		Level: int(m.Cell.Level), Trial: m.Cell.Trial,
	}
}
