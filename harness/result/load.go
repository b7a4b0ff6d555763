package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/internal/parallel"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/internal/inputfile"
	"github.com/poimen-memory/mem/prompt"
)

// maxObjects bounds what a summary.json decodes to. Each run has about three objects, and
// those of inputfile.MaxSummary bytes have fewer than these.
const maxObjects = 250_000

// Load reads a result back from the folder that an evaluation wrote it to. A folder of
// another schema is refused: what it does not hold would be read as zero.
func Load(folder record.Folder) (*Result, error) {
	path := folder.Path(record.Summary)
	data, err := record.ReadFile(folder, record.Summary, inputfile.MaxSummary)
	if err != nil {
		return nil, fmt.Errorf("%w: want the folder of an experiment, as mem eval writes it", err)
	}
	if n := bytes.Count(data, []byte("{")); n > maxObjects {
		return nil, fmt.Errorf("%s: found %d objects, want at most %d: mem eval writes no such file", path, n, maxObjects)
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
	for i, run := range r.Runs {
		if !fs.ValidPath(run.Name) || run.Name == "." || !filepath.IsLocal(filepath.FromSlash(run.Name)) {
			return nil, fmt.Errorf("%s: runs[%d].name: found %q, want a path below the folder's runs, as mem eval writes it", path, i, run.Name)
		}
	}
	return r, nil
}

// ReadRuns reads the turns of a result's runs back from their records in its folder, as the
// metrics see them; skipped runs are left out.
func ReadRuns(folder record.Folder, r *Result) ([]stat.Run, error) {
	var runs []Run
	for _, run := range r.Runs {
		if run.State != record.Skipped {
			runs = append(runs, run)
		}
	}
	observed, errs := make([]stat.Run, len(runs)), make([]error, len(runs))
	const files = 8 // at a time: most of it is waiting
	parallel.Do(files, len(runs), func(i int) {
		observed[i], errs[i] = readRun(folder, runs[i])
	})
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("run %s: %w", runs[i].Name, err)
		}
	}
	return observed, nil
}

func readRun(folder record.Folder, run Run) (stat.Run, error) {
	if run.ChunksSeen == 0 {
		return observe(run, nil), nil
	}
	rec, err := folder.Open(run.Name)
	if err != nil {
		return stat.Run{}, err
	}
	var turns []stat.Turn
	for turn, err := range JudgedTurns(rec, run) {
		if err != nil {
			return stat.Run{}, err
		}
		if turns = append(turns, turn.Judged); len(turns) == run.ChunksSeen {
			return observe(run, turns), nil
		}
	}
	return stat.Run{}, fmt.Errorf("%s holds %s, %s says %d: the folder is not as it was written", record.Events, diag.Count(len(turns), "turn"), record.Summary, run.ChunksSeen)
}

// JudgedTurn is a turn of a record with what the labels make of it.
type JudgedTurn struct {
	record.Turn
	Judged stat.Turn
}

// Turns reads the turns of a result's run; nil where it has no record.
type Turns func(run Run) iter.Seq2[JudgedTurn, error]

// TurnsIn reads turns from the records in a folder.
func TurnsIn(folder record.Folder) Turns {
	return func(run Run) iter.Seq2[JudgedTurn, error] {
		rec, err := folder.Open(run.Name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return func(yield func(JudgedTurn, error) bool) { yield(JudgedTurn{}, err) }
		}
		return JudgedTurns(rec, run)
	}
}

// JudgedTurns gives the turns of a run's record as the metrics see them.
func JudgedTurns(rec *record.Record, run Run) iter.Seq2[JudgedTurn, error] {
	evidence := map[int]bool{}
	for _, n := range run.Evidence {
		evidence[n] = true
	}
	return func(yield func(JudgedTurn, error) bool) {
		var memory *prompt.Text
		for turn, err := range rec.Read().Turns() {
			if err != nil {
				yield(JudgedTurn{}, err)
				return
			}
			if !yield(JudgedTurn{turn, judgeTurn(turn, evidence[turn.Number], memory)}, nil) {
				return
			}
			if turn.Written {
				text := turn.Memory.Measured()
				memory = &text
			}
		}
	}
}
