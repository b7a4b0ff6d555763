package plan

import (
	"strconv"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/spec"
)

// Cell is one cell of an experiment's matrix: what a run is of.
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

// memoriesSession stands in the names of L2 runs in place of a session. A corpus may have
// the same id: only an empty Corpus tells what a run reads.
const memoriesSession = "memories"

// OverMemories reports whether the run reads the memories that L1 runs left of all sessions
// of its query, and not a session.
func (c Cell) OverMemories() bool { return c.Corpus == "" }

// WithoutTrial is the cell that all trials of a run share, without a name.
func (c Cell) WithoutTrial() Cell {
	c.Name, c.Trial = "", 0
	return c
}

// Named is the cell with its name, in an experiment of so many trials.
func (c Cell) Named(trials int) Cell {
	c.Name = c.Session + "/" + c.Query + "/" + c.Level.String() + "/" + c.Model + "/" + c.ExitGate
	if trials > 1 {
		c.Name += "/t" + strconv.Itoa(c.Trial)
	}
	return c
}

// Run is a planned run: a cell, what it reads and which runs it depends on.
type Run struct {
	Cell
	Question   string // text of the query
	Spec       *spec.Model
	Setup      *Setup        // what its prompts and chunks are made by
	Session    *Session      // nil at L2 over memories
	Asked      *corpus.Asked // labels of the query in the session
	References *corpus.Query // whose Answers score the run's answer
	Sources    []string      // names of the L1 runs whose memories an L2 run reads
	Turns      int           // chunks to read; at L2 over memories the number of sources
	ReplayOf   string        // the recorded run whose calls answer this one, with the exit gate enforced; "" if none
	Selected   bool          // by Config.Select, or because a selected run depends on it
}

// Live reports whether the run's model is one that calls are paid for.
func (r *Run) Live() bool { return r.Spec.Live != nil }

// fromServer reports whether the run's replies come, or came, from a server.
func (r *Run) fromServer() bool { return r.Live() || r.Spec.Replay != nil }

// Session is a corpus session and the corpus it belongs to.
type Session struct {
	*corpus.Session
	Corpus *spec.Corpus
}

// matrix expands the experiment: levels, sessions, queries, models, exit settings, trials.
func matrix(p *Plan) []*Run {
	var runs []*Run
	for _, level := range p.Spec.Levels.Value {
		if level == 2 && p.Spec.L2Source == spec.Memories {
			runs = append(runs, overMemories(p, runs)...)
			continue
		}
		for n, s := range p.Sessions {
			for i := range s.Queries() {
				q := &s.Queries()[i]
				cell := Cell{Corpus: s.Corpus.ID.Value, Session: s.Name(), Query: q.ID, Level: level}
				runs = append(runs, ofModels(p, Run{Cell: cell, Question: q.Text, References: &q.Query}, func(r *Run) {
					r.Session = r.Setup.Sessions[n]
					r.Asked, r.Turns = &r.Session.Queries()[i], r.Session.Len()
				})...)
			}
		}
	}
	return runs
}

// MaxRuns bounds an experiment's matrix: each run is held, and has a folder.
const MaxRuns = 1_000_000

// checkSize refuses a matrix that is too large before it is expanded.
func checkSize(p *Plan) *diag.Error {
	asked, queries := 0, map[string]bool{}
	for _, s := range p.Sessions {
		asked += len(s.Queries())
		for _, q := range s.Queries() {
			queries[q.ID] = true
		}
	}
	repeated := len(p.Spec.Models) * len(p.Spec.ExitGate.Value) * p.Spec.Trials
	runs := 0
	for _, level := range p.Spec.Levels.Value {
		n := asked
		if level == 2 && p.Spec.L2Source == spec.Memories {
			n = len(queries)
		}
		runs += n * repeated
	}
	if runs <= MaxRuns {
		return nil
	}
	return p.Spec.At.Errorf("found %d runs (questions of sessions: %d, levels: %d, models: %d, exit settings: %d, trials: %d), want at most %d",
		runs, asked, len(p.Spec.Levels.Value), len(p.Spec.Models), len(p.Spec.ExitGate.Value), p.Spec.Trials, MaxRuns)
}

// ofModels are the base run for each model, exit setting and trial; read says what each reads.
// They are made in one piece: there may be a million.
func ofModels(p *Plan, base Run, read func(*Run)) []*Run {
	n := len(p.Spec.Models) * len(p.Spec.ExitGate.Value) * p.Spec.Trials
	made, runs := make([]Run, 0, n), make([]*Run, 0, n)
	for i := range p.Spec.Models {
		setup := p.setupFor(&p.Spec.Models[i])
		for _, exit := range p.Spec.ExitGate.Value {
			for trial := 1; trial <= p.Spec.Trials; trial++ {
				made = append(made, base)
				r := &made[len(made)-1]
				r.Spec, r.Setup = &p.Spec.Models[i], setup
				r.Model, r.ExitGate, r.Trial = r.Spec.ID.Value, exit, trial
				r.Cell = r.Named(p.Spec.Trials)
				read(r)
				runs = append(runs, r)
			}
		}
	}
	return runs
}

// overMemories makes the L2 runs: one for each query, model, exit setting and trial, over
// the recorded L1 runs of that query, model and trial in the order of their sessions.
func overMemories(p *Plan, l1 []*Run) []*Run {
	type key struct {
		query, model string
		trial        int
	}
	sources := map[key][]string{}
	var queries []*Run // the first of each query
	seen := map[string]bool{}
	for _, r := range l1 {
		if r.ExitGate == spec.Record {
			k := key{r.Query, r.Model, r.Trial}
			sources[k] = append(sources[k], r.Name)
		}
		if !seen[r.Query] {
			seen[r.Query] = true
			queries = append(queries, r)
		}
	}
	var runs []*Run
	for _, q := range queries {
		cell := Cell{Session: memoriesSession, Query: q.Query, Level: 2}
		for _, r := range ofModels(p, Run{Cell: cell, Question: q.Question, References: q.References}, func(*Run) {}) {
			r.Sources = sources[key{r.Query, r.Model, r.Trial}]
			r.Turns = len(r.Sources)
			runs = append(runs, r)
		}
	}
	return runs
}

// pairReplays makes runs with the exit gate enforced replay the recorded run of the same
// cell where their replies come from a server.
func pairReplays(runs []*Run) {
	recorded := map[Cell]string{}
	key := func(r *Run) Cell {
		c := r.Cell
		c.Name, c.ExitGate = "", ""
		return c
	}
	for _, r := range runs {
		if r.fromServer() && r.ExitGate == spec.Record {
			recorded[key(r)] = r.Name
		}
	}
	for _, r := range runs {
		if r.fromServer() && r.ExitGate == spec.Enforce {
			r.ReplayOf = recorded[key(r)]
		}
	}
}

// selectRuns marks the wanted runs and those that they depend on.
func selectRuns(p *Plan, wanted func(Cell) bool) {
	for _, r := range p.Runs {
		if !wanted(r.Cell) {
			continue
		}
		r.Selected = true
		for _, name := range append(r.Sources, r.ReplayOf) {
			if source := p.byName[name]; source != nil {
				source.Selected = true
			}
		}
	}
}
