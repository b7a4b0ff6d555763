package eventlog

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/poimen-memory/mem/internal/digest"
	"github.com/poimen-memory/mem/loop"
)

// State says whether a log is whole.
type State string

// The three states that Verify tells apart.
const (
	Complete    State = "complete"    // from run_start to run_end
	Interrupted State = "interrupted" // whole turns, then at most a torn unit
	Corrupt     State = "corrupt"     // no run ever wrote this
)

// Report is the result of Verify.
type Report struct {
	State State
	Turns int            // whole turns, all verified
	Used  int            // of them, those that wrote a memory
	Start *loop.RunStart // nil: the log has no whole opening
	Bytes int64          // of the verified whole units: a resume cuts the log here
	Line  int            // Corrupt: 1-based line of the first violation
	Rule  string
}

// CountTokens returns how a named tokenizer counts a memory as a prompt shows it, or
// nil where that tokenizer is not known; token numbers are then not verified.
type CountTokens func(tokenizer string) func(text string) int

// Verify recomputes everything in a log that can be recomputed. The error is the
// reader's; what is wrong with the log is in the Report.
func Verify(log io.Reader, count CountTokens) (Report, error) {
	v := verifier{Reader: NewReader(log), count: count}
	v.Reader.values = v.value
	for _, err := range v.Turns() {
		if wrong, ok := errors.AsType[*LineError](err); ok {
			return v.corrupt(wrong.Line, wrong.Rule), nil
		}
		if err != nil {
			return Report{}, err
		}
	}
	if v.End != nil {
		return v.report(Complete), nil
	}
	if err := v.torn(); err != nil {
		return v.corrupt(v.Line, err.Error()), nil
	}
	return v.report(Interrupted), nil
}

// verifier holds what a log's events say against what they add up to.
type verifier struct {
	*Reader
	count  CountTokens
	tokens func(string) int // counts as run_start says; nil: numbers are not verified
}

func (v *verifier) report(s State) Report {
	return Report{State: s, Turns: v.turns, Used: v.used, Start: v.Start, Bytes: v.Bytes}
}

func (v *verifier) corrupt(line int, rule string) Report {
	r := v.report(Corrupt)
	r.Line, r.Rule = line, rule
	return r
}

// torn refuses a tail that is not the beginning of a legal next line. One that lacks
// only its newline is held against all the rules.
func (v *verifier) torn() error {
	if bytes.HasSuffix(v.tail, []byte("}")) {
		if e, err := Decode(append(bytes.Clone(v.tail), '\n')); err == nil {
			return v.allows(e)
		}
	}
	if len(v.tail) == 0 {
		return nil
	}
	for _, legal := range v.legal() {
		if legal.begins(string(v.tail)) {
			return nil
		}
	}
	return errors.New("the torn last line is not the beginning of any event that may stand here")
}

// value holds for an event that stands in order.
func (v *verifier) value(e loop.Event) error {
	switch e := e.(type) {
	case loop.RunStart:
		return v.runStart(e)
	case loop.Gate:
		return v.gate(e)
	case loop.Evidence:
		return v.evidence(e)
	case loop.Memory:
		return v.newMemory(e)
	case loop.BudgetExceeded:
		return v.budgetExceeded(e)
	case loop.ParseFailed:
		return v.parseFailed(e)
	case loop.RunEnd:
		return v.runEnd(e)
	}
	return fmt.Errorf("unknown event %T", e)
}

func (v *verifier) runStart(e loop.RunStart) error {
	if v.count != nil {
		v.tokens = v.count(e.Tokenizer)
	}
	return first(
		rule(e.Schema == loop.Schema, "schema is %d, this program reads %d", e.Schema, loop.Schema),
		rule(e.Level >= 1, "level is %d, want 1 or more", e.Level),
		rule(isSHA(e.QuerySHA), "query_sha is not a SHA-256 in hex"),
		rule(e.MemoryBudget > 0, "memory_budget is %d, want more than 0", e.MemoryBudget),
		rule(e.StartTurn >= 0, "start_turn is %d, want 0 or more", e.StartTurn),
		rule(e.StartMemorySHA == "" || isSHA(e.StartMemorySHA), "start_memory_sha is not a SHA-256 in hex"),
	)
}

// opens holds for the first event of a turn.
func (v *verifier) opens(e loop.Event, level loop.Level) error {
	return first(
		rule(!v.exited(), "%s after the exit gate ended the run, want run_end", e.Type()),
		v.level(level, 0),
	)
}

func (v *verifier) level(got, offset loop.Level) error {
	want := v.Start.Level + offset
	return rule(got == want, "level is %d, want %d", got, want)
}

func (v *verifier) gate(e loop.Gate) error {
	return first(
		v.opens(e, e.Level),
		rule(isSHA(e.ChunkSHA), "chunk_sha is not a SHA-256 in hex"),
		rule(e.Attempts >= 1 && e.Attempts <= loop.Attempts, "attempts is %d, want 1 to %d", e.Attempts, loop.Attempts),
	)
}

func (v *verifier) evidence(e loop.Evidence) error {
	return first(
		v.level(e.Level, -1),
		rule(e.SHA == v.open.ChunkSHA, "sha is not the turn's chunk_sha"),
		rule(e.Bytes > 0, "bytes is %d, want more than 0", e.Bytes),
	)
}

func (v *verifier) newMemory(e loop.Memory) error {
	parents := v.parents()
	return first(
		v.level(e.Level, 0),
		rule(e.Text != "" && e.Text == strings.TrimSpace(e.Text), "text is blank or has white space around it, and a candidate is trimmed"),
		rule(e.SHA == digest.Of(e.Text), "sha is not that of text"),
		rule(slices.Equal(e.Parents, parents), "parents are %q, want %q", e.Parents, parents),
		rule(e.Tokens <= v.Start.MemoryBudget, "a memory of %d tokens, over the budget of %d", e.Tokens, v.Start.MemoryBudget),
		rule(v.tokens == nil || e.Tokens == v.tokens(e.Text), "tokens is %d, which %s does not count", e.Tokens, v.Start.Tokenizer),
	)
}

func (v *verifier) parents() []string {
	parents := []string{v.open.ChunkSHA}
	if previous := v.memory(); previous != "" {
		parents = append(parents, previous)
	}
	return parents
}

func (v *verifier) budgetExceeded(e loop.BudgetExceeded) error {
	return first(
		v.level(e.Level, 0),
		rule(e.Budget == v.Start.MemoryBudget, "budget is %d, run_start says %d", e.Budget, v.Start.MemoryBudget),
		rule(e.Tokens > e.Budget, "%d tokens are not over the budget of %d", e.Tokens, e.Budget),
		rule(isSHA(e.CandidateSHA), "candidate_sha is not a SHA-256 in hex"),
	)
}

func (v *verifier) parseFailed(e loop.ParseFailed) error {
	err := first(
		v.opens(e, e.Level),
		rule(e.Attempts == loop.Attempts, "attempts is %d, want %d", e.Attempts, loop.Attempts),
		rule(len(e.Kinds) == e.Attempts, "%d kinds for %d attempts", len(e.Kinds), e.Attempts),
	)
	for _, k := range e.Kinds {
		err = first(err, rule(k.Known(), "unknown kind %q", string(k)))
	}
	return err
}

func (v *verifier) runEnd(e loop.RunEnd) error {
	final := ""
	if e.FinalMemorySHA != nil {
		final = *e.FinalMemorySHA
	}
	return first(
		v.level(e.Level, 0),
		rule(e.ChunksSeen == v.turns, "chunks_seen is %d, the log has %d turns", e.ChunksSeen, v.turns),
		rule(e.ChunksUsed == v.used, "chunks_used is %d, the log has %d memories", e.ChunksUsed, v.used),
		rule(final == v.memory() && (e.FinalMemorySHA == nil) == (final == ""), "final_memory_sha is not that of the last memory"),
		rule(e.StoppedBy == v.stop(), "stopped_by is %q, want %q", e.StoppedBy, v.stop()),
	)
}

func (v *verifier) stop() loop.StoppedBy {
	if v.exited() {
		return loop.ExitGate
	}
	return loop.SourceEnd
}

func rule(holds bool, format string, args ...any) error {
	if holds {
		return nil
	}
	return fmt.Errorf(format, args...)
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func isSHA(s string) bool {
	_, err := hex.DecodeString(s)
	return err == nil && len(s) == 2*sha256.Size && !slices.ContainsFunc([]byte(s), isUpper)
}

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }
