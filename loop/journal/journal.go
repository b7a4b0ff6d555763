package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/poimen-memory/mem/loop"
)

// Schema is the version of the format that a Recorder begins journals in.
const Schema = 2

// unchainedSchema is the version before chains, whose journals are still read and continued.
const unchainedSchema = 1

// Header is line 1: what a replay must agree with. The fields that schema 1 does not have are
// zero in its journals.
type Header struct {
	Schema      int            `json:"schema"`
	TemplateSHA string         `json:"template_sha"`
	Query       string         `json:"query"`
	System      string         `json:"system,omitempty"`      // the system message
	Corpus      string         `json:"corpus"`                // the session's name
	SessionSHA  string         `json:"session_sha,omitempty"` // since schema 2: of the session's content
	Records     int            `json:"records,omitempty"`     // since schema 2: of the session
	Chunking    map[string]int `json:"chunking,omitempty"`    // since schema 2: how chunks are filled, by unit
	Budget      map[string]int `json:"budget"`                // tokens by component
	Tokenizer   string         `json:"tokenizer"`
	Model       map[string]any `json:"model"` // what it is and its sampling parameters
	Level       loop.Level     `json:"level"`
	Trial       int            `json:"trial"`
}

// Call is one attempt at a turn, or at the answer (loop.AnswerTurn), which follows them.
// System and User are left out where the request can be assembled again: its digest says
// the same. Error is set when no reply came.
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
	// Confidence is that of the gates, where the model was asked for log probabilities.
	Confidence *loop.Confidence `json:"gate_confidence,omitempty"`
}

// End is the last line, of a run that was not killed.
type End struct {
	State         string `json:"state"`          // complete, failed, misconfigured, incomplete or interrupted
	Reason        string `json:"reason"`         // of a state other than complete
	LogSHA256     string `json:"log_sha256"`     // of the run's events.jsonl
	JournalSHA256 string `json:"journal_sha256"` // of the journal's bytes before this line

	// Outcome is what the loop said when it returned; nil: not known.
	Outcome *Outcome `json:"outcome,omitempty"`
}

// Outcome is what a loop said when it returned, to be held against the log. The final memory
// stands in it only if it is not the log's.
type Outcome struct {
	ChunksSeen  int            `json:"chunks_seen"`
	ChunksUsed  int            `json:"chunks_used"`
	StoppedBy   loop.StoppedBy `json:"stopped_by,omitempty"` // empty: the loop did not end
	OtherMemory bool           `json:"other_memory,omitempty"`
	Memory      *string        `json:"memory,omitempty"` // with OtherMemory; nil: none
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
// than want, with both values; "" if a replay may go on. What follows from another field, as
// the session's chunks follow from the tokenizer and the chunking, comes after it. models says
// whether the model must be the same too. What a header does not hold, as schema 1 does not
// hold the session, is not compared: it is not known.
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
		{"level", h.Level, want.Level},
		{"trial", h.Trial, want.Trial},
		{"tokenizer", h.Tokenizer, want.Tokenizer},
		{"budget", h.Budget, want.Budget},
		{"chunking", h.chunking(want), want.chunking(h)},
		{"session", h.session(want), want.session(h)},
	}
	if models {
		fields = append(fields, field{"model", h.Model, want.Model})
	}
	for _, f := range fields {
		if diff := difference(f.name, f.recorded, f.want); diff != "" {
			return diff
		}
	}
	return ""
}

// difference is a sentence about a value that changed; of an object, about each key that did.
func difference(name string, recorded, want any) string {
	was, is := encode(recorded), encode(want)
	if was == is {
		return ""
	}
	before, now := object(was), object(is)
	if before == nil || now == nil {
		return fmt.Sprintf("%s was %s when recorded, is %s now", name, short(was), short(is))
	}
	var changes []string
	for _, key := range slices.Sorted(maps.Keys(union(before, now))) {
		if diff := difference(name+"."+key, before[key], now[key]); diff != "" {
			changes = append(changes, diff)
		}
	}
	return strings.Join(changes, "; ")
}

// short shows a digest by its beginning.
func short(text string) string {
	digest := strings.Trim(text, `"`)
	if _, err := hex.DecodeString(digest); err == nil && len(digest) == 2*sha256.Size {
		return fmt.Sprintf("SHA-256 %.12s…", digest)
	}
	return text
}

// object is the JSON object that text is, or nil.
func object(text string) (o map[string]any) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&o); err != nil {
		return nil
	}
	return o
}

func union(a, b map[string]any) map[string]any {
	u := maps.Clone(a)
	maps.Copy(u, b)
	return u
}

// Grew reports whether want differs from h in nothing but a session with more records. models
// is that of Difference.
func (h Header) Grew(want Header, models bool) bool {
	same := want
	same.SessionSHA, same.Records = h.SessionSHA, h.Records
	return h.Chained() && h.SessionSHA != want.SessionSHA && want.Records > h.Records && h.Difference(same, models) == ""
}

// session is what h says of the session's content, as far as other says it too.
func (h Header) session(other Header) any {
	if h.SessionSHA == "" || other.SessionSHA == "" {
		return nil
	}
	return fmt.Sprintf("%d records, SHA-256 %.12s…", h.Records, h.SessionSHA)
}

// chunking is how h fills chunks, as far as other says it too and their chunks differ: the same
// chunks may come from several ways to fill them.
func (h Header) chunking(other Header) any {
	if h.Chunking == nil || other.Chunking == nil || h.SessionSHA == other.SessionSHA {
		return nil
	}
	return h.Chunking
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
