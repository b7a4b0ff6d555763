// Package journal writes and reads the call journal: one JSON line a model call, on disk
// before the loop sees the reply. What was paid for once is never lost, and a journal can
// be replayed as a recording. Keys, headers and durations never enter it.
//
// Read takes whole lines only as a Recorder writes them, to the byte, and prompts only with
// their own digest: a journal that was changed would answer what no model said. A reply
// itself has no digest.
package journal

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/poimen-memory/mem/loop"
)

// Schema is the version of the journal's format.
const Schema = 1

// Header is line 1: what a replay must agree with.
type Header struct {
	Schema      int            `json:"schema"`
	TemplateSHA string         `json:"template_sha"`
	Query       string         `json:"query"`
	System      string         `json:"system,omitempty"` // the system message
	Corpus      string         `json:"corpus"`           // the session's name
	Budget      map[string]int `json:"budget"`           // tokens by component
	Tokenizer   string         `json:"tokenizer"`
	Model       map[string]any `json:"model"` // what it is and its sampling parameters
	Level       loop.Level     `json:"level"`
	Trial       int            `json:"trial"`
}

// Call is one attempt at a turn, or at the answer (loop.AnswerTurn), which follows them.
// System and User are left out of a scripted run's journal, where the digest says the same;
// Error is set when no reply came.
type Call struct {
	Turn      int         `json:"turn"`
	Attempt   int         `json:"attempt"`
	Digest    string      `json:"digest"`
	System    string      `json:"system,omitempty"`
	User      string      `json:"user,omitempty"`
	MaxTokens int         `json:"max_tokens"`
	Reply     string      `json:"reply"`
	Reasoning string      `json:"reasoning,omitempty"`
	Finish    string      `json:"finish_reason,omitempty"`
	Usage     *loop.Usage `json:"usage,omitempty"`
	Error     string      `json:"error,omitempty"`
}

// Live reports whether the journal is of a live model: what is in it was paid for.
func (h Header) Live() bool { return h.Model[sampling] != nil }

// sampling is the key of Header.Model under which a live model's parameters stand.
const sampling = "sampling"

// LiveModel is a Header.Model for a live model with these sampling parameters.
func LiveModel(id string, parameters map[string]any) map[string]any {
	return map[string]any{"id": id, sampling: parameters}
}

// Difference names the first field in which a journal was made under other circumstances
// than want, with both values; "" if a replay may go on. models says whether the model
// must be the same too.
func (h Header) Difference(want Header, models bool) string {
	type field struct {
		name           string
		recorded, want any
	}
	fields := []field{
		{"template", h.TemplateSHA, want.TemplateSHA},
		{"query", h.Query, want.Query},
		{"system message", h.System, want.System},
		{"corpus", h.Corpus, want.Corpus},
		{"budget", h.Budget, want.Budget},
		{"tokenizer", h.Tokenizer, want.Tokenizer},
		{"level", h.Level, want.Level},
		{"trial", h.Trial, want.Trial},
	}
	if models {
		fields = append(fields, field{"model", h.Model, want.Model})
	}
	for _, f := range fields {
		recorded, now := encode(f.recorded), encode(f.want)
		if recorded != now {
			return fmt.Sprintf("%s was %s when recorded, is %s now", f.name, recorded, now)
		}
	}
	return ""
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// Digest names a request of a run by its content: SHA-256 in hex over the model with its
// sampling parameters, the trial, turn, attempt, token limit and both messages, each text
// with its length before it so that no two requests run together.
func (h Header) Digest(r loop.Request) string {
	sum := sha256.New()
	model := encode(h.Model)
	fmt.Fprintf(sum, "%d %d %d %d %d %d %d\n", h.Trial, r.Turn, r.Attempt, r.MaxTokens, len(model), len(r.System), len(r.User))
	for _, text := range []string{model, r.System, r.User} {
		io.WriteString(sum, text)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Recorder is a Model that writes each call of Model to W, one Write a line, before it
// hands on the reply.
type Recorder struct {
	Header Header // of the journal that W continues
	Model  loop.Model
	W      io.Writer
	Terse  bool // digests in place of prompts
}

// Start writes the header line, of a journal that is new.
func (rec Recorder) Start() error {
	rec.Header.Schema = Schema
	return rec.write(rec.Header)
}

// Complete asks Model and records the call. A call that cannot be recorded is an error,
// whatever the model said: an unrecorded reply could not be resumed from. Neither an
// interrupt nor an error whose Unasked method says that there was no call is recorded as one.
func (rec Recorder) Complete(ctx context.Context, r loop.Request) (loop.Completion, error) {
	c, err := rec.Model.Complete(ctx, r)
	var none interface{ Unasked() bool }
	if errors.Is(err, context.Canceled) || errors.As(err, &none) && none.Unasked() {
		return c, err
	}
	call := Call{
		Turn: r.Turn, Attempt: r.Attempt, Digest: rec.Header.Digest(r), System: r.System, User: r.User, MaxTokens: r.MaxTokens,
		Reply: c.Text, Reasoning: c.Reasoning, Finish: c.Finish, Usage: c.Usage,
	}
	if rec.Terse {
		call.System, call.User = "", ""
	}
	if err != nil {
		call.Error = err.Error()
	}
	if writeErr := rec.write(wired(call)); writeErr != nil {
		return loop.Completion{}, fmt.Errorf("journal: %w", writeErr)
	}
	return c, err
}

func (rec Recorder) write(v any) error {
	b, err := line(v)
	if err != nil {
		return err
	}
	_, err = rec.W.Write(b)
	return err
}

// line is v as a line of a journal, its end included.
func line(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return b.Bytes(), err
}

// wire is a Call as it is written. JSON cannot hold what is not UTF-8, and a reply's exact
// bytes decide whether it parses: such a text is written for reading, and its bytes beside it.
type wire struct {
	Call
	ReplyBytes     []byte `json:"reply_bytes,omitempty"`
	ReasoningBytes []byte `json:"reasoning_bytes,omitempty"`
}

func wired(c Call) wire {
	w := wire{Call: c}
	w.Reply, w.ReplyBytes = readable(c.Reply)
	w.Reasoning, w.ReasoningBytes = readable(c.Reasoning)
	return w
}

// readable is text as JSON can hold it, and its bytes where that is another one.
func readable(text string) (string, []byte) {
	if utf8.ValidString(text) {
		return text, nil
	}
	return strings.ToValidUTF8(text, "\uFFFD"), []byte(text)
}

// call is the Call that was written.
func (w wire) call() Call {
	c := w.Call
	if w.ReplyBytes != nil {
		c.Reply = string(w.ReplyBytes)
	}
	if w.ReasoningBytes != nil {
		c.Reasoning = string(w.ReasoningBytes)
	}
	return c
}

// same says whether two forms of one Call hold the same texts and bytes.
func (w wire) same(other wire) bool {
	return w.Reply == other.Reply && bytes.Equal(w.ReplyBytes, other.ReplyBytes) &&
		w.Reasoning == other.Reasoning && bytes.Equal(w.ReasoningBytes, other.ReasoningBytes)
}
