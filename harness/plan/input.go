package plan

import (
	"encoding/json"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/internal/digest"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/journal"
	"github.com/poimen-memory/mem/prompt"
	"github.com/poimen-memory/mem/scripted"
)

// Input is what a run reads: chunks, and what the labels say of each.
type Input struct {
	Chunks   iter.Seq2[prompt.Chunk, error]
	SHA      string // of the chunks
	Records  int    // of the session
	Tokens   []int  // of each chunk
	Evidence []corpus.Evidence
	Hard     []int // turns whose chunk is a hard negative
	Cut      []int // turns whose chunk begins within a label
	Length   int
	Depth    float64
}

// Input is what a run over a session reads; MemoryInput is that of an L2 run over memories.
func (r *Run) Input() Input {
	s, a := r.Session, r.Asked
	return Input{
		Chunks: s.Chunks(), SHA: s.SHA(), Records: s.Records(), Tokens: s.ChunkTokens(), Evidence: a.Evidence,
		Hard: a.Hard, Cut: a.Cut, Length: s.Length(), Depth: s.Depth(),
	}
}

// MemoryInput is what an L2 run over memories reads: one record a memory, in the order of its
// sources, of which those without a memory give no chunk. outcomes are those of the sources.
// The end says why the run cannot be executed; Complete if it can.
func (p *Plan) MemoryInput(r *Run, outcomes []record.Outcome) (in Input, blocked record.End) {
	var chunks []prompt.Chunk
	var shas strings.Builder
	for i, source := range outcomes {
		switch {
		case source.State == record.Incomplete || source.State == record.Interrupted:
			return Input{}, record.End{State: source.State, Reason: fmt.Sprintf("its L1 run %s is %s", r.Sources[i], source.State)}
		case source.State != record.Complete:
			return Input{}, record.End{State: record.Skipped, Reason: fmt.Sprintf("its L1 run %s is %s", r.Sources[i], source.State)}
		case source.Memory == nil:
			continue
		}
		chunk := r.Setup.memoryChunk(*source.Memory)
		chunks = append(chunks, chunk)
		shas.WriteString(chunk.SHA())
		in.Tokens = append(in.Tokens, chunk.Tokens)
		if p.committed(r.Sources[i], source) {
			in.Evidence = append(in.Evidence, corpus.Evidence{Chunk: len(chunks), Excerpt: *source.Memory})
		}
	}
	if len(chunks) < 2 {
		return Input{}, record.End{State: record.Skipped, Reason: fmt.Sprintf("%d of %d sessions left a memory, L2 needs two", len(chunks), len(outcomes))}
	}
	in.SHA, in.Records = digest.Of(shas.String()), len(chunks)
	in.Chunks = func(yield func(prompt.Chunk, error) bool) {
		for _, c := range chunks {
			if !yield(c, nil) {
				return
			}
		}
	}
	return in, record.End{State: record.Complete}
}

// committed reports whether an evidence chunk became memory in the named L1 run.
func (p *Plan) committed(source string, outcome record.Outcome) bool {
	for _, ev := range p.byName[source].Asked.Evidence {
		if slices.Contains(outcome.Written, ev.Chunk) {
			return true
		}
	}
	return false
}

// Turns are the turns whose chunk is evidence, ascending.
func (in Input) Turns() []int {
	turns := []int{}
	for _, ev := range in.Evidence {
		turns = append(turns, ev.Chunk)
	}
	return turns
}

// Digest is the SHA-256 of the question, the chunks and which of them are evidence.
func (in Input) Digest(question string) string {
	return digest.Of(fmt.Sprintf("%s %s %v", digest.Of(question), in.SHA, in.Turns()))
}

// Truth is what an oracle may know, one entry for each chunk. Only the model factory sees it.
func (in Input) Truth() []scripted.Truth {
	truth := make([]scripted.Truth, len(in.Tokens))
	for i, ev := range in.Evidence {
		truth[ev.Chunk-1] = scripted.Truth{Evidence: true, Last: i == len(in.Evidence)-1, Excerpt: ev.Excerpt}
	}
	return truth
}

// Header is the head of the run's journal: what a record, and a recording that is
// replayed, must agree with. The model of a live run is completed by its client.
func (p *Plan) Header(r *Run, in Input) journal.Header {
	b := r.Setup.Budget()
	return journal.Header{
		TemplateSHA: r.Setup.Template.SHA, Query: r.Question, System: r.Setup.System(), Corpus: r.Cell.Session,
		SessionSHA: in.SHA, Records: in.Records, Chunking: r.chunking(),
		Budget: map[string]int{
			"window": b.Window, "template": b.Template, "question": b.Question,
			"memory": b.Memory, "chunk": b.Chunk, "response": b.Response,
		},
		Tokenizer: p.Tokenizer(), Model: p.modelHeader(r.Spec, in),
		Level: loop.Level(r.Level), Trial: r.Trial,
	}
}

// chunking is how the session's chunks are filled, by unit; nil for memories, which are a chunk
// each.
func (r *Run) chunking() map[string]int {
	switch {
	case r.Session == nil:
		return nil
	case r.Session.Corpus.Chunk.Records.Present():
		return map[string]int{"records": r.Session.Corpus.Chunk.Records.Value}
	}
	return map[string]int{"tokens": r.Session.Corpus.Chunk.Tokens.Value}
}

// modelHeader is what a journal says of its model: what the spec says, and the digest of
// the labels where the model reads them.
func (p *Plan) modelHeader(m *spec.Model, in Input) map[string]any {
	h := map[string]any{"id": m.ID.Value}
	if m.Policy.Present() {
		h["policy"] = m.Policy.Value
	}
	if m.Script.Present() {
		h["script"], h["sha"] = filepath.Base(m.Script.Value), p.scripts[m.Script.Value]
	}
	if m.Replay != nil {
		h["replay"] = filepath.Base(m.Replay.Path.Value)
	}
	if m.Policy.Value == spec.NoisyOracle {
		h["wrong_update"], h["wrong_exit"] = m.WrongUpdate.Value, m.WrongExit.Value
		h["malformed"], h["seed"] = m.Malformed.Value, m.Seed.Value
	}
	if m.ReadsLabels() {
		h["labels_sha"] = in.labelsSHA()
	}
	return h
}

// labelsSHA is the digest of all that a model which reads labels is told.
func (in Input) labelsSHA() string {
	text, err := json.Marshal(in.Truth())
	if err != nil {
		panic(err) // strings and booleans always encode
	}
	return digest.Of(string(text))
}
