package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/eventlog"
	"github.com/poimen-memory/mem/loop/journal"
)

// sampler is a live model: what it answers is paid for, so it is recorded whole, never
// overwritten, and can be resumed.
type sampler interface{ Sampling() map[string]any }

// filed is a model that says what stands in a file, whose name tells no two contents apart.
type filed interface{ SHA() string }

// recording is where a run's calls and events go, and the model that the run asks.
type recording struct {
	model  loop.Model
	events io.WriteCloser
	calls  io.Closer
}

func (r recording) close() {
	r.events.Close()
	r.calls.Close()
}

const (
	eventsFile = "events.jsonl"
	callsFile  = "calls.jsonl"
)

// askedBy makes what a run asks, which records each call in w before it hands on the reply.
type askedBy func(w io.Writer) loop.Model

// record opens a run's files and puts the journal between it and its model.
func (e *Experiment) record(j *job, model loop.Model) (recording, error) {
	dir := e.runDir(j.Name)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return recording{}, err
	}
	live, isLive := model.(sampler)
	h := e.header(j)
	if file, ok := model.(filed); ok {
		h.Model["sha"] = file.SHA()
	}
	if !isLive {
		if e.cfg.Resume && holdsLive(filepath.Join(dir, callsFile)) {
			return recording{}, &otherRecording{filepath.Join(dir, callsFile), "it is of a live model, and the spec's is none"}
		}
		return begin(dir, h, recorder(h, model, true))
	}
	h.Model = journal.LiveModel(j.Model, live.Sampling())
	ask, err := e.asking(j, h, model)
	switch {
	case err != nil:
		return recording{}, err
	case e.cfg.Resume:
		return e.resume(dir, h, ask)
	}
	return begin(dir, h, ask)
}

// asking is what a run of a live model asks: it, or the journal of the run's twin first.
func (e *Experiment) asking(j *job, h journal.Header, model loop.Model) (askedBy, error) {
	if j.twin != "" {
		return e.replayTwin(j, h, model)
	}
	return recorder(h, model, false), nil
}

func recorder(h journal.Header, model loop.Model, terse bool) askedBy {
	return func(w io.Writer) loop.Model { return journal.Recorder{Header: h, Model: model, W: w, Terse: terse} }
}

// begin starts both files anew.
func begin(dir string, h journal.Header, ask askedBy) (recording, error) {
	events, err := os.Create(filepath.Join(dir, eventsFile))
	if err != nil {
		return recording{}, err
	}
	calls, err := os.Create(filepath.Join(dir, callsFile))
	if err != nil {
		events.Close()
		return recording{}, err
	}
	return recording{model: ask(calls), events: events, calls: calls}, journal.Recorder{Header: h, W: calls}.Start()
}

// replayTwin answers the run with the exit gate enforced from the journal of the recorded
// one: both come from one set of calls. Its own journal holds digests and replies, but for an
// answer from a memory that the recorded run did not end with: that is asked for.
func (e *Experiment) replayTwin(j *job, h journal.Header, model loop.Model) (askedBy, error) {
	from := filepath.Join(e.runDir(j.twin), callsFile)
	recorded, calls, err := journal.ReadFile(from)
	if err != nil {
		return nil, err
	}
	if diff := recorded.Difference(h, true); diff != "" {
		return nil, &otherRecording{from, diff}
	}
	replay := journal.NewReplay(recorded, calls)
	answered := slices.ContainsFunc(calls, func(c journal.Call) bool { return c.Turn == loop.AnswerTurn && c.Error == "" })
	return func(w io.Writer) loop.Model {
		return twin{replay, answered, recorder(h, replay, true)(w), recorder(h, model, false)(w)}
	}, nil
}

// twin answers from another run's journal, and asks for an answer that is not in it.
type twin struct {
	replay         *journal.Replay
	answered       bool // there is an answer in it
	recorded, live loop.Model
}

// errUnanswered keeps a run from asking for an answer that may yet be asked for by the run
// that it replays.
var errUnanswered = errors.New("the run with the exit gate recorded has no answer yet")

// Complete answers, or asks for the answer where the other run asked for another one.
func (t twin) Complete(ctx context.Context, r loop.Request) (loop.Completion, error) {
	first := r
	first.Attempt = 1
	switch {
	case r.Turn != loop.AnswerTurn || t.replay.Has(first):
		return t.recorded.Complete(ctx, r)
	case !t.answered:
		return loop.Completion{}, errUnanswered
	}
	return t.live.Complete(ctx, r)
}

// resume answers from the run's own journal as far as that goes, and asks then.
func (e *Experiment) resume(dir string, h journal.Header, ask askedBy) (recording, error) {
	path := filepath.Join(dir, callsFile)
	f, recorded, calls, err := journal.Continue(path)
	if err != nil {
		return recording{}, err
	}
	fresh := recorded.Schema == 0
	if diff := recorded.Difference(h, true); diff != "" && !fresh {
		f.Close()
		return recording{}, &otherRecording{path, diff}
	}
	if fresh {
		recorded = h
		err = journal.Recorder{Header: h, W: f}.Start()
	}
	events, logErr := eventlog.Resume(filepath.Join(dir, eventsFile), e.countRendered)
	if err := errors.Join(err, logErr); err != nil {
		f.Close()
		return recording{}, err
	}
	replay := journal.NewReplay(recorded, calls)
	replay.Next = ask(f)
	return recording{model: replay, events: events, calls: f}, nil
}

// otherRecording is a journal that was made under other circumstances.
type otherRecording struct{ path, difference string }

func (e *otherRecording) Error() string {
	return fmt.Sprintf("%s is of another experiment: %s", e.path, e.difference)
}

// Misconfigured is true: no call would mend it.
func (e *otherRecording) Misconfigured() bool { return true }

// live reports whether a job's model is one that calls are paid for.
func (j *job) live() bool { return j.model.Live != nil }

// recorded reports whether a job's replies come, or came, from a server.
func (j *job) recorded() bool { return j.live() || j.model.Replay != nil }

// pairTwins makes runs of live models with the exit gate enforced rest on the recorded
// run of the same cell, where there is one.
func pairTwins(jobs []*job) {
	recorded := map[Cell]string{}
	key := func(j *job, exit string) Cell {
		c := j.Cell
		c.Name, c.ExitGate = "", exit
		return c
	}
	for _, j := range jobs {
		if j.recorded() && j.ExitGate == spec.Record {
			recorded[key(j, spec.Record)] = j.Name
		}
	}
	for _, j := range jobs {
		if j.recorded() && j.ExitGate == spec.Enforce {
			j.twin = recorded[key(j, spec.Record)]
		}
	}
}
