package check

import (
	"context"
	"fmt"

	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/prompt"
)

// Watch sees what one run sends and emits, and judges the retain path on the sent bytes:
// it does not ask the loop what it believes. It stands between the loop and the model
// and between the loop and the log, and holds two turns' worth of text at the most.
type Watch struct {
	Model loop.Model
	Sink  loop.Sink
	// Before and After are what the template has around a memory, between its tags.
	Before, After string

	first      loop.Request // of the turn, to hold its retries against
	sent       string       // memory bytes of the turn's prompt
	turn       int
	due        string // memory bytes that the next prompt must show, if it shows any
	why        string // what makes them due: retained after "no", written, ...
	kept       int    // the turn that retained them; 0: they were written
	last       loop.Event
	retained   int // turns
	compared   int
	changed    []int // retaining turns after which the memory was another
	violations []string
}

// Complete records the request and asks Model.
func (w *Watch) Complete(ctx context.Context, r loop.Request) (loop.Completion, error) {
	if r.Attempt > 1 {
		w.retry(r)
	} else {
		w.prompt(r)
	}
	return w.Model.Complete(ctx, r)
}

func (w *Watch) retry(r loop.Request) {
	switch {
	case r.User != w.first.User:
		w.violate("turn %d: a retry sent other bytes than the first attempt: %s", r.Turn, firstDifference(w.first.User, r.User))
	case r.System != w.first.System:
		w.violate("turn %d: a retry sent another system message: %s", r.Turn, firstDifference(w.first.System, r.System))
	case r.MaxTokens != w.first.MaxTokens:
		w.violate("turn %d: a retry asked for %d tokens at most, the first attempt for %d", r.Turn, r.MaxTokens, w.first.MaxTokens)
	}
}

func (w *Watch) prompt(r loop.Request) {
	w.first, w.turn = r, r.Turn
	parts, err := prompt.Split(r.User)
	if err != nil {
		w.violate("turn %d: %v", r.Turn, err)
		return
	}
	w.sent = parts.Memory
	if r.Turn == 1 {
		w.open()
		return
	}
	w.compare(fmt.Sprintf("the prompt of turn %d", r.Turn), parts.Memory)
}

// open holds turn 1 to its literal (M1.3 a3).
func (w *Watch) open() {
	if want := w.rendered(prompt.NoMemory); w.sent != want {
		w.violate("turn 1: the memory is %s, want %s", visible(w.sent), visible(want))
	}
}

func (w *Watch) compare(where, got string) {
	w.compared++
	if got != w.due {
		if w.kept > 0 {
			w.changed = append(w.changed, w.kept)
		}
		w.violate("%s: memory bytes differ from those %s: %s", where, w.why, firstDifference(w.due, got))
	}
}

// Emit takes the turn's events, which say what the next prompt must show.
func (w *Watch) Emit(unit []loop.Event) error {
	if len(unit) == 0 {
		w.violate("an empty unit of events after turn %d", w.turn)
		return nil
	}
	w.last = unit[len(unit)-1]
	switch e := w.last.(type) {
	case loop.Memory:
		w.due, w.why, w.kept = w.rendered(e.Text), fmt.Sprintf("written at turn %d", e.Turn), 0
	case loop.Gate:
		w.retain(`after "no"`)
	case loop.BudgetExceeded:
		w.retain("after budget_exceeded")
	case loop.ParseFailed:
		w.retain("after parse_failed")
	}
	return w.Sink.Emit(unit)
}

func (w *Watch) retain(why string) {
	w.retained++
	w.due, w.kept, w.why = w.sent, w.turn, fmt.Sprintf("retained at turn %d %s", w.turn, why)
}

// Changed are the retaining turns after which the memory's bytes were others, in order:
// the retain_violations of the metrics. After Retain they are complete.
func (w *Watch) Changed() []int { return w.changed }

func (w *Watch) rendered(memory string) string {
	sent, _, _ := prompt.Escape(memory)
	return w.Before + sent + w.After
}

func (w *Watch) violate(format string, args ...any) {
	w.violations = append(w.violations, fmt.Sprintf(format, args...))
}

// Retain is the verdict. For a run that ended, its outcome's memory is compared as it
// would be rendered next, and with the log's final sha. A run without a retaining turn
// is a skip, unless its written memories changed on their way to the next prompt.
func (w *Watch) Retain(run string, out loop.Outcome) Result {
	if end, ok := w.last.(loop.RunEnd); ok {
		w.final(out, end)
	}
	switch {
	case len(w.violations) > 0:
		r := fail("retain", run, "%s", w.violations[0])
		if more := len(w.violations) - 1; more > 0 {
			r.Detail += fmt.Sprintf(" (and %d more)", more)
		}
		return r
	case w.retained == 0:
		return Skipped("retain", run, "no turn retained")
	case w.compared == 0:
		return Skipped("retain", run, "no prompt or outcome after a retaining turn")
	}
	return pass("retain", run, "%d retaining turns, %d comparisons of sent bytes", w.retained, w.compared)
}

func (w *Watch) final(out loop.Outcome, end loop.RunEnd) {
	if w.turn == 0 {
		return
	}
	memory, sha := prompt.NoMemory, ""
	if out.Memory != nil {
		memory, sha = out.Memory.Raw, out.Memory.SHA()
	}
	w.compare("the outcome's memory", w.rendered(memory))
	logged := ""
	if end.FinalMemorySHA != nil {
		logged = *end.FinalMemorySHA
	}
	if logged != sha {
		w.violate("run_end: final_memory_sha is %q, the outcome's memory has %q", logged, sha)
	}
}

// firstDifference says where two texts part, with some bytes of each.
func firstDifference(want, got string) string {
	n := 0
	for n < len(want) && n < len(got) && want[n] == got[n] {
		n++
	}
	return fmt.Sprintf("at byte %d want %s, got %s (%d and %d bytes)", n, around(want, n), around(got, n), len(want), len(got))
}

// around shows some bytes of s at n, quoted, or that s ends there.
func around(s string, n int) string {
	if n >= len(s) {
		return "its end"
	}
	return visible(s[n:min(len(s), n+24)])
}

func visible(s string) string { return fmt.Sprintf("%+q", s) }
