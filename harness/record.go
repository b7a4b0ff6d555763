package harness

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

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
	switch {
	case !isLive && e.cfg.Resume && holdsLive(filepath.Join(dir, callsFile)):
		return recording{}, &otherRecording{filepath.Join(dir, callsFile), "it is of a live model, and the spec's is none"}
	case !isLive:
		return begin(dir, journal.Recorder{Header: h, Model: model, Terse: true})
	case j.twin != "":
		h.Model = journal.LiveModel(j.Model, live.Sampling())
		return e.replayTwin(dir, j, h)
	}
	h.Model = journal.LiveModel(j.Model, live.Sampling())
	if e.cfg.Resume {
		return e.resume(dir, journal.Recorder{Header: h, Model: model})
	}
	return begin(dir, journal.Recorder{Header: h, Model: model})
}

// begin starts both files anew.
func begin(dir string, rec journal.Recorder) (recording, error) {
	events, err := os.Create(filepath.Join(dir, eventsFile))
	if err != nil {
		return recording{}, err
	}
	calls, err := os.Create(filepath.Join(dir, callsFile))
	if err != nil {
		events.Close()
		return recording{}, err
	}
	rec.W = calls
	return recording{model: rec, events: events, calls: calls}, rec.Start()
}

// replayTwin answers the run with the exit gate enforced from the journal of the recorded
// one: both come from one set of calls. Its own journal holds digests and replies.
func (e *Experiment) replayTwin(dir string, j *job, h journal.Header) (recording, error) {
	from := filepath.Join(e.runDir(j.twin), callsFile)
	recorded, calls, err := journal.ReadFile(from)
	if err != nil {
		return recording{}, err
	}
	if diff := recorded.Difference(h, true); diff != "" {
		return recording{}, &otherRecording{from, diff}
	}
	return begin(dir, journal.Recorder{Header: h, Model: journal.NewReplay(recorded, calls), Terse: true})
}

// resume answers from the run's own journal as far as that goes, and asks the model then.
func (e *Experiment) resume(dir string, rec journal.Recorder) (recording, error) {
	path := filepath.Join(dir, callsFile)
	f, recorded, calls, err := journal.Continue(path)
	if err != nil {
		return recording{}, err
	}
	rec.W = f
	fresh := recorded.Schema == 0
	if diff := recorded.Difference(rec.Header, true); diff != "" && !fresh {
		f.Close()
		return recording{}, &otherRecording{path, diff}
	}
	if fresh {
		recorded = rec.Header
		err = rec.Start()
	}
	events, logErr := eventlog.Resume(filepath.Join(dir, eventsFile), e.countRendered)
	if err := errors.Join(err, logErr); err != nil {
		f.Close()
		return recording{}, err
	}
	replay := journal.NewReplay(recorded, calls)
	replay.Next = rec
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
