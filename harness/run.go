package harness

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/eventlog"
	"github.com/poimen-memory/mem/loop/journal"
	"github.com/poimen-memory/mem/prompt"
)

// done is a run with what checks and later runs need of it.
type done struct {
	Run
	checks    []check.Result
	turns     []stat.Turn
	memories  []int // tokens, one a prompt
	prompts   []int // tokens, one a prompt
	chunks    []int // tokens, one a chunk of its input
	question  int   // tokens
	asked     []int // tokens of the prompt for the answer, if it was asked for
	memory    *prompt.Text
	committed bool
	twin      string // the run whose calls answered its turns, and are counted there
	usage     usage  // of its turns
	answering usage  // of its answer
}

// input is what a run reads: chunks, and for each turn what its labels say.
type input struct {
	chunks   iter.Seq2[prompt.Chunk, error]
	sha      string // of the chunks
	tokens   []int  // of each chunk
	evidence []corpus.Evidence
	hard     []int // turns whose chunk is a hard negative
	cut      []int // turns whose chunk begins within a label
	length   int
	depth    float64
}

func (s *session) input(asked corpus.Asked) input {
	return input{chunks: s.Chunks(), sha: s.SHA(), tokens: s.ChunkTokens(), evidence: asked.Evidence, hard: asked.Hard, cut: asked.Cut, length: s.Length(), depth: s.Depth()}
}

// begin is a run of a job with what is known of it before its first turn.
func (in input) begin(j *job) Run {
	r := Run{Cell: j.Cell, Chunks: len(in.tokens), Evidence: []int{}, Hard: in.hard, Cut: in.cut, Length: in.length, Depth: in.depth}
	for _, ev := range in.evidence {
		r.Evidence = append(r.Evidence, ev.Chunk)
	}
	r.Input = prompt.SHA(fmt.Sprintf("%s %s %v", prompt.SHA(j.query), in.sha, r.Evidence))
	return r
}

func (in input) truth() []Truth {
	truth := make([]Truth, len(in.tokens))
	for i, ev := range in.evidence {
		truth[ev.Chunk-1] = Truth{Evidence: true, Last: i == len(in.evidence)-1, Excerpt: ev.Excerpt}
	}
	return truth
}

func (in input) turns() map[int]bool {
	turns := map[int]bool{}
	for _, ev := range in.evidence {
		turns[ev.Chunk] = true
	}
	return turns
}

func (e *Experiment) runDir(name string) string {
	return filepath.Join(e.dir(), "runs", filepath.FromSlash(name))
}

// run takes one job through the loop. Its logs are on disk as far as it came, whatever
// happens.
func (e *Experiment) run(ctx context.Context, j *job, in input, turned func()) done {
	d := done{Run: in.begin(j), twin: j.twin, chunks: in.tokens}
	model, err := e.cfg.Models(ModelFor{
		Spec: e.Spec, Model: j.model, Cell: j.Cell, Header: e.header(j), Truth: in.truth(), Budget: e.prompts.Budget(), Count: e.count,
	})
	if err != nil {
		e.forget(j)
		d.State, d.Reason = Misconfigured, err.Error()
		return d
	}
	rec, err := e.record(j, model)
	if err != nil {
		d.State, d.Reason = classify(ctx, err)
		return d
	}
	defer rec.close()
	t := e.tally(j, in, rec, turned)
	watch := &check.Watch{Model: t, Sink: t}
	watch.Before, watch.After = e.prompts.Around()
	out, err := e.cfg.Loop(context.WithoutCancel(ctx), loop.Config{
		Model: watch, Sink: watch, Prompts: e.prompts, Level: loop.Level(j.Level),
		UseExitGate: j.ExitGate == spec.Enforce, Tokenizer: e.Tokenizer(),
	}, j.query, t.reading(until(ctx, in.chunks)))
	ended := err == nil
	d.memories, d.prompts, d.usage = t.memories, t.sizes, t.usage
	if ended {
		t.usage = usage{}
		d.Answer, err = e.ask(ctx, j, t, out.Memory)
		d.answering, d.asked = t.usage, t.answered()
	}
	d.State, d.Reason = classify(ctx, err)
	d.Facts, d.memory, d.committed, d.turns = t.end(out), out.Memory, t.committed(), t.turns
	d.question = t.problem.Tokens
	d.checks = append(d.checks, watch.Retain(j.Name, out), e.verify(j, len(in.tokens), ended, out))
	d.Changed = watch.Changed()
	if d.State == Complete {
		c := stat.Count(observe(d.Run, d.turns))
		d.Counts = &c
	}
	return d
}

// until ends chunks with ctx's error once it is cancelled: so the loop, which does not see
// ctx itself, finishes the turn in hand.
func until(ctx context.Context, chunks iter.Seq2[prompt.Chunk, error]) iter.Seq2[prompt.Chunk, error] {
	return func(yield func(prompt.Chunk, error) bool) {
		for chunk, err := range chunks {
			if ctx.Err() != nil {
				yield(prompt.Chunk{}, ctx.Err())
				return
			}
			if !yield(chunk, err) {
				return
			}
		}
	}
}

// classify names a run's end. A model that cannot answer as it was set up says so itself.
func classify(ctx context.Context, err error) (State, string) {
	var unusable interface{ Misconfigured() bool }
	switch {
	case err == nil:
		return Complete, ""
	case ctx.Err() != nil && errors.Is(err, ctx.Err()): // else a model's own, as of a timeout
		return Interrupted, "interrupted"
	case errors.As(err, &unusable) && unusable.Misconfigured():
		return Misconfigured, err.Error()
	}
	if _, over := errors.AsType[*prompt.OverBudget](err); over {
		return Failed, err.Error()
	}
	return Incomplete, err.Error()
}

func (e *Experiment) header(j *job) journal.Header {
	b := e.prompts.Budget()
	return journal.Header{
		TemplateSHA: e.template.SHA, Query: j.query, System: e.Spec.System, Corpus: j.Session,
		Budget: map[string]int{
			"window": b.Window, "template": b.Template, "question": b.Question,
			"memory": b.Memory, "chunk": b.Chunk, "response": b.Response,
		},
		Tokenizer: e.Tokenizer(), Model: modelHeader(j.model),
		Level: loop.Level(j.Level), Trial: j.Trial,
	}
}

// modelHeader is what a journal says of its model: what was written in the spec.
func modelHeader(m *spec.Model) map[string]any {
	h := map[string]any{"id": m.ID.Value}
	if m.Policy.Present() {
		h["policy"] = m.Policy.Value
	}
	if m.Script.Present() {
		h["script"] = filepath.Base(m.Script.Value)
	}
	if m.Replay != nil {
		h["replay"] = filepath.Base(m.Replay.Path.Value)
	}
	if m.Policy.Value == spec.NoisyOracle {
		h["wrong_update"], h["wrong_exit"] = m.WrongUpdate.Value, m.WrongExit.Value
		h["malformed"], h["seed"] = m.Malformed.Value, m.Seed.Value
	}
	return h
}

// verify reads a run's event log back from disk and judges it.
func (e *Experiment) verify(j *job, chunks int, ended bool, out loop.Outcome) check.Result {
	name := j.Name
	f, err := os.Open(filepath.Join(e.runDir(name), eventsFile))
	if err != nil {
		return check.Unreadable("log", name, err)
	}
	defer f.Close()
	report, err := eventlog.Verify(f, e.countRendered)
	if err != nil {
		return check.Unreadable("log", name, err)
	}
	return check.Log(name, ended, check.Of{Chunks: chunks, Outcome: out, Resumed: e.cfg.Resume && j.live(), Start: loop.RunStart{
		Schema: loop.Schema, Level: loop.Level(j.Level), QuerySHA: prompt.SHA(j.query), UseExitGate: j.ExitGate == spec.Enforce,
		MemoryBudget: e.prompts.Budget().Memory, Tokenizer: e.Tokenizer(),
	}}, report)
}

func (e *Experiment) countRendered(tokenizer string) func(string) int {
	if tokenizer != e.Tokenizer() {
		return nil
	}
	return func(text string) int { return e.prompts.Measure(text).Tokens }
}

// level2 makes the input of an L2 run from the L1 runs it rests on: one record a memory.
// reason says why it cannot be run, with the state that it then has.
func (e *Experiment) level2(j *job, l1 map[string]*done) (in input, state State, reason string) {
	var chunks []prompt.Chunk
	var shas strings.Builder
	for _, name := range j.sources {
		source := l1[name]
		switch {
		case source.State == Incomplete || source.State == Interrupted:
			return in, source.State, fmt.Sprintf("its L1 run %s is %s", name, source.State)
		case source.State != Complete:
			return in, Skipped, fmt.Sprintf("its L1 run %s is %s", name, source.State)
		case source.memory == nil:
			continue
		}
		chunk := e.prompts.Chunk(prompt.Record{Role: "memory", Text: source.memory.Raw})
		chunks = append(chunks, chunk)
		shas.WriteString(chunk.SHA())
		in.tokens = append(in.tokens, chunk.Tokens)
		if source.committed {
			in.evidence = append(in.evidence, corpus.Evidence{Chunk: len(chunks), Excerpt: source.memory.Raw})
		}
	}
	if len(chunks) < 2 {
		return in, Skipped, fmt.Sprintf("%d of %d sessions left a memory, L2 needs two", len(chunks), len(j.sources))
	}
	in.sha = prompt.SHA(shas.String())
	in.chunks = func(yield func(prompt.Chunk, error) bool) {
		for _, c := range chunks {
			if !yield(c, nil) {
				return
			}
		}
	}
	return in, Complete, ""
}
