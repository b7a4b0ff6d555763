package eventlog

import (
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/internal/lines"
)

// Turn is what one turn's events add up to.
type Turn struct {
	Number       int  // 1-based in the session; a log that continues begins at start_turn + 1
	Parsed       bool // a reply could be read: the turn has a gate event
	Attempts     int
	Update, Exit bool   // what the model said; false if no reply could be read
	ChunkSHA     string // "" if no reply could be read
	Written      bool   // the update took place: Memory is this turn's
	Evidence     *loop.Evidence
	OverBudget   *loop.BudgetExceeded
	Failed       *loop.ParseFailed
	Memory       *loop.Memory // M_t, carried over if not Written; nil: the log wrote none so far
	Events       []loop.Event // of this turn, in order
}

// A LineError is a line that no run wrote.
type LineError struct {
	Line int // 1-based
	Rule string
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Rule) }

// Reader reads a log turn by turn. It holds one turn and one memory, however long the log is.
type Reader struct {
	Start *loop.RunStart // nil: not read yet, or the log has none
	End   *loop.RunEnd   // nil: not read yet, or the run was interrupted
	Bytes int64          // of the whole units read so far: the opening, turns, the end
	Line  int            // lines read

	in    lines.Reader
	whole int64  // bytes of them
	tail  []byte // what follows the last newline
	used  int    // turns that wrote a memory
	turns int    // whole turns
	last  Turn   // the last whole turn
	open  Turn   // a turn whose events are not all read; without Events: none

	values func(loop.Event) error // rules beyond the order of events; nil: none
}

// maxLine bounds a line, in bytes: a reply is no longer than 16 MiB, and JSON writes a byte
// as six at the most.
const maxLine = 6<<24 + 1<<10

// NewReader makes a Reader of a log.
func NewReader(log io.Reader) *Reader { return &Reader{in: lines.New(log, maxLine)} }

// Turns reads a log turn by turn: NewReader(log).Turns().
func Turns(log io.Reader) iter.Seq2[Turn, error] { return NewReader(log).Turns() }

// Turns gives each whole turn as soon as its last line is read. A log that was interrupted
// ends after its last whole turn without an error, and leaves End nil; Bytes then tells how
// much of it is whole. Each line and the order of the events are checked, but not what they
// say: that is Verify's. The error, after which nothing comes, is a *LineError or log's own.
func (r *Reader) Turns() iter.Seq2[Turn, error] {
	return func(yield func(Turn, error) bool) {
		for {
			whole, err := r.next()
			switch {
			case errors.Is(err, io.EOF):
				return
			case err != nil:
				yield(Turn{}, err)
				return
			case whole && !yield(r.last, nil):
				return
			}
		}
	}
}

// next reads a line, and says whether it ends a turn.
func (r *Reader) next() (whole bool, err error) {
	line, err := r.in.Next()
	r.Line++
	_, tooLong := errors.AsType[lines.TooLong](err)
	switch {
	case errors.Is(err, io.EOF):
		if r.tail = line; r.End != nil && len(line) > 0 {
			return false, r.broken(errAfterEnd)
		}
		return false, err
	case tooLong:
		return false, r.broken(err)
	case err != nil:
		return false, err
	case r.End != nil:
		return false, r.broken(errAfterEnd)
	}
	e, err := Decode(line)
	if err == nil {
		err = r.allows(e)
	}
	if err != nil {
		return false, r.broken(err)
	}
	whole = r.add(e)
	if r.whole += int64(len(line)); len(r.open.Events) == 0 {
		r.Bytes = r.whole
	}
	return whole, nil
}

var errAfterEnd = errors.New("the log goes on after run_end")

func (r *Reader) broken(rule error) error { return &LineError{r.Line, rule.Error()} }

// allows says whether an event may stand where the log is.
func (r *Reader) allows(e loop.Event) error {
	if err := r.order(e); err != nil || r.values == nil {
		return err
	}
	return r.values(e)
}

func (r *Reader) order(e loop.Event) error {
	switch e := e.(type) {
	case loop.RunStart:
		return rule(r.Start == nil, "a second run_start")
	case loop.Gate:
		return first(r.between(e), r.numbered(e.Turn))
	case loop.ParseFailed:
		return first(r.between(e), r.numbered(e.Turn))
	case loop.Evidence:
		return first(r.follows(loop.Gate{}, e), r.numbered(e.Turn))
	case loop.Memory:
		return first(r.follows(loop.Evidence{}, e), r.numbered(e.Turn))
	case loop.BudgetExceeded:
		return first(r.follows(loop.Gate{}, e), r.numbered(e.Turn))
	}
	return r.between(e)
}

// between holds for an event that begins a turn, and for run_end.
func (r *Reader) between(e loop.Event) error {
	return first(
		rule(r.Start != nil, "%s before run_start", e.Type()),
		rule(len(r.open.Events) == 0, "%s inside turn %d, whose update is not resolved", e.Type(), r.open.Number),
	)
}

// follows holds for a later event of a turn: it stands right after the named one.
func (r *Reader) follows(after, e loop.Event) error {
	n := len(r.open.Events)
	return rule(n > 0 && r.open.Events[n-1].Type() == after.Type(), "%s is not right after its turn's %s", e.Type(), after.Type())
}

func (r *Reader) numbered(turn int) error {
	return rule(turn == r.number(), "turn is %d, want %d", turn, r.number())
}

// number is that of the turn that is open, or else of the next one. It is valid after run_start.
func (r *Reader) number() int {
	if r.Start == nil {
		return 1
	}
	return r.Start.StartTurn + r.turns + 1
}

// add folds an event that is allowed into its turn, and says whether it ends it.
func (r *Reader) add(e loop.Event) (whole bool) {
	switch e := e.(type) {
	case loop.RunStart:
		r.Start = &e
		return false
	case loop.RunEnd:
		r.End = &e
		return false
	case loop.Gate:
		r.open = Turn{Number: e.Turn, Parsed: true, Attempts: e.Attempts, Update: e.Update, Exit: e.Exit, ChunkSHA: e.ChunkSHA, Memory: r.last.Memory}
		whole = !e.Update
	case loop.ParseFailed:
		r.open = Turn{Number: e.Turn, Attempts: e.Attempts, Failed: &e, Memory: r.last.Memory}
		whole = true
	case loop.Evidence:
		r.open.Evidence = &e
	case loop.BudgetExceeded:
		r.open.OverBudget, whole = &e, true
	case loop.Memory:
		r.open.Memory, r.open.Written, whole = &e, true, true
		r.used++
	}
	r.open.Events = append(r.open.Events, e)
	if whole {
		r.turns++
		r.last, r.open = r.open, Turn{}
	}
	return whole
}

// memory is the sha of the memory so far, "" if there is none.
func (r *Reader) memory() string {
	if r.last.Memory != nil {
		return r.last.Memory.SHA
	}
	return r.Start.StartMemorySHA
}

// exited says that the exit gate opened at the last turn and is in force.
func (r *Reader) exited() bool { return r.last.Exit && r.Start.UseExitGate }
