package loop

import (
	"github.com/poimen-memory/mem/gate"
	"github.com/poimen-memory/mem/prompt"
)

// Schema is the version of the event log's format.
const Schema = 1

// Level is a tier of memory: L0 evidence (a chunk's own bytes), L1 the memory of one
// session, L2 memory over L1 memories. The loop never asks which it is.
type Level int

// Event is one line of a run's log. Events hold no clock, path or name, and nothing but
// their level fields depends on the level, so logs of two levels can be compared. The types
// of this package are all that there are.
type Event interface {
	Type() string // the event's name in the log
	sealed()
}

// RunStart opens a log. SHAs are SHA-256 in hex. StartTurn and StartMemorySHA are the start
// state of a run that continues a session, and are not written if they are zero.
type RunStart struct {
	Schema         int    `json:"schema"`
	Level          Level  `json:"level"`
	QuerySHA       string `json:"query_sha"`
	UseExitGate    bool   `json:"use_exit_gate"`
	MemoryBudget   int    `json:"memory_budget"` // tokens
	Tokenizer      string `json:"tokenizer"`
	StartTurn      int    `json:"start_turn,omitempty"`       // turns before this log; its first turn is the next
	StartMemorySHA string `json:"start_memory_sha,omitempty"` // of the memory that the first turn is shown
}

// Gate is what the model said at a turn that parsed. Whether the update took place is
// told by the events after it in the turn: Evidence and Memory, or BudgetExceeded.
type Gate struct {
	Level    Level  `json:"level"`
	Turn     int    `json:"turn"` // 1-based in the session
	ChunkSHA string `json:"chunk_sha"`
	Update   bool   `json:"update"`
	Exit     bool   `json:"exit"` // recorded always, acted on only with UseExitGate
	Attempts int    `json:"attempts"`
}

// Evidence is the chunk that an update rests on, one level below the run.
type Evidence struct {
	Level Level  `json:"level"`
	Turn  int    `json:"turn"`
	SHA   string `json:"sha"`   // of the rendered chunk
	Bytes int    `json:"bytes"` // its length
}

// Memory is the new memory M_t. Parents are the evidence's sha and the previous memory's,
// which may be the start memory's; the first memory has only the former.
type Memory struct {
	Level   Level    `json:"level"`
	Turn    int      `json:"turn"`
	SHA     string   `json:"sha"`
	Parents []string `json:"parents"`
	Tokens  int      `json:"tokens"` // as rendered in a prompt
	Text    string   `json:"text"`
}

// Measured is the memory as a value of the prompt's template, not counted again.
func (m Memory) Measured() prompt.Text {
	t := prompt.Text{Raw: m.Text, Tokens: m.Tokens}
	t.Sent, t.Reserved, t.GateTags = prompt.Escape(m.Text)
	return t
}

// BudgetExceeded is an update that was rejected for its length; the turn retained.
type BudgetExceeded struct {
	Level        Level  `json:"level"`
	Turn         int    `json:"turn"`
	Tokens       int    `json:"tokens"`
	Budget       int    `json:"budget"`
	CandidateSHA string `json:"candidate_sha"`
}

// ParseFailed is a turn none of whose replies parsed, with each attempt's kind of
// failure; the turn retained and went on.
type ParseFailed struct {
	Level    Level       `json:"level"`
	Turn     int         `json:"turn"`
	Attempts int         `json:"attempts"`
	Kinds    []gate.Kind `json:"kinds"`
}

// RunEnd closes a log. ChunksSeen and ChunksUsed count the turns of this log, and those of
// them that wrote a memory; turns before a start state count for neither. FinalMemorySHA is
// that of the start memory if no turn wrote another.
type RunEnd struct {
	Level          Level     `json:"level"`
	ChunksSeen     int       `json:"chunks_seen"`
	ChunksUsed     int       `json:"chunks_used"`
	FinalMemorySHA *string   `json:"final_memory_sha"` // nil: no memory
	StoppedBy      StoppedBy `json:"stopped_by"`
}

// StoppedBy says what ended a run.
type StoppedBy string

// The two ends of Algorithm 1.
const (
	SourceEnd StoppedBy = "source_end"
	ExitGate  StoppedBy = "exit_gate"
)

// Type is "run_start".
func (RunStart) Type() string { return "run_start" }

// Type is "gate".
func (Gate) Type() string { return "gate" }

// Type is "evidence".
func (Evidence) Type() string { return "evidence" }

// Type is "memory".
func (Memory) Type() string { return "memory" }

// Type is "budget_exceeded".
func (BudgetExceeded) Type() string { return "budget_exceeded" }

// Type is "parse_failed".
func (ParseFailed) Type() string { return "parse_failed" }

// Type is "run_end".
func (RunEnd) Type() string { return "run_end" }

func (RunStart) sealed()       {}
func (Gate) sealed()           {}
func (Evidence) sealed()       {}
func (Memory) sealed()         {}
func (BudgetExceeded) sealed() {}
func (ParseFailed) sealed()    {}
func (RunEnd) sealed()         {}
