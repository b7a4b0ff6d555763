package plan

import (
	"slices"
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

// matrix expands the experiment: levels, sessions, queries, models, exit settings, trials. The
// runs are made in one piece: there may be a million.
func matrix(p *Plan) []*Run {
	made := make([]Run, 0, matrixSize(p))
	for _, level := range p.Spec.Levels.Value {
		if level == 2 && p.Spec.L2Source == spec.Memories {
			made = overMemories(p, made)
			continue
		}
		for n, s := range p.Sessions {
			for i := range s.Queries() {
				q := &s.Queries()[i]
				cell := Cell{Corpus: s.Corpus.ID.Value, Session: s.Name(), Query: q.ID, Level: level}
				made = ofModels(p, made, Run{Cell: cell, Question: q.Text, References: &q.Query}, func(r *Run) {
					r.Session = r.Setup.Sessions[n]
					r.Asked, r.Turns = &r.Session.Queries()[i], r.Session.Len()
				})
			}
		}
	}
	runs := make([]*Run, len(made))
	for i := range made {
		runs[i] = &made[i]
	}
	return runs
}

// MaxRuns bounds an experiment's matrix: each run is held, and has a folder.
const MaxRuns = 1_000_000

// checkSize refuses a matrix that is too large before it is expanded.
func checkSize(p *Plan) *diag.Error {
	runs := matrixSize(p)
	if runs <= MaxRuns {
		return nil
	}
	asked, _ := questions(p)
	return p.Spec.At.Errorf("found %d runs (questions of sessions: %d, levels: %d, models: %d, exit settings: %d, trials: %d), want at most %d",
		runs, asked, len(p.Spec.Levels.Value), len(p.Spec.Models), len(p.Spec.ExitGate.Value), p.Spec.Trials, MaxRuns)
}

// matrixSize is the number of runs.
func matrixSize(p *Plan) (runs int) {
	asked, queries := questions(p)
	for _, level := range p.Spec.Levels.Value {
		n := asked
		if level == 2 && p.Spec.L2Source == spec.Memories {
			n = queries
		}
		runs += n * len(p.Spec.Models) * len(p.Spec.ExitGate.Value) * p.Spec.Trials
	}
	return runs
}

// questions are the pairs of a session and a query that is asked of it, and the queries.
func questions(p *Plan) (asked, queries int) {
	seen := map[string]bool{}
	for _, s := range p.Sessions {
		asked += len(s.Queries())
		for _, q := range s.Queries() {
			seen[q.ID] = true
		}
	}
	return asked, len(seen)
}

// ofModels adds the base run for each model, exit setting and trial; read says what each reads.
func ofModels(p *Plan, made []Run, base Run, read func(*Run)) []Run {
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
			}
		}
	}
	return made
}

// overMemories adds the L2 runs: one for each query, model, exit setting and trial, over
// the recorded L1 runs of that query, model and trial in the order of their sessions. l1 has
// the models' runs of one query of a session after another, each in the same order.
func overMemories(p *Plan, l1 []Run) []Run {
	exits := p.Spec.ExitGate.Value
	size := len(p.Spec.Models) * len(exits) * p.Spec.Trials
	blocks := map[string][]int{} // where those of a query begin
	var queries []*Run           // the first of each
	for i := 0; i < len(l1); i += size {
		id := l1[i].Query
		if blocks[id] == nil {
			queries = append(queries, &l1[i])
		}
		blocks[id] = append(blocks[id], i)
	}
	recorded, made := slices.Index(exits, spec.Record), l1
	for _, q := range queries {
		sources := make([]string, 0, size*len(blocks[q.Query])) // in one piece, as the runs
		next := 0
		cell := Cell{Session: memoriesSession, Query: q.Query, Level: 2}
		made = ofModels(p, made, Run{Cell: cell, Question: q.Question, References: q.References}, func(r *Run) {
			from, i := len(sources), next+(recorded-slices.Index(exits, r.ExitGate))*p.Spec.Trials
			next++
			for _, start := range blocks[q.Query] {
				if recorded >= 0 {
					sources = append(sources, l1[start+i].Name)
				}
			}
			r.Sources = sources[from:len(sources):len(sources)]
			r.Turns = len(r.Sources)
		})
	}
	return made
}

// pairReplays makes runs with the exit gate enforced replay the recorded run of the same
// cell where their replies come from a server. That of one exit setting stands as many runs
// after that of the other as there are trials (ofModels).
func pairReplays(s *spec.Spec, runs []*Run) {
	recorded, enforced := slices.Index(s.ExitGate.Value, spec.Record), slices.Index(s.ExitGate.Value, spec.Enforce)
	if recorded < 0 || enforced < 0 {
		return
	}
	for i, r := range runs {
		if r.fromServer() && r.ExitGate == spec.Enforce {
			r.ReplayOf = runs[i+(recorded-enforced)*s.Trials].Name
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
