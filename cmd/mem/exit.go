package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/internal/printable"
)

// The exit codes of errors. Those of results are result.Exit's, which agree.
const (
	exitFailed      = 1   // judged and failed
	exitUsage       = 2   // bad usage or spec: any error that does not say otherwise
	exitIncomplete  = 3   // not judged, for something outside failed
	exitUndecided   = 4   // judged, and the numbers do not settle it
	exitInterrupted = 130 // as a shell says of a process that SIGINT ended
)

// exit is an error with an exit code of its own. Its err is nil when all is said already.
type exit struct {
	code int
	err  error
}

func (e *exit) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exit) Unwrap() error { return e.err }

// exitWith is the error of a verdict that has been printed: nil for code 0.
func exitWith(code int) error {
	if code == 0 {
		return nil
	}
	return &exit{code: code}
}

func exitCode(err error) int {
	e, coded := errors.AsType[*exit](err)
	_, incomplete := errors.AsType[*diag.Incomplete](err)
	switch {
	case err == nil:
		return 0
	case coded:
		return e.code
	case incomplete:
		return exitIncomplete
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	}
	return exitUsage
}

// printError writes an error. What stands in a file begins with its place, so that editors
// and CI systems can jump there.
func printError(w io.Writer, err error) {
	e, coded := errors.AsType[*exit](err)
	_, positioned := errors.AsType[diag.Errors](err)
	switch {
	case err == nil, coded && e.err == nil:
	case positioned:
		fmt.Fprintln(w, printable.Text(err.Error()))
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(w, "mem: interrupted")
	default:
		fmt.Fprintln(w, "mem: "+strings.ReplaceAll(printable.Text(err.Error()), "\n", "\nmem: "))
	}
}
