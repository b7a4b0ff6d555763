// Package inspect puts the turns of a run together with what they read, for a person who
// wants to know why a turn came out as it did: the question, the chunk, its evidence, the
// replies, the memory before and after. It reads records, and the spec's corpora for the
// chunks, which records do not hold; it runs nothing.
package inspect

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/prompt"
)

// Reader reads the turns of an evaluation's runs.
type Reader struct {
	Folder record.Folder
	Plan   *plan.Plan // of the spec as it is now; nil: chunks and questions are not known
}

// Turn is a turn with what led to it.
type Turn struct {
	result.JudgedTurn
	Run      result.Run
	Question string           // empty: not known
	Mistakes []result.Mistake // empty: the turn is right
	Before   *prompt.Text     // the memory that its prompt showed; nil: none yet
	Chunk    *prompt.Chunk    // nil: not known, or not what the model read; see NoChunk
	NoChunk  string           // why there is no Chunk
	Excerpt  string           // the bytes of the labels in the chunk, a newline between two places
}

// Last is the run's last turn on evidence, from which on the exit gate may say end; 0 for none.
func (t Turn) Last() int {
	if n := len(t.Run.Evidence); n > 0 {
		return t.Run.Evidence[n-1]
	}
	return 0
}

// Turns gives the turns of a run in order. The error, after which nothing comes, is about the
// record, or about a session that can no longer be read.
func (r Reader) Turns(run result.Run) iter.Seq2[Turn, error] {
	return func(yield func(Turn, error) bool) {
		turns := result.TurnsIn(r.Folder)(run)
		if turns == nil {
			yield(Turn{}, fmt.Errorf("run %s has no record: it is %s: %s", run.Name, run.State, run.Reason))
			return
		}
		in := r.input(run)
		next, stop := iter.Pull2(in.chunks)
		defer stop()
		var before *prompt.Text
		opened := false
		for judged, err := range turns {
			if err != nil {
				yield(Turn{}, fmt.Errorf("run %s: %w", run.Name, err))
				return
			}
			t := Turn{JudgedTurn: judged, Run: run, Question: in.question, Before: before}
			t.Mistakes = judged.Mistakes(judged.Exit && !opened, t.Last())
			opened = opened || judged.Exit
			if err := in.read(&t, next); err != nil {
				yield(Turn{}, err)
				return
			}
			if !yield(t, nil) {
				return
			}
			if judged.Written {
				text := judged.Memory.Measured()
				before = &text
			}
		}
	}
}

// input is what a run read, as far as it is known.
type input struct {
	question string
	chunks   iter.Seq2[prompt.Chunk, error]
	excerpts map[int]string
	unknown  string // why chunks are not known
}

func (r Reader) input(run result.Run) input {
	none := func(yield func(prompt.Chunk, error) bool) {}
	if r.Plan == nil {
		return input{chunks: none, unknown: "without the spec the session is not known"}
	}
	for _, planned := range r.Plan.Runs {
		if planned.Name != run.Name {
			continue
		}
		in, blocked := r.plannedInput(planned)
		if blocked.State != record.Complete {
			return input{question: planned.Question, chunks: none, unknown: blocked.Reason}
		}
		known := input{question: planned.Question, chunks: in.Chunks, excerpts: map[int]string{}}
		for _, e := range in.Evidence {
			known.excerpts[e.Chunk] = e.Excerpt
		}
		return known
	}
	return input{chunks: none, unknown: "the spec has no such run any more"}
}

func (r Reader) plannedInput(run *plan.Run) (plan.Input, record.End) {
	if !run.OverMemories() {
		return run.Input(), record.End{State: record.Complete}
	}
	var sources []record.Outcome
	for _, name := range run.Sources {
		sources = append(sources, r.Folder.Outcome(name))
	}
	return r.Plan.MemoryInput(run, sources)
}

// read adds the turn's chunk.
func (in input) read(t *Turn, next func() (prompt.Chunk, error, bool)) error {
	chunk, err, ok := next()
	switch {
	case in.unknown != "":
		t.NoChunk = in.unknown
	case err != nil:
		return err
	case !ok, t.ChunkSHA != "" && t.ChunkSHA != chunk.SHA():
		t.NoChunk = "the model read another chunk than the session has here now"
	default:
		t.Chunk, t.Excerpt = &chunk, in.excerpts[t.Number]
	}
	return nil
}

// Turn is one turn of a run, from 1; ok is false if the run has none of that number.
func (r Reader) Turn(run result.Run, number int) (t Turn, ok bool, err error) {
	for t, err := range r.Turns(run) {
		if err != nil || t.Number == number {
			return t, err == nil, err
		}
	}
	return Turn{}, false, nil
}

// Wrong gives the turns that are wrong in the given ways: one way after the other, within it
// the worst runs first. A turn that is wrong in two ways comes twice.
func (r Reader) Wrong(runs []result.Run, ways ...result.Mistake) iter.Seq2[result.Mistake, iter.Seq2[Turn, error]] {
	runs = Worst(runs)
	return func(yield func(result.Mistake, iter.Seq2[Turn, error]) bool) {
		for _, way := range ways {
			if !yield(way, r.wrong(runs, way)) {
				return
			}
		}
	}
}

// wrong gives the turns that are wrong in one way.
func (r Reader) wrong(runs []result.Run, way result.Mistake) iter.Seq2[Turn, error] {
	return func(yield func(Turn, error) bool) {
		for _, run := range runs {
			if run.ChunksSeen == 0 || way != result.OverBudget && run.Troubles.Count(way) == 0 {
				continue
			}
			for t, err := range r.Turns(run) {
				if err != nil || slices.Contains(t.Mistakes, way) {
					if !yield(t, err) || err != nil {
						return
					}
				}
			}
		}
	}
}

// Worst sorts runs, the worst first; equally bad ones stay in order.
func Worst(runs []result.Run) []result.Run {
	runs = slices.Clone(runs)
	slices.SortStableFunc(runs, func(a, b result.Run) int { return b.Badness() - a.Badness() })
	return runs
}

// Named returns the runs of a name, or of a part of one up to a slash.
func Named(runs []result.Run, name string) ([]result.Run, error) {
	var some []result.Run
	var names []string
	part := "/" + strings.Trim(name, "/") + "/"
	for _, r := range runs {
		if r.Name == name {
			return []result.Run{r}, nil
		}
		if strings.Contains("/"+r.Name+"/", part) {
			some = append(some, r)
		}
		names = append(names, r.Name)
	}
	if _, err := result.ParseMistake(name); err == nil {
		return nil, fmt.Errorf("run: found %q, which is a kind of wrong turns: want --wrong=%s", name, name)
	}
	if len(some) == 0 {
		return nil, fmt.Errorf("run: found %q, want a run's name or a part of it up to a slash, of which there are %s", name, diag.Examples(names))
	}
	return some, nil
}
