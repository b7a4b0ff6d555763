package stat

import "github.com/poimen-memory/mem/harness/stat/answer"

// Turn is one turn with a model reply, as the metrics see it. A turn without a reply (a
// transport failure) is not a Turn: its run is Incomplete.
type Turn struct {
	Evidence   bool // the chunk overlaps a label
	Parsed     bool
	FirstTry   bool // parsed at attempt 1
	Update     bool // U_t as replied; false if not parsed
	Exit       bool // E_t as replied; false if not parsed
	Written    bool // the update became the memory
	OverBudget bool // the update was rejected for its length

	Candidate    bool // the reply held a candidate memory
	Differs      bool // of a turn that replied no: the ignored candidate is not the memory
	Changed      bool // the memory's bytes after the turn are not those before it
	MemoryTokens int  // of the memory after the turn
}

// Run is the turns of one run in order, with what names it.
type Run struct {
	Query   string // as cluster.Names names it: ids that are one query have one name
	ID      string // of the query in the spec, where that is another; tells the runs of merged ids apart
	Session string // as cluster.Names names it; empty: Corpus
	Corpus  string // the source that trials repeat
	Level   string
	Model   string
	Exit    string            // the exit setting: ExitRecord (or empty), ExitEnforce
	Tags    map[string]string // of the query; may be shared between runs
	Trial   int

	Turns        []Turn
	Total        int   // T, chunks of the whole source; 0: as many as Turns
	Evidence     []int // 1-based evidence chunks of the whole source, ascending; nil: those of Turns
	MemoryTokens int   // of the final memory
	// Incomplete says that the run stopped early: it is in no estimate, and all its T turns
	// are missing to a decision. Evidence must be given.
	Incomplete bool

	// Answer is nil without an answer step or without references. Of an incomplete run only
	// whether it is nil counts.
	Answer *answer.Score
	// Packing is how the chunks of the session are filled, where one experiment has several
	// ways: turns of runs in which it differs have no counterpart.
	Packing string
}

// The exit settings of a run, as specs call them.
const (
	ExitRecord  = "record"  // the exit gate is recorded only: all T turns exist
	ExitEnforce = "enforce" // the loop stops at it: only reached turns exist
)

// chunks is T.
func (r Run) chunks() int { return max(r.Total, len(r.Turns)) }

// session is the name of the run's session.
func (r Run) session() string {
	if r.Session == "" {
		return r.Corpus
	}
	return r.Session
}

// evidence is the 1-based numbers of the evidence chunks.
func (r Run) evidence() []int {
	if r.Evidence != nil {
		return r.Evidence
	}
	var chunks []int
	for i, t := range r.Turns {
		if t.Evidence {
			chunks = append(chunks, i+1)
		}
	}
	return chunks
}

// lastEvidence is t*; 0 if there is no evidence.
func (r Run) lastEvidence() int {
	chunks := r.evidence()
	if len(chunks) == 0 {
		return 0
	}
	return chunks[len(chunks)-1]
}

// firstExit is t_x, the first parsed end; 0 if there is none.
func (r Run) firstExit() int {
	for i, t := range r.Turns {
		if t.Parsed && t.Exit {
			return i + 1
		}
	}
	return 0
}

// exit is the outcome of the exit gate in one run.
func (r Run) exit() exit {
	return exit{first: r.firstExit(), last: r.lastEvidence(), total: r.chunks()}
}

// success is what pass_k counts: all evidence committed, and no exit before the last of it.
func (r Run) success() bool {
	for _, t := range r.Turns {
		if t.Evidence && !t.committed() {
			return false
		}
	}
	return r.exit().safe()
}

// gatesRight is success, with nothing written beside the evidence.
func (r Run) gatesRight() bool {
	for _, t := range r.Turns {
		if t.Written && !t.Evidence {
			return false
		}
	}
	return r.success()
}

// slope is the least-squares slope of memory tokens on the turn number, in tokens per turn;
// undefined below 3 turns.
func (r Run) slope() (slope float64, ok bool) {
	n := float64(len(r.Turns))
	if n < 3 {
		return 0, false
	}
	var weighted, squares float64
	middle := (n - 1) / 2
	for i, t := range r.Turns {
		d := float64(i) - middle
		weighted += d * float64(t.MemoryTokens)
		squares += d * d
	}
	return weighted / squares, true
}

func (t Turn) yes() bool { return t.Parsed && t.Update }

func (t Turn) committed() bool { return t.yes() && t.Written }

// exit is the outcome of the exit gate in one run, in turns.
type exit struct {
	first int // t_x; 0: the gate never opened
	last  int // t*; 0: no evidence
	total int // T
}

// stop is t_stop.
func (e exit) stop() int {
	if e.first > 0 {
		return e.first
	}
	return e.total
}

func (e exit) safe() bool { return e.last > 0 && e.stop() >= e.last }

func oneIf(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
