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

	"github.com/poimen-memory/mem/loop"
)

// State is what a log is worth.
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
// nil where that tokenizer is not known; token numbers are then taken on trust.
type CountTokens func(tokenizer string) func(text string) int

// Verify recomputes everything in a log that can be recomputed. The error is the
// reader's; what is wrong with the log is in the Report.
func Verify(r io.Reader, count CountTokens) (Report, error) {
	v := verifier{count: count}
	in := newLines(r)
	var whole int64 // bytes of the lines so far
	for n := 1; ; n++ {
		line, err := in.next()
		switch {
		case errors.Is(err, io.EOF):
			return v.finish(n, line), nil
		case errors.Is(err, errTooLong):
			return v.corrupt(n, err), nil
		case err != nil:
			return Report{}, err
		}
		if err := v.line(line); err != nil {
			return v.corrupt(n, err), nil
		}
		if whole += int64(len(line)); v.unit == nil {
			v.verified = whole
		}
	}
}

type verifier struct {
	count    CountTokens
	tokens   func(string) int
	start    *loop.RunStart
	turns    int
	used     int
	memory   *string // sha of M_t
	unit     []loop.Event
	exit     bool // the last turn's exit gate opened and is in force
	ended    bool
	verified int64
}

func (v *verifier) report(s State) Report {
	return Report{State: s, Turns: v.turns, Used: v.used, Start: v.start, Bytes: v.verified}
}

func (v *verifier) corrupt(line int, rule error) Report {
	r := v.report(Corrupt)
	r.Line, r.Rule = line, rule.Error()
	return r
}

// finish judges what stands after the last newline.
func (v *verifier) finish(line int, tail []byte) Report {
	switch {
	case v.ended && len(tail) == 0:
		return v.report(Complete)
	case len(tail) == 0:
		return v.report(Interrupted)
	case v.ended:
		return v.corrupt(line, errors.New("the log goes on after run_end"))
	}
	if err := v.torn(tail); err != nil {
		return v.corrupt(line, err)
	}
	return v.report(Interrupted)
}

// torn refuses a tail that is not the beginning of a legal next line. One that lacks
// only its newline is held against all the rules.
func (v *verifier) torn(tail []byte) error {
	if bytes.HasSuffix(tail, []byte("}")) {
		if e, err := Decode(append(bytes.Clone(tail), '\n')); err == nil {
			probe := *v
			return probe.event(e)
		}
	}
	for _, legal := range v.next() {
		if legal.begins(string(tail)) {
			return nil
		}
	}
	return errors.New("the torn last line is not the beginning of any event that may stand here")
}

func (v *verifier) line(line []byte) error {
	if v.ended {
		return errors.New("the log goes on after run_end")
	}
	e, err := Decode(line)
	if err != nil {
		return err
	}
	return v.event(e)
}

func (v *verifier) event(e loop.Event) error {
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
	err := first(
		rule(v.start == nil, "a second run_start"),
		rule(e.Schema == loop.Schema, "schema is %d, this program reads %d", e.Schema, loop.Schema),
		rule(e.Level >= 1, "level is %d, want 1 or more", e.Level),
		rule(isSHA(e.QuerySHA), "query_sha is not a SHA-256 in hex"),
		rule(e.MemoryBudget > 0, "memory_budget is %d, want more than 0", e.MemoryBudget),
	)
	if err != nil {
		return err
	}
	v.start = &e
	if v.count != nil {
		v.tokens = v.count(e.Tokenizer)
	}
	return nil
}

// opens holds for the first event of a turn.
func (v *verifier) opens(name string, level loop.Level, turn int) error {
	return first(
		rule(v.start != nil, "%s before run_start", name),
		rule(v.unit == nil, "%s inside turn %d, whose update is not resolved", name, v.turns+1),
		rule(!v.exit, "%s after the exit gate ended the run, want run_end", name),
		v.level(level, 0),
		rule(turn == v.turns+1, "turn is %d, want %d", turn, v.turns+1),
	)
}

// follows holds for a later event of a turn: it stands right after the named one.
func (v *verifier) follows(after loop.Event, e loop.Event, turn int) error {
	ok := len(v.unit) > 0 && v.unit[len(v.unit)-1].Type() == after.Type()
	return first(
		rule(ok, "%s is not right after its turn's %s", e.Type(), after.Type()),
		rule(turn == v.turns+1, "turn is %d, want %d", turn, v.turns+1),
	)
}

func (v *verifier) level(got, offset loop.Level) error {
	if v.start == nil {
		return errors.New("the log does not open with run_start")
	}
	want := v.start.Level + offset
	return rule(got == want, "level is %d, want %d", got, want)
}

func (v *verifier) gate(e loop.Gate) error {
	err := first(
		v.opens(e.Type(), e.Level, e.Turn),
		rule(isSHA(e.ChunkSHA), "chunk_sha is not a SHA-256 in hex"),
		rule(e.Attempts >= 1 && e.Attempts <= loop.Attempts, "attempts is %d, want 1 to %d", e.Attempts, loop.Attempts),
	)
	if err != nil {
		return err
	}
	v.unit = []loop.Event{e}
	if !e.Update {
		v.whole(e.Exit)
	}
	return nil
}

func (v *verifier) evidence(e loop.Evidence) error {
	err := first(v.follows(loop.Gate{}, e, e.Turn), v.level(e.Level, -1))
	if err != nil {
		return err
	}
	err = first(
		rule(e.SHA == v.said().ChunkSHA, "sha is not the turn's chunk_sha"),
		rule(e.Bytes > 0, "bytes is %d, want more than 0", e.Bytes),
	)
	v.unit = append(v.unit, e)
	return err
}

func (v *verifier) newMemory(e loop.Memory) error {
	err := first(v.follows(loop.Evidence{}, e, e.Turn), v.level(e.Level, 0))
	if err != nil {
		return err
	}
	parents := v.parents()
	err = first(
		rule(e.Text != "" && e.Text == strings.TrimSpace(e.Text), "text is blank or has white space around it, and a candidate is trimmed"),
		rule(e.SHA == sha(e.Text), "sha is not that of text"),
		rule(slices.Equal(e.Parents, parents), "parents are %q, want %q", e.Parents, parents),
		rule(e.Tokens <= v.start.MemoryBudget, "a memory of %d tokens, over the budget of %d", e.Tokens, v.start.MemoryBudget),
		rule(v.tokens == nil || e.Tokens == v.tokens(e.Text), "tokens is %d, which %s does not count", e.Tokens, v.start.Tokenizer),
	)
	if err != nil {
		return err
	}
	v.memory = &e.SHA
	v.used++
	v.whole(v.said().Exit)
	return nil
}

func (v *verifier) parents() []string {
	parents := []string{v.said().ChunkSHA}
	if v.memory != nil {
		parents = append(parents, *v.memory)
	}
	return parents
}

func (v *verifier) budgetExceeded(e loop.BudgetExceeded) error {
	err := first(v.follows(loop.Gate{}, e, e.Turn), v.level(e.Level, 0))
	if err != nil {
		return err
	}
	err = first(
		rule(e.Budget == v.start.MemoryBudget, "budget is %d, run_start says %d", e.Budget, v.start.MemoryBudget),
		rule(e.Tokens > e.Budget, "%d tokens are not over the budget of %d", e.Tokens, e.Budget),
		rule(isSHA(e.CandidateSHA), "candidate_sha is not a SHA-256 in hex"),
	)
	if err != nil {
		return err
	}
	v.whole(v.said().Exit)
	return nil
}

func (v *verifier) parseFailed(e loop.ParseFailed) error {
	err := first(
		v.opens(e.Type(), e.Level, e.Turn),
		rule(e.Attempts == loop.Attempts, "attempts is %d, want %d", e.Attempts, loop.Attempts),
		rule(len(e.Kinds) == e.Attempts, "%d kinds for %d attempts", len(e.Kinds), e.Attempts),
	)
	for _, k := range e.Kinds {
		err = first(err, rule(k.Known(), "unknown kind %q", string(k)))
	}
	if err != nil {
		return err
	}
	v.whole(false)
	return nil
}

func (v *verifier) runEnd(e loop.RunEnd) error {
	err := first(
		rule(v.start != nil, "run_end before run_start"),
		rule(v.unit == nil, "run_end inside turn %d, whose update is not resolved", v.turns+1),
		v.level(e.Level, 0),
		rule(e.ChunksSeen == v.turns, "chunks_seen is %d, the log has %d turns", e.ChunksSeen, v.turns),
		rule(e.ChunksUsed == v.used, "chunks_used is %d, the log has %d memories", e.ChunksUsed, v.used),
		rule(equal(e.FinalMemorySHA, v.memory), "final_memory_sha is not that of the last memory"),
		rule(e.StoppedBy == v.stop(), "stopped_by is %q, want %q", e.StoppedBy, v.stop()),
	)
	v.ended = err == nil
	return err
}

func (v *verifier) stop() loop.StoppedBy {
	if v.exit {
		return loop.ExitGate
	}
	return loop.SourceEnd
}

// said is the turn's gate; valid while a turn's update is being resolved.
func (v *verifier) said() loop.Gate { return v.unit[0].(loop.Gate) }

// whole closes a turn.
func (v *verifier) whole(exit bool) {
	v.turns++
	v.unit = nil
	v.exit = exit && v.start.UseExitGate
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

func equal(a, b *string) bool {
	return (a == nil) == (b == nil) && (a == nil || *a == *b)
}

func isSHA(s string) bool {
	_, err := hex.DecodeString(s)
	return err == nil && len(s) == 2*sha256.Size && !slices.ContainsFunc([]byte(s), isUpper)
}

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }

func sha(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
