package compare

import (
	"fmt"

	"github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/harness/stat/cluster"
)

// Drop is cells of one run that only one side has scored.
type Drop struct {
	Query  string `json:"query"`
	Corpus string `json:"corpus"`
	Level  string `json:"level"`
	Trial  int    `json:"trial"`
	Turns  []int  `json:"turns,omitempty"` // 1-based; none: the whole run
	Why    string `json:"why"`
}

// Pairing collects the pairs of runs of a comparison in any number of metrics. It keeps
// sums for each query on each session, not the runs.
type Pairing struct {
	scorers []stat.Scorer
	tables  []pairs
	packed  string // how the sides' chunks are filled, of the first pair in which they differ
}

// pairs are the sums of one metric.
type pairs struct {
	index        map[[2]string]int
	cells        []cluster.PairedCell
	scored       int
	drops        []Drop
	graded       bool // a paired cell is neither right nor wrong
	onlyA, onlyB int
}

// New is a pairing without runs; an error if a metric is unknown or cannot be compared.
func New(metrics []string) (*Pairing, error) {
	p := &Pairing{tables: make([]pairs, len(metrics))}
	for i, name := range metrics {
		s, err := stat.NewScorer(name)
		if err != nil {
			return nil, err
		}
		p.scorers = append(p.scorers, s)
		p.tables[i].index = map[[2]string]int{}
	}
	return p, nil
}

// Add adds a pair: the runs of one query, corpus, level and trial on either side.
func (p *Pairing) Add(a, b stat.Run) {
	switch {
	case a.Incomplete:
		p.Drop(a, "incomplete in A")
		return
	case b.Incomplete:
		p.Drop(a, "incomplete in B")
		return
	}
	inA, inB := stat.Scores(p.scorers, a), stat.Scores(p.scorers, b)
	other := a.Packing != b.Packing
	if other && p.packed == "" {
		p.packed = fmt.Sprintf("each run counts once on either side, with its share of all its turns: chunks of %s in A, of %s in B", a.Packing, b.Packing)
	}
	for i := range p.tables {
		if other {
			inA[i], inB[i] = sum(inA[i]), sum(inB[i])
		}
		p.tables[i].add(a, inA[i], inB[i], p.scorers[i].PerTurn && !other)
	}
}

// sum is a run's scores in one: its turns have no counterpart in a run over other chunks.
func sum(scores []stat.Score) []stat.Score {
	var all stat.Score
	for _, s := range scores {
		all.X, all.N = all.X+s.X, all.N+s.N
	}
	return []stat.Score{all}
}

// Drop records a run that the other side does not have, and why.
func (p *Pairing) Drop(r stat.Run, why string) {
	for i := range p.tables {
		p.tables[i].drop(r, why, nil)
	}
}

func (t *pairs) drop(r stat.Run, why string, turns []int) {
	t.drops = append(t.drops, Drop{Query: r.Query, Corpus: r.Corpus, Level: r.Level, Trial: r.Trial, Turns: turns, Why: why})
}

func (t *pairs) add(r stat.Run, a, b []stat.Score, perTurn bool) {
	var sum cluster.PairedCell
	var onlyA, onlyB []int
	for i := range max(len(a), len(b)) {
		sa, sb := at(a, i), at(b, i)
		switch {
		case sa.N > 0 && sb.N > 0:
			t.count(&sum, sa, sb)
		case sa.N > 0:
			onlyA = append(onlyA, i+1)
		case sb.N > 0:
			onlyB = append(onlyB, i+1)
		}
	}
	t.dropTurns(r, "scored in A only", onlyA, perTurn)
	t.dropTurns(r, "scored in B only", onlyB, perTurn)
	if sum.N > 0 {
		t.addRun(r, sum)
	}
}

func at(scores []stat.Score, i int) stat.Score {
	if i < len(scores) {
		return scores[i]
	}
	return stat.Score{}
}

// count adds a paired cell to a run's sums. Where the sides have different denominators (a
// mean over chunks, say), the share of B counts for the denominator of A.
func (t *pairs) count(sum *cluster.PairedCell, a, b stat.Score) {
	bx := b.X * a.N / b.N
	sum.N, sum.A, sum.B = sum.N+a.N, sum.A+a.X, sum.B+bx
	sum.Gained, sum.Lost = sum.Gained+max(bx-a.X, 0), sum.Lost+max(a.X-bx, 0)
	t.scored++
	t.graded = t.graded || !binary(a) || !binary(b)
	if a.X > bx {
		t.onlyA++
	}
	if bx > a.X {
		t.onlyB++
	}
}

// binary says whether the cell is plainly right or wrong.
func binary(s stat.Score) bool { return s.N == 1 && (s.X == 0 || s.X == 1) }

func (t *pairs) dropTurns(r stat.Run, why string, turns []int, perTurn bool) {
	switch {
	case len(turns) == 0:
	case perTurn:
		t.drop(r, why, turns)
	default:
		t.drop(r, why, nil)
	}
}

func (t *pairs) addRun(r stat.Run, sum cluster.PairedCell) {
	session := r.Session
	if session == "" {
		session = r.Corpus
	}
	key := [2]string{r.Query, session}
	i, seen := t.index[key]
	if !seen {
		i = len(t.cells)
		t.index[key], t.cells = i, append(t.cells, cluster.PairedCell{Query: r.Query, Session: session})
	}
	c := &t.cells[i]
	c.N, c.A, c.B, c.K = c.N+sum.N, c.A+sum.A, c.B+sum.B, c.K+1
	c.Gained, c.Lost = c.Gained+sum.Gained, c.Lost+sum.Lost
}

// Results are the comparisons, one for each metric, not yet adjusted for each other.
func (p *Pairing) Results(cfg Config) []*Comparison {
	if cfg.Unit == "" {
		cfg.Unit = stat.Auto
	}
	results := make([]*Comparison, len(p.tables))
	for i, t := range p.tables {
		d := p.scorers[i].Definition
		c := &Comparison{Metric: d.Name, Better: d.Better, Unit: cfg.Unit, Cells: t.scored, Drops: t.drops, Pairs: []Pair{}}
		for _, cell := range t.cells {
			c.Pairs = append(c.Pairs, Pair{cell.Query, cell.Session, cell.A, cell.B, cell.N})
		}
		c.judge(t.cells, d, cfg)
		if t.scored > 0 && !t.graded {
			c.McNemar = mcNemar(t.onlyA, t.onlyB)
		}
		if p.packed != "" {
			c.Notes = append(c.Notes, p.packed)
		}
		results[i] = c
	}
	return results
}

// runKey is a run as both sides know it.
type runKey struct {
	query, id, corpus, level string
	trial                    int
}

func key(r stat.Run) runKey { return runKey{r.Query, r.ID, r.Corpus, r.Level, r.Trial} }

// Runs compares B with A in each metric. It is an error if a side has two runs of one query,
// corpus, level and trial, or if a metric cannot be compared.
func Runs(a, b []stat.Run, metrics []string, cfg Config) ([]*Comparison, error) {
	p, err := New(metrics)
	if err != nil {
		return nil, err
	}
	inA, err := index(a, "A")
	if err != nil {
		return nil, err
	}
	inB, err := index(b, "B")
	if err != nil {
		return nil, err
	}
	for _, r := range a {
		if other, ok := inB[key(r)]; ok {
			p.Add(r, b[other])
		} else {
			p.Drop(r, "no run in B")
		}
	}
	for _, r := range b {
		if _, ok := inA[key(r)]; !ok {
			p.Drop(r, "no run in A")
		}
	}
	return p.Results(cfg), nil
}

func index(runs []stat.Run, side string) (map[runKey]int, error) {
	byKey := make(map[runKey]int, len(runs))
	for i, r := range runs {
		k := key(r)
		if _, twice := byKey[k]; twice {
			return nil, fmt.Errorf("%s has two runs of query %s, corpus %s, level %s, trial %d: want one model and exit setting", side, k.query, k.corpus, k.level, k.trial)
		}
		byKey[k] = i
	}
	return byKey, nil
}
