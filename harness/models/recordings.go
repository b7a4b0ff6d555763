package models

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/run"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/journal"
)

// recordings says for each replaying model of a spec which recorded model answers.
type recordings map[string]string

// findRecordings looks into the recordings before anything runs.
func findRecordings(s *spec.Spec) (recordings, diag.Errors) {
	found, errs := recordings{}, diag.Errors(nil)
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
func (l recordings) model(m run.ModelFor) (loop.Model, error) {
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
func (l recordings) journal(m run.ModelFor, exit string) (journal.Header, []journal.Call, error) {
	cell := m.Cell
	cell.Model, cell.ExitGate = l[m.Cell.Model], exit
	folder, recorded := record.Folder{Dir: m.Model.Replay.Path.Value}, cell.Named(m.Spec.Trials).Name
	j, err := record.ReadCalls(folder, recorded)
	if err != nil {
		return j.Header, nil, &badRecording{fmt.Errorf("the recording has no run for this one: %w", err)}
	}
	if diff := j.Header.Difference(m.Header, false); diff != "" {
		return j.Header, nil, &badRecording{fmt.Errorf("%s: %s", folder.CallsPath(recorded), diff)}
	}
	return j.Header, j.Calls, nil
}

// withOwnAnswer has the enforced run's answer, from a memory of its own, in place of the
// recorded run's. A recording without enforced runs has only the latter, which does where
// both ended with one memory.
func (l recordings) withOwnAnswer(m run.ModelFor, recorded []journal.Call) ([]journal.Call, error) {
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

// recordedModel is the model to take: the one named, the one of the same id, or the only
// one that there is.
func recordedModel(m *spec.Model) (string, *diag.Error) {
	path, want := m.Replay.Path, m.Replay.Model.Value
	_, variant := spec.SplitModel(m.ID.Value)
	known, err := record.Folder{Dir: path.Value}.LiveModels()
	if of := spec.JoinVariant(cmp.Or(want, onlyModel(known), m.Base()), variant); slices.Contains(known, of) {
		return of, nil // of the same variant
	}
	switch {
	case err != nil:
		return "", path.Errorf("%s: %v", path.Value, withoutPath(err))
	case len(known) == 0:
		return "", path.Errorf("%s holds no journal of a live model", path.Value)
	case want != "" && !slices.Contains(known, want):
		return "", m.Replay.Model.Errorf("%s", diag.OneOf(want, known))
	case want != "":
		return want, nil
	case len(known) == 1:
		return known[0], nil
	case !slices.Contains(known, m.Base()):
		return "", path.Errorf("%s: want {path: …, model: …} with one of its models: %s", path.Value, strings.Join(known, ", "))
	}
	return m.Base(), nil
}

// onlyModel is the model of all recorded variants; "" if there are several.
func onlyModel(known []string) (model string) {
	for i, id := range known {
		if of, _ := spec.SplitModel(id); i == 0 || of == model {
			model = of
		} else {
			return ""
		}
	}
	return model
}

// badRecording is a recording that cannot answer: what was named is not what was recorded.
type badRecording struct{ err error }

func (e *badRecording) Error() string       { return e.err.Error() }
func (e *badRecording) Unwrap() error       { return e.err }
func (e *badRecording) Misconfigured() bool { return true }

// withoutPath is an error about a file without its name, which the message has already.
func withoutPath(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
