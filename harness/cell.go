package harness

import (
	"fmt"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/spec"
)

// Cell is one place of an experiment's matrix: what a run is of.
type Cell struct {
	Name     string     `json:"name"`   // also its folder below runs/
	Corpus   string     `json:"corpus"` // id in the spec; empty at L2 over memories
	Session  string     `json:"session"`
	Query    string     `json:"query"`
	Level    spec.Level `json:"level"`
	Model    string     `json:"model"`
	ExitGate string     `json:"exit_gate"` // spec.Record or spec.Enforce
	Trial    int        `json:"trial"`     // from 1
}

// MemoriesSession stands for the session of an L2 run, which reads the memories that L1
// runs left of all sessions of its query.
const MemoriesSession = "memories"

func (c Cell) named(trials int) Cell {
	c.Name = fmt.Sprintf("%s/%s/%s/%s/%s", c.Session, c.Query, c.Level, c.Model, c.ExitGate)
	if trials > 1 {
		c.Name += fmt.Sprintf("/t%d", c.Trial)
	}
	return c
}

// job is a run to be done: a cell with what it reads.
type job struct {
	Cell
	query      string // its text
	model      *spec.Model
	session    *session     // nil at L2 over memories
	asked      corpus.Asked // labels of the query in the session
	references corpus.Query // by whose Answers its answer is scored
	sources    []string     // names of the L1 runs whose memories an L2 run reads
	turns      int          // chunks to read; at L2 over memories: sources
	twin       string       // of a live run with the exit gate enforced: the recorded run it replays
	wanted     bool         // by Select, or by an L2 run that rests on it
}

// session is a corpus session and the corpus it is of.
type session struct {
	*corpus.Session
	corpus *spec.Corpus
}

// matrix expands the experiment: levels, sessions, queries, models, exit settings, trials.
func (e *Experiment) matrix() []*job {
	var jobs []*job
	for _, level := range e.Spec.Levels.Value {
		if level == 2 && e.Spec.L2Source == spec.Memories {
			jobs = append(jobs, e.overMemories(jobs)...)
			continue
		}
		for _, s := range e.sessions {
			for _, q := range s.Queries() {
				base := Cell{Corpus: s.corpus.ID.Value, Session: s.Name(), Query: q.ID, Level: level}
				jobs = append(jobs, e.variants(job{Cell: base, query: q.Text, session: s, asked: q, references: q.Query, turns: s.Len()})...)
			}
		}
	}
	return jobs
}

func (e *Experiment) variants(base job) []*job {
	var jobs []*job
	for i := range e.Spec.Models {
		for _, exit := range e.Spec.ExitGate.Value {
			for trial := 1; trial <= e.Spec.Trials; trial++ {
				j := base
				j.model = &e.Spec.Models[i]
				j.Model, j.ExitGate, j.Trial = j.model.ID.Value, exit, trial
				j.Cell = j.named(e.Spec.Trials)
				jobs = append(jobs, &j)
			}
		}
	}
	return jobs
}

// overMemories makes the L2 runs: one for each query, model, exit setting and trial, over
// the recorded L1 runs of that query, model and trial in the order of their sessions.
func (e *Experiment) overMemories(l1 []*job) []*job {
	type key struct {
		query, model string
		trial        int
	}
	sources := map[key][]string{}
	var queries []*job // the first of each query
	seen := map[string]bool{}
	for _, j := range l1 {
		if j.ExitGate == spec.Record {
			k := key{j.Query, j.Model, j.Trial}
			sources[k] = append(sources[k], j.Name)
		}
		if !seen[j.Query] {
			seen[j.Query] = true
			queries = append(queries, j)
		}
	}
	var jobs []*job
	for _, q := range queries {
		base := Cell{Session: MemoriesSession, Query: q.Query, Level: 2}
		for _, j := range e.variants(job{Cell: base, query: q.query, references: q.references}) {
			j.sources = sources[key{j.Query, j.Model, j.Trial}]
			j.turns = len(j.sources)
			jobs = append(jobs, j)
		}
	}
	return jobs
}

// choose marks the runs that are wanted, and what they rest on.
func choose(jobs []*job, wanted func(Cell) bool) {
	byName := map[string]*job{}
	for _, j := range jobs {
		byName[j.Name] = j
	}
	for _, j := range jobs {
		if !wanted(j.Cell) {
			continue
		}
		j.wanted = true
		for _, name := range append(j.sources, j.twin) {
			if source := byName[name]; source != nil {
				source.wanted = true
			}
		}
	}
}
