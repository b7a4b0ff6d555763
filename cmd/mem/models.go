package main

import (
	"fmt"
	"path/filepath"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/spec/yamlpos"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/scripted"
)

// scripts are the gate scripts of one spec, by path: models that name one file share it,
// and with it the record of what was used.
type scripts map[string]*scripted.Script

// loadScripts reads them all before anything runs.
func loadScripts(s *spec.Spec) (scripts, yamlpos.Errors) {
	loaded, errs := scripts{}, yamlpos.Errors(nil)
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
		loaded[at.Value] = script
	}
	return loaded, errs
}

// scriptErrors keeps a script's own positions; that it cannot be read is the spec's.
func scriptErrors(at yamlpos.At[string], err error) yamlpos.Errors {
	if errs, ok := err.(yamlpos.Errors); ok {
		return errs
	}
	return yamlpos.Errors{at.Errorf("%s: %v", at.Value, reason(err))}
}

// unused says which entries no run came to, in the order of the spec's models.
func (l scripts) unused(s *spec.Spec) []string {
	var list []string
	seen := map[string]bool{}
	for i := range s.Models {
		path := s.Models[i].Script.Value
		if script := l[path]; script != nil && !seen[path] {
			for _, u := range script.Unused() {
				list = append(list, u.Error())
			}
		}
		seen[path] = true
	}
	return list
}

// model makes the model of one run. Policies may learn from turn to turn, so no two runs
// share one.
func (l scripts) model(m harness.ModelFor) (loop.Model, error) {
	if m.Model.Script.Present() {
		return l[m.Model.Script.Value].Model(), nil
	}
	oracle := scripted.Oracle{Truth: truth(m.Truth), Budget: m.Budget.Memory, Counter: m.Count}
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

func noisy(oracle scripted.Oracle, m harness.ModelFor) scripted.NoisyOracle {
	return scripted.NoisyOracle{
		Oracle:      oracle,
		WrongUpdate: m.Model.WrongUpdate.Value, WrongExit: m.Model.WrongExit.Value, Malformed: m.Model.Malformed.Value,
		Seed: m.Model.Seed.Value, Query: m.Cell.Query, Corpus: m.Cell.Session,
		Level: int(m.Cell.Level), Trial: m.Cell.Trial,
	}
}

func truth(known []harness.Truth) []scripted.Truth {
	list := make([]scripted.Truth, len(known))
	for i, t := range known {
		list[i] = scripted.Truth(t)
	}
	return list
}
