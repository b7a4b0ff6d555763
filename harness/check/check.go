// Package check judges the artefacts of runs. Each check is a function from what was
// sent, logged or counted to Results; none prints, none stops a run, and none passes
// when it had nothing to look at.
package check

import (
	"fmt"

	"github.com/poimen-memory/mem/harness/diag"
)

// Status is a check's verdict.
type Status string

// A skip is never a pass: the check had nothing to look at, and says why.
const (
	Pass Status = "pass"
	Fail Status = "fail"
	Skip Status = "skip"
)

// Result is the verdict of one check on one subject.
type Result struct {
	Check   string   `json:"check"`   // golden, ledger, budget, retain, log, levels, expect, baseline
	Subject string   `json:"subject"` // a run's name, a golden's file, a corpus
	Status  Status   `json:"status"`
	Detail  string   `json:"detail,omitempty"` // one line: what was found and what would be right
	Diff    string   `json:"diff,omitempty"`   // several lines, invisible characters made visible
	Pos     diag.Pos `json:"at,omitzero"`      // the spec's line that asked for it, where there is one
}

// Failed reports whether the verdict is a failure.
func (r Result) Failed() bool { return r.Status == Fail }

func pass(check, subject, format string, args ...any) Result {
	return Result{Check: check, Subject: subject, Status: Pass, Detail: fmt.Sprintf(format, args...)}
}

func fail(check, subject, format string, args ...any) Result {
	return Result{Check: check, Subject: subject, Status: Fail, Detail: fmt.Sprintf(format, args...)}
}

// Skipped is a check that had nothing to look at.
func Skipped(check, subject, why string) Result {
	return Result{Check: check, Subject: subject, Status: Skip, Detail: why}
}

// Unreadable is a check whose artefact could not be read.
func Unreadable(check, subject string, err error) Result {
	return fail(check, subject, "%v", err)
}
