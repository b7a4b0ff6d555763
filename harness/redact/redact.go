// Package redact makes results that may be shown to people who may not see the sessions.
package redact

import (
	"regexp"
	"slices"

	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/result"
)

// All are results without texts, or if off as they are.
func All(on bool, rs ...*result.Result) []*result.Result {
	if !on {
		return rs
	}
	bare := make([]*result.Result, len(rs))
	for i, r := range rs {
		bare[i] = Texts(r)
	}
	return bare
}

// Texts is a result without any text of sessions, prompts, replies and memories. Names of
// queries, sessions and models, and all numbers, stay. What errors and checks quote is left out;
// what a server said is not quoted, so that its errors go whole.
func Texts(r *result.Result) *result.Result {
	bare := *r
	bare.NoText = true
	bare.Runs = slices.Clone(r.Runs)
	for i := range bare.Runs {
		run := &bare.Runs[i]
		if a := run.Answer; a != nil {
			run.Answer = &result.Answer{Attempts: a.Attempts, Failures: a.Failures, All: a.All, Unanswerable: a.Unanswerable, Score: a.Score}
		}
		run.FinalMemory = nil
		switch run.State {
		case record.Complete, record.Skipped, record.Interrupted:
			run.Reason = withoutQuotes(run.Reason)
		default:
			run.Reason = notShown
		}
	}
	bare.Checks = slices.Clone(r.Checks)
	for i := range bare.Checks {
		c := &bare.Checks[i]
		if c.Check != "baseline" { // whose changes are counts
			c.Diff = ""
		}
		if c.Detail = withoutQuotes(c.Detail); c.Status == check.Fail && c.Check == "log" {
			c.Detail = notShown
		}
	}
	bare.Warnings = slices.Clone(r.Warnings)
	for i, w := range bare.Warnings {
		bare.Warnings[i] = withoutQuotes(w)
	}
	return &bare
}

const notShown = "not shown with --no-text"

var quoted = regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`")

func withoutQuotes(s string) string { return quoted.ReplaceAllString(s, `"…"`) }
