package loop

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/poimen-memory/mem/gate"
	"github.com/poimen-memory/mem/prompt"
)

// Attempts is how often one chunk is asked about before its turn counts as
// parse_failed: once, and two retries (M1.5 step 3).
const Attempts = 3

// Sink takes events: the opening, then each turn's together, then the end. One call is
// one unit that must be kept whole. Its error stops the run.
type Sink interface {
	Emit(events []Event) error
}

// Config is a run's. Model, Prompts and Sink are required; the level is recorded and
// changes nothing else.
type Config struct {
	Model       Model
	Prompts     *prompt.Builder
	Sink        Sink
	Level       Level  // of the memories; 0: 1, since level 0 is the evidence
	UseExitGate bool   // act on the exit gate; it is recorded always
	Tokenizer   string // the name of what Prompts counts with, for the log

	// StartTurn and StartMemory are where a run continues a session: the number of the last
	// turn before it, and the memory then, of which "" is none. Zero: a new session.
	StartTurn   int
	StartMemory string
}

// A ConfigError is a Config that Run does not begin with. Nothing was emitted or asked.
type ConfigError struct {
	Field string // of Config, or "chunks"
	Found string
	Want  string
}

func (e *ConfigError) Error() string {
	return fmt.Sprintf("loop: %s is %s, want %s", e.Field, e.Found, e.Want)
}

// Misconfigured is true.
func (e *ConfigError) Misconfigured() bool { return true }

func (cfg Config) check() error {
	switch {
	case cfg.Model == nil:
		return &ConfigError{"Model", "nil", "a model to ask"}
	case cfg.Prompts == nil:
		return &ConfigError{"Prompts", "nil", "a builder of prompts"}
	case cfg.Sink == nil:
		return &ConfigError{"Sink", "nil", "a sink for events"}
	case cfg.Level < 0:
		return &ConfigError{"Level", strconv.Itoa(int(cfg.Level)), "1 or more"}
	case cfg.StartTurn < 0:
		return &ConfigError{"StartTurn", strconv.Itoa(cfg.StartTurn), "0 or more"}
	case !utf8.ValidString(cfg.StartMemory):
		return &ConfigError{"StartMemory", fmt.Sprintf("%.40q", cfg.StartMemory), "valid UTF-8"}
	case cfg.StartMemory != strings.TrimSpace(cfg.StartMemory):
		return &ConfigError{"StartMemory", fmt.Sprintf("%.40q", cfg.StartMemory), "a text without white space around it, as memories are"}
	}
	return nil
}

// Outcome is what a run came to. Of a run that stopped early it is the state after its
// last whole turn.
type Outcome struct {
	ChunksSeen, ChunksUsed int          // by this run: what a start state rests on is not counted
	Memory                 *prompt.Text // the start memory if the run wrote none; nil: none
	StoppedBy              StoppedBy    // empty: the run did not end
}

// Run reads chunks until they end, or the exit gate opens and is in force. The error is a
// *ConfigError, ctx's own, a *ModelError, one that wraps a *prompt.OverBudget, or the
// source's or sink's; the Outcome is valid with it.
func Run(ctx context.Context, cfg Config, query string, chunks iter.Seq2[prompt.Chunk, error]) (Outcome, error) {
	if err := cfg.check(); err != nil {
		return Outcome{}, err
	}
	if chunks == nil {
		return Outcome{}, &ConfigError{"chunks", "nil", "a sequence of chunks"}
	}
	cfg.Level = max(cfg.Level, 1)
	r := run{Config: cfg, problem: cfg.Prompts.Measure(query)}
	if cfg.StartMemory != "" {
		memory := cfg.Prompts.Measure(cfg.StartMemory)
		r.out.Memory = &memory
	}
	if err := r.emit(ctx, r.start()); err != nil {
		return r.out, err
	}
	for chunk, err := range chunks {
		if err != nil {
			return r.out, fmt.Errorf("chunk %d: %w", r.out.ChunksSeen+1, err)
		}
		exit, err := r.turn(ctx, chunk)
		if err != nil {
			return r.out, err
		}
		if exit && cfg.UseExitGate {
			return r.end(ctx, ExitGate)
		}
	}
	return r.end(ctx, SourceEnd)
}

type run struct {
	Config
	problem prompt.Text
	out     Outcome
}

func (r *run) start() RunStart {
	start := RunStart{
		Schema: Schema, Level: r.Level, QuerySHA: r.problem.SHA(), UseExitGate: r.UseExitGate,
		MemoryBudget: r.Prompts.Budget().Memory, Tokenizer: r.Tokenizer, StartTurn: r.StartTurn,
	}
	if r.out.Memory != nil {
		start.StartMemorySHA = r.out.Memory.SHA()
	}
	return start
}

func (r *run) end(ctx context.Context, by StoppedBy) (Outcome, error) {
	end := RunEnd{
		Level: r.Level, ChunksSeen: r.out.ChunksSeen, ChunksUsed: r.out.ChunksUsed,
		FinalMemorySHA: sha(r.out.Memory), StoppedBy: by,
	}
	if err := r.emit(ctx, end); err != nil {
		return r.out, err
	}
	r.out.StoppedBy = by
	return r.out, nil
}

// emit hands one whole unit to the sink. A cancelled run emits nothing more.
func (r *run) emit(ctx context.Context, unit ...Event) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return r.Sink.Emit(unit)
}

// turn takes one chunk through the loop and says whether the exit gate opened. State
// changes only after the sink has the turn.
func (r *run) turn(ctx context.Context, chunk prompt.Chunk) (exit bool, err error) {
	n := r.StartTurn + r.out.ChunksSeen + 1
	p, err := r.Prompts.Assemble(r.problem, r.out.Memory, chunk)
	if err != nil {
		return false, fmt.Errorf("turn %d: %w", n, err)
	}
	decision, attempts, failures, err := r.ask(ctx, n, p)
	if err != nil {
		return false, err
	}
	unit, memory := r.resolve(n, chunk, decision, attempts, failures)
	if err := r.emit(ctx, unit...); err != nil {
		return false, err
	}
	r.out.ChunksSeen++
	if memory != nil {
		r.out.Memory = memory
		r.out.ChunksUsed++
	}
	return decision.Exit, nil
}

// ask sends the same prompt until a reply parses, at most Attempts times. With as many
// failures as Attempts there is no decision: the zero Decision neither updates nor exits.
func (r *run) ask(ctx context.Context, turn int, p prompt.Prompt) (gate.Decision, int, []gate.Kind, error) {
	return ask(ctx, r.Model, Request{Turn: turn, System: p.System, User: p.User, MaxTokens: r.Prompts.Budget().Response}, Parse)
}

// ask sends the same request until parse can read the reply, at most Attempts times, and
// says how often it asked and what was wrong each time. parse returns a *gate.SyntaxError.
func ask[T any](ctx context.Context, model Model, r Request, parse func(Completion) (T, error)) (read T, attempts int, failures []gate.Kind, err error) {
	var none T
	for r.Attempt = 1; r.Attempt <= Attempts; r.Attempt++ {
		if err := ctx.Err(); err != nil {
			return none, 0, nil, err
		}
		reply, err := model.Complete(ctx, r)
		if err != nil {
			return none, 0, nil, callError(ctx, r.Turn, r.Attempt, err)
		}
		read, err := parse(reply)
		if err == nil {
			return read, r.Attempt, failures, nil
		}
		failures = append(failures, kind(err))
	}
	return none, Attempts, failures, nil
}

// callError tells a cancelled run from a call that failed.
func callError(ctx context.Context, turn, attempt int, err error) error {
	if ctxErr := ctx.Err(); ctxErr != nil {
		return ctxErr
	}
	return &ModelError{Turn: turn, Attempt: attempt, Err: err}
}

// Parse reads a completion's gates, as a turn does. A reply that the token limit cut is a
// failure even if it happens to parse: its update may have lost its end. The error is a
// *gate.SyntaxError.
func Parse(c Completion) (gate.Decision, error) {
	reply, err := c.whole()
	if err != nil {
		return gate.Decision{}, err
	}
	return gate.Parse(reply)
}

// whole is a completion with its reasoning before it, unless the token limit cut it.
func (c Completion) whole() (string, error) {
	switch {
	case c.Finish == FinishLength:
		return "", &gate.SyntaxError{
			Kind: gate.Length, Offset: len(c.Text),
			Want: "a whole reply", Found: "a reply cut by the token limit",
		}
	case c.Reasoning != "":
		return "<think>" + c.Reasoning + "</think>" + c.Text, nil
	}
	return c.Text, nil
}

func kind(err error) gate.Kind {
	var syntax *gate.SyntaxError
	errors.As(err, &syntax) // parsers return nothing else
	return syntax.Kind
}

// resolve applies the update rule: the turn's events, and the new memory or nil to retain.
func (r *run) resolve(n int, chunk prompt.Chunk, d gate.Decision, attempts int, failures []gate.Kind) ([]Event, *prompt.Text) {
	if len(failures) == Attempts {
		return []Event{ParseFailed{Level: r.Level, Turn: n, Attempts: attempts, Kinds: failures}}, nil
	}
	said := Gate{
		Level: r.Level, Turn: n, ChunkSHA: chunk.SHA(),
		Update: d.Update, Exit: d.Exit, Attempts: attempts,
	}
	if !d.Update {
		return []Event{said}, nil
	}
	candidate := r.Prompts.Measure(d.Candidate)
	if budget := r.Prompts.Budget().Memory; candidate.Tokens > budget {
		return []Event{said, BudgetExceeded{
			Level: r.Level, Turn: n, Tokens: candidate.Tokens, Budget: budget, CandidateSHA: candidate.SHA(),
		}}, nil
	}
	return []Event{said, r.evidence(n, chunk, said.ChunkSHA), r.memory(n, candidate, said.ChunkSHA)}, &candidate
}

func (r *run) evidence(n int, chunk prompt.Chunk, sha string) Evidence {
	return Evidence{Level: r.Level - 1, Turn: n, SHA: sha, Bytes: len(chunk.Raw)}
}

func (r *run) memory(n int, candidate prompt.Text, evidence string) Memory {
	parents := []string{evidence}
	if previous := sha(r.out.Memory); previous != nil {
		parents = append(parents, *previous)
	}
	return Memory{
		Level: r.Level, Turn: n, SHA: candidate.SHA(), Parents: parents,
		Tokens: candidate.Tokens, Text: candidate.Raw,
	}
}

func sha(t *prompt.Text) *string {
	if t == nil {
		return nil
	}
	s := t.SHA()
	return &s
}
