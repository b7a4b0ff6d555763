package stat

// Turn is one turn with a model reply, as the metrics see it. A turn without a reply (a
// transport failure) is not a Turn: its run is Incomplete.
type Turn struct {
	Evidence   bool // the chunk overlaps a label
	Parsed     bool
	FirstTry   bool // parsed at attempt 1
	Update     bool // U_t as said; false if not parsed
	Exit       bool // E_t as said; false if not parsed
	Written    bool // the update became the memory
	OverBudget bool // the update was rejected for its length

	Candidate    bool // the reply held a candidate memory
	Differs      bool // of a turn that said no: the ignored candidate is not the memory
	Changed      bool // the memory's bytes after the turn are not those before it
	MemoryTokens int  // of the memory after the turn
}

// Run is the turns of one run in order, as far as it came, with what names it.
type Run struct {
	Query, Corpus, Level, Model string
	Exit                        string // the exit setting: ExitRecord (or empty), ExitEnforce
	Trial                       int

	Turns        []Turn
	Total        int  // T, chunks of the whole source; 0: as many as Turns
	LastEvidence int  // t*, 1-based, of the whole source; 0: no evidence
	Evidence     int  // evidence chunks of the whole source; 0: those among Turns
	MemoryTokens int  // of the final memory
	Incomplete   bool // stopped by a transport failure: in no metric

	Answer *AnswerScore // nil: no answer step, or no references to score it by
}

// The exit settings of a run, as specs call them.
const (
	ExitRecord  = "record"  // the exit gate is recorded only: all T turns exist
	ExitEnforce = "enforce" // the loop stops at it: only reached turns exist
)

// chunks is T.
func (r Run) chunks() int { return max(r.Total, len(r.Turns)) }

// unanswered is the number of turns that had no model reply: all that an incomplete run
// did not reach.
func (r Run) unanswered() int {
	if !r.Incomplete {
		return 0
	}
	return r.chunks() - len(r.Turns)
}

// issued is the number of turns that there should have been a reply to.
func (r Run) issued() int { return len(r.Turns) + r.unanswered() }

// scored is a complete run with what most metrics ask of it.
type scored struct {
	Run
	opened int // t_x, the first parsed end; 0: never
	stop   int // t_stop: t_x, else T
}

func score(r Run) scored {
	s := scored{Run: r, stop: r.chunks()}
	for i, t := range r.Turns {
		if t.Parsed && t.Exit {
			s.opened, s.stop = i+1, i+1
			break
		}
	}
	return s
}

func (s scored) hasEvidence() bool { return s.LastEvidence > 0 }

func (s scored) safe() bool { return s.hasEvidence() && s.stop >= s.LastEvidence }

// delay is t_stop − t*, in turns; negative for a premature exit.
func (s scored) delay() float64 { return float64(s.stop - s.LastEvidence) }

// success is what pass_k counts: all evidence committed, and no exit before the last of it.
func (s scored) success() bool {
	for _, t := range s.Turns {
		if t.Evidence && !t.committed() {
			return false
		}
	}
	return s.safe()
}

// lost is the number of evidence chunks that the run never reached, of how many: with the
// exit gate enforced, the evidence after a premature exit.
func (s scored) lost() (lost, of float64) {
	reached := 0
	for _, t := range s.Turns {
		reached += one(t.Evidence)
	}
	all := max(s.Evidence, reached)
	return float64(all - reached), float64(all)
}

// cleanReplies says whether every turn parsed at the first try.
func (s scored) cleanReplies() bool {
	for _, t := range s.Turns {
		if !t.FirstTry {
			return false
		}
	}
	return true
}

// slope is the least-squares slope of memory tokens on the turn number, in tokens per turn;
// undefined below 3 turns.
func (s scored) slope() (slope float64, ok bool) {
	n := float64(len(s.Turns))
	if n < 3 {
		return 0, false
	}
	var weighted, squares float64
	middle := (n - 1) / 2
	for i, t := range s.Turns {
		d := float64(i) - middle
		weighted += d * float64(t.MemoryTokens)
		squares += d * d
	}
	return weighted / squares, true
}

func (t Turn) said() bool { return t.Parsed && t.Update }

func (t Turn) committed() bool { return t.said() && t.Written }

// right says whether the update gate was: a parse failure never is.
func (t Turn) right() bool { return t.Parsed && t.Update == t.Evidence }
