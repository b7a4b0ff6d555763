package record

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/poimen-memory/mem/internal/inputfile"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/journal"
)

// Unrecorded is the end of a run that its record does not hold.
type Unrecorded struct {
	End
	Begun bool // the record, as far as it goes, is of this run
}

// Outcome is what a run left for runs that depend on it.
type Outcome struct {
	End
	Memory  *string // final; nil: none
	Turns   int     // whole ones
	Written []int   // turns that wrote a memory
}

// EndOf is how a record says that its run ended. damage is the error of reading it.
func (r *Record) EndOf(p *Reading, damage error) End {
	switch {
	case damage != nil:
		return End{State: Incomplete, Reason: damage.Error()}
	case p.End != nil:
		return r.recordedEnd(*p.End)
	case !r.Header.Chained() && p.Ended != nil: // records of schema 1 have no end
		return End{State: Complete}
	}
	return End{State: Incomplete, Reason: fmt.Sprintf("its record was interrupted after turn %d: %s", p.turns, r.Again())}
}

// Again is the command that completes or replaces the record.
func (r *Record) Again() string {
	if r.Header.Live() {
		return "run mem eval --live --resume"
	}
	return "run mem eval"
}

// recordedEnd holds the log against the digest that its journal ends with.
func (r *Record) recordedEnd(e journal.End) End {
	path := filepath.Join(r.dir, Events)
	sum, err := FileSHA(path)
	switch {
	case err != nil:
		return End{State: Incomplete, Reason: err.Error()}
	case sum != e.LogSHA256:
		return End{State: Incomplete, Reason: fmt.Sprintf("%s is not the log that its journal ends with (log_sha256): see mem verify %s", path, r.dir)}
	}
	return End{State: State(e.State), Reason: e.Reason}
}

// FileSHA is the SHA-256 of a file's bytes; one that does not exist has none.
func FileSHA(path string) (string, error) {
	f, err := inputfile.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return hex.EncodeToString(sha256.New().Sum(nil)), nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// LoopOutcome is what the loop said when it returned.
type LoopOutcome struct {
	ChunksSeen, ChunksUsed int
	Memory                 *string // final; nil: none
	StoppedBy              loop.StoppedBy
}

// OutcomeOf is what the loop said, or what the log says where it was not recorded: of a run
// that was killed, and of one that was stopped while it still replayed.
func (r *Record) OutcomeOf(p *Reading) LoopOutcome {
	out := LoopOutcome{ChunksSeen: p.turns, ChunksUsed: p.used, Memory: p.memory}
	if p.Ended != nil {
		out.StoppedBy = p.Ended.StoppedBy
	}
	if p.End == nil || p.End.Outcome == nil {
		return out
	}
	said := p.End.Outcome
	out.ChunksSeen, out.ChunksUsed, out.StoppedBy = said.ChunksSeen, said.ChunksUsed, said.StoppedBy
	if said.OtherMemory {
		out.Memory = said.Memory
	}
	return out
}
