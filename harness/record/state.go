package record

// State is how a run ended.
type State string

// The states of a run.
const (
	Complete      State = "complete"
	Failed        State = "failed"        // the budget refused a prompt
	Misconfigured State = "misconfigured" // its model cannot answer: a script without an entry
	Incomplete    State = "incomplete"    // no reply came, the record could not be written, or it has no end
	Interrupted   State = "interrupted"
	Skipped       State = "skipped" // with a reason; nothing was run
)

// End is how a run ended and why; Reason is empty for a complete one.
type End struct {
	State  State
	Reason string
}

// Exit is the exit code that a run's end calls for: 0 none, 1 judged and failed, 2 bad usage or
// spec, 3 infrastructure, 130 interrupted.
func (s State) Exit() int {
	switch s {
	case Failed:
		return 1
	case Misconfigured:
		return 2
	case Incomplete:
		return 3
	case Interrupted:
		return 130
	}
	return 0
}
