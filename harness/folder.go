package harness

import (
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/eventlog"
	"github.com/poimen-memory/mem/loop/journal"
)

// Load reads a result back from the folder that an evaluation wrote it to. A folder of
// another schema is refused: what it does not hold would be taken for nought.
func Load(dir string) (*Result, error) {
	path := filepath.Join(dir, "summary.json")
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w: want the folder of an experiment, as mem eval writes it", err)
	}
	var head struct {
		Schema int `json:"schema"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, fmt.Errorf("%s: %v", path, err)
	}
	if head.Schema != SchemaVersion {
		return nil, fmt.Errorf("%s: found schema %d, this program reads %d: run mem eval again", path, head.Schema, SchemaVersion)
	}
	r := &Result{}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("%s: %v", path, err)
	}
	return r, nil
}

// ReadRuns reads the turns of a result's runs back from their logs in its folder, as the
// metrics see them; skipped runs are left out. The replies, which may be gigabytes, are
// read only if asked for; without them retain_drift is undefined.
func ReadRuns(dir string, r *Result, replies bool) ([]stat.Run, error) {
	var runs []Run
	for _, run := range r.Runs {
		if run.State != Skipped {
			runs = append(runs, run)
		}
	}
	observed, errs := make([]stat.Run, len(runs)), make([]error, len(runs))
	const files = 8 // at a time: most of it is waiting
	parallel(files, len(runs), func(i int) {
		observed[i], errs[i] = readRun(dir, runs[i], replies)
	})
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("run %s: %w", runs[i].Name, err)
		}
	}
	return observed, nil
}

func readRun(dir string, run Run, replies bool) (stat.Run, error) {
	if run.ChunksSeen == 0 {
		return observe(run, nil), nil
	}
	dir = filepath.Join(dir, "runs", filepath.FromSlash(run.Name))
	said := map[int]loop.Completion{}
	if replies {
		var err error
		if said, err = lastReplies(filepath.Join(dir, callsFile)); err != nil {
			return stat.Run{}, err
		}
	}
	f, err := os.Open(filepath.Join(dir, eventsFile))
	if err != nil {
		return stat.Run{}, err
	}
	defer f.Close()
	turns, err := readTurns(f, run, said)
	return observe(run, turns), err
}

// readTurns counts a log's turns as they were counted when it was written. What follows
// the last whole turn of an interrupted run is left.
func readTurns(log io.Reader, run Run, said map[int]loop.Completion) ([]stat.Turn, error) {
	t := tally{evidence: map[int]bool{}}
	for _, turn := range run.Evidence {
		t.evidence[turn] = true
	}
	for unit, err := range turnUnits(log) {
		if err != nil {
			return nil, err
		}
		t.reply = said[len(t.turns)+1]
		if t.turn(unit); len(t.turns) == run.ChunksSeen {
			return t.turns, nil
		}
	}
	return nil, fmt.Errorf("events.jsonl holds %s, summary.json says %d: the folder is not as it was written", plural(len(t.turns), "turn"), run.ChunksSeen)
}

// turnUnits are the events of each turn.
func turnUnits(log io.Reader) iter.Seq2[[]loop.Event, error] {
	return func(yield func([]loop.Event, error) bool) {
		var unit []loop.Event
		for e, err := range eventlog.Read(log) {
			if err != nil {
				yield(nil, err)
				return
			}
			if opens(e) && len(unit) > 0 {
				if !yield(unit, nil) {
					return
				}
				unit = nil
			}
			if _, header := e.(loop.RunStart); !header {
				unit = append(unit, e)
			}
		}
		if len(unit) > 0 {
			yield(unit, nil)
		}
	}
}

// opens says whether an event is the first of a turn, or ends the run.
func opens(e loop.Event) bool {
	switch e.(type) {
	case loop.Gate, loop.ParseFailed, loop.RunEnd:
		return true
	}
	return false
}

// lastReplies are the replies that decided each turn.
func lastReplies(path string) (map[int]loop.Completion, error) {
	_, calls, err := journal.ReadFile(path)
	if err != nil {
		return nil, err
	}
	said := map[int]loop.Completion{}
	for _, c := range calls {
		if c.Error == "" {
			said[c.Turn] = loop.Completion{Text: c.Reply, Reasoning: c.Reasoning, Finish: c.Finish}
		}
	}
	return said, nil
}
