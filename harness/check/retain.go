package check

import (
	"fmt"

	"github.com/poimen-memory/mem/internal/digest"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/prompt"
)

// RetainJudge follows what one run sent and logged, turn by turn, and judges the retain path
// on the sent bytes: it does not ask the loop what it believes. It holds two turns of text at
// most. Call Sent for each request and Logged for each turn's events, in order, then Verdict.
type RetainJudge struct {
	// Before and After are what the template has around a memory, between its tags.
	Before, After string

	first      loop.Request // of the turn, to hold its retries against
	sent       string       // memory bytes of the turn's prompt
	turn       int
	due        string // memory bytes that the next prompt must show, if it shows any
	why        string // what makes them due: retained after "no", written, ...
	kept       int    // the turn that retained them; 0: they were written
	retained   int    // turns
	compared   int
	changed    []int // retaining turns after which the memory was another
	violations []string
}

// Sent takes a request of a turn; the request for the answer is not one of them.
func (w *RetainJudge) Sent(r loop.Request) {
	if r.Attempt > 1 {
		w.retry(r)
	} else {
		w.prompt(r)
	}
}

// Unknown takes a request whose bytes the record does not hold and that log and corpus do
// not explain.
func (w *RetainJudge) Unknown(turn, attempt int) {
	w.turn = turn
	w.violate("turn %d, attempt %d: the journal's digest is of another prompt than log and corpus give", turn, attempt)
}

func (w *RetainJudge) retry(r loop.Request) {
	switch {
	case r.User != w.first.User:
		w.violate("turn %d: a retry sent other bytes than the first attempt: %s", r.Turn, firstDifference(w.first.User, r.User))
	case r.System != w.first.System:
		w.violate("turn %d: a retry sent another system message: %s", r.Turn, firstDifference(w.first.System, r.System))
	case r.MaxTokens != w.first.MaxTokens:
		w.violate("turn %d: a retry asked for %d tokens at most, the first attempt for %d", r.Turn, r.MaxTokens, w.first.MaxTokens)
	}
}

func (w *RetainJudge) prompt(r loop.Request) {
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
func (w *RetainJudge) open() {
	if want := w.rendered(prompt.NoMemory); w.sent != want {
		w.violate("turn 1: the memory is %s, want %s", visible(w.sent), visible(want))
	}
}

func (w *RetainJudge) compare(where, got string) {
	w.compared++
	if got != w.due {
		if w.kept > 0 {
			w.changed = append(w.changed, w.kept)
		}
		w.violate("%s: memory bytes differ from those %s: %s", where, w.why, firstDifference(w.due, got))
	}
}

// Logged takes the turn's events, which say what the next prompt must show.
func (w *RetainJudge) Logged(unit []loop.Event) {
	switch e := unit[len(unit)-1].(type) {
	case loop.Memory:
		w.due, w.why, w.kept = w.rendered(e.Text), fmt.Sprintf("written at turn %d", e.Turn), 0
	case loop.Gate:
		w.retain(`after "no"`)
	case loop.BudgetExceeded:
		w.retain("after budget_exceeded")
	case loop.ParseFailed:
		w.retain("after parse_failed")
	}
}

func (w *RetainJudge) retain(why string) {
	w.retained++
	w.due, w.kept, w.why = w.sent, w.turn, fmt.Sprintf("retained at turn %d %s", w.turn, why)
}

// Changed are the retaining turns after which the memory's bytes were others, in order:
// the retain_violations of the metrics. After Verdict they are complete.
func (w *RetainJudge) Changed() []int { return w.changed }

func (w *RetainJudge) rendered(memory string) string {
	sent, _, _ := prompt.Escape(memory)
	return w.Before + sent + w.After
}

func (w *RetainJudge) violate(format string, args ...any) {
	w.violations = append(w.violations, fmt.Sprintf(format, args...))
}

// Verdict is the check's result. For a run that ended, with end its run_end, the final memory
// of its outcome is compared as it would be rendered next, and with the log's final sha. A run
// without a retaining turn is a skip, unless its written memories changed on their way to the
// next prompt.
func (w *RetainJudge) Verdict(run string, final *string, end *loop.RunEnd) Result {
	if end != nil {
		w.final(final, *end)
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

func (w *RetainJudge) final(final *string, end loop.RunEnd) {
	if w.turn == 0 {
		return
	}
	memory, sha := prompt.NoMemory, ""
	if final != nil {
		memory, sha = *final, digest.Of(*final)
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
