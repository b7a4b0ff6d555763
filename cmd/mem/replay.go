package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/spec/yamlpos"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/journal"
)

// recordings says for each replaying model of a spec which recorded model answers.
type recordings map[string]string

// findRecordings looks into the recordings before anything runs.
func findRecordings(s *spec.Spec) (recordings, yamlpos.Errors) {
	found, errs := recordings{}, yamlpos.Errors(nil)
	for i := range s.Models {
		m := &s.Models[i]
		if m.Replay == nil {
			continue
		}
		id, wrong := recordedModel(m)
		if wrong != nil {
			errs = append(errs, wrong)
			continue
		}
		found[m.ID.Value] = id
	}
	return found, errs
}

// model answers a run from a recording, which is the folder of an experiment's live
// results. The enforced exit gate replays the recorded one's calls, as it did when live.
func (l recordings) model(m harness.ModelFor) (loop.Model, error) {
	h, calls, err := l.journal(m, spec.Record)
	if err != nil {
		return nil, err
	}
	if m.Spec.Answer != nil && m.Cell.ExitGate == spec.Enforce {
		if calls, err = l.withOwnAnswer(m, calls); err != nil {
			return nil, err
		}
	}
	return journal.NewReplay(h, calls), nil
}

// journal is that of the recorded run with an exit setting.
func (l recordings) journal(m harness.ModelFor, exit string) (journal.Header, []journal.Call, error) {
	path := filepath.Join(m.Model.Replay.Path.Value, "runs", recordedRun(m.Cell, l[m.Cell.Model], m.Spec.Trials, exit), "calls.jsonl")
	h, calls, err := journal.ReadFile(path)
	if err != nil {
		return h, nil, &badRecording{fmt.Errorf("the recording has no run for this one: %w", err)}
	}
	if diff := h.Difference(m.Header, false); diff != "" {
		return h, nil, &badRecording{fmt.Errorf("%s: %s", path, diff)}
	}
	return h, calls, nil
}

// withOwnAnswer has the enforced run's answer, from a memory of its own, in place of the
// recorded run's. A recording without enforced runs has only the latter, which does where
// both ended with one memory.
func (l recordings) withOwnAnswer(m harness.ModelFor, recorded []journal.Call) ([]journal.Call, error) {
	_, own, err := l.journal(m, spec.Enforce)
	if errors.Is(err, fs.ErrNotExist) {
		return recorded, nil
	}
	if err != nil {
		return nil, err
	}
	turn := func(c journal.Call) bool { return c.Turn != loop.AnswerTurn }
	return append(slices.DeleteFunc(own, turn), slices.DeleteFunc(recorded, func(c journal.Call) bool { return !turn(c) })...), nil
}

func recordedRun(c harness.Cell, model string, trials int, exit string) string {
	name := []string{c.Session, c.Query, c.Level.String(), model, exit}
	if trials > 1 {
		name = append(name, fmt.Sprintf("t%d", c.Trial))
	}
	return filepath.Join(strings.Split(strings.Join(name, "/"), "/")...)
}

// recordedModel is the model to take: the one named, the one of the same id, or the only
// one that there is.
func recordedModel(m *spec.Model) (string, *yamlpos.Error) {
	path, want := m.Replay.Path, m.Replay.Model.Value
	known, err := recordedModels(filepath.Join(path.Value, "runs"))
	switch {
	case err != nil:
		return "", path.Errorf("%s: %v", path.Value, reason(err))
	case len(known) == 0:
		return "", path.Errorf("%s holds no journal of a live model", path.Value)
	case want != "" && !slices.Contains(known, want):
		return "", m.Replay.Model.Errorf("%s", yamlpos.OneOf(want, known))
	case want != "":
		return want, nil
	case len(known) == 1:
		return known[0], nil
	case !slices.Contains(known, m.ID.Value):
		return "", path.Errorf("%s: want {path: …, model: …} with one of its models: %s", path.Value, strings.Join(known, ", "))
	}
	return m.ID.Value, nil
}

// recordedModels are the models of a recording's live runs: the last folder but one, or
// but two with trials, of each path SESSION/QUERY/LEVEL/MODEL/EXIT[/TRIAL].
func recordedModels(dir string) ([]string, error) {
	var models []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.Name() != "calls.jsonl" {
			return err
		}
		h, err := journal.ReadHeader(path)
		if id, ok := h.Model["id"].(string); err == nil && ok && h.Live() && !slices.Contains(models, id) {
			models = append(models, id)
		}
		return nil
	})
	slices.Sort(models)
	return models, err
}

// badRecording is a recording that cannot answer: what was named is not what was recorded.
type badRecording struct{ err error }

func (e *badRecording) Error() string       { return e.err.Error() }
func (e *badRecording) Unwrap() error       { return e.err }
func (e *badRecording) Misconfigured() bool { return true }
