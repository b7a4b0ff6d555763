package stat

import (
	"errors"
	"fmt"

	"github.com/poimen-memory/mem/harness/stat/cluster"
)

// Sample collects the runs of one model at one level with one exit setting. It keeps sums
// for each query on each session and a few numbers for each chunk, not the turns, so that
// runs can be added while they are read from disk. The zero value is empty.
type Sample struct {
	first    *Run // names only
	index    map[[2]string]int
	cells    []*cellSums
	tags     map[string]map[string]string // query → tag → value
	coverage Coverage
	changed  int // retaining turns whose memory bytes changed, of all runs
	trials   int // the most that a query has on a corpus
	mixed    error
}

// cellSums is what a query has on a session.
type cellSums struct {
	query, session string
	done           facts // of complete runs
	missing        facts // of incomplete runs, as if every reply were right
	runs           int   // complete
	incomplete     int
	sources        []*source
}

// Coverage says how much of the runs there is.
type Coverage struct {
	Runs       int `json:"runs"`
	Incomplete int `json:"incomplete"` // runs, in no estimate
	Turns      int `json:"turns"`      // those of incomplete runs included
	Missing    int `json:"missing"`    // turns of incomplete runs
}

// Collect is a Sample of runs.
func Collect(runs []Run) *Sample {
	var s Sample
	for _, r := range runs {
		s.Add(r)
	}
	return &s
}

// Add adds a run. Runs of another model, level or exit setting than the first are counted
// too; Decide refuses the sample then.
func (s *Sample) Add(r Run) {
	s.identify(r)
	c := s.cell(r.Query, r.session())
	s.coverage.Runs++
	s.coverage.Turns += r.chunks()
	for _, t := range r.Turns {
		s.changed += int(oneIf(t.Changed && !t.Written))
	}
	source := c.source(r)
	if r.Incomplete {
		s.coverage.Incomplete++
		s.coverage.Missing += r.chunks()
		f := r.perfect().facts()
		c.missing.add(&f)
		c.incomplete++
		source.missing++
	} else {
		f := r.facts()
		c.done.add(&f)
		c.runs++
		source.add(r)
	}
	s.trials = max(s.trials, len(source.runs)+source.missing)
}

// identify keeps what names the runs.
func (s *Sample) identify(r Run) {
	if s.first == nil {
		s.first = &Run{Model: r.Model, Level: r.Level, Exit: r.Exit}
		s.index, s.tags = map[[2]string]int{}, map[string]map[string]string{}
	}
	if r.Model != s.first.Model || r.Level != s.first.Level || r.Exit != s.first.Exit {
		s.mixed = fmt.Errorf("found runs of %s at %s with exit gate %q among those of %s at %s with %q: want one model, level and exit setting",
			r.Model, r.Level, r.Exit, s.first.Model, s.first.Level, s.first.Exit)
	}
	if _, seen := s.tags[r.Query]; !seen {
		s.tags[r.Query] = r.Tags
	}
}

func (s *Sample) cell(query, session string) *cellSums {
	key := [2]string{query, session}
	i, seen := s.index[key]
	if !seen {
		i = len(s.cells)
		s.index[key] = i
		s.cells = append(s.cells, &cellSums{query: query, session: session})
	}
	return s.cells[i]
}

// Coverage is that of the runs added so far.
func (s *Sample) Coverage() Coverage { return s.coverage }

// Changed is the number of retaining turns whose memory bytes changed, those of incomplete
// runs included.
func (s *Sample) Changed() int { return s.changed }

// Metric is a metric by name with its estimate.
type Metric struct {
	Name string `json:"metric"`
	Estimate
}

// Measure is every metric of METRICS section 1 over the complete runs; pass_k for each k up
// to the number of trials. Intervals are those of the unit.
func (s *Sample) Measure(unit Unit) []Metric {
	all := metrics()
	for k := range s.trials {
		all = append(all, passMetric(k+1))
	}
	out := make([]Metric, len(all))
	for i, m := range all {
		out[i] = Metric{m.Name, s.measure(m, false).Estimate(unit)}
	}
	return out
}

// MeasureOne is one metric; an error if there is none of that name.
func (s *Sample) MeasureOne(name string, unit Unit) (Estimate, error) {
	m, ok := find(name)
	if !ok {
		return Estimate{}, UnknownMetric(name)
	}
	return s.measure(m, false).Estimate(unit), nil
}

// Queries are the names of the queries, in the order in which they were added.
func (s *Sample) Queries() (names []string) {
	seen := map[string]bool{}
	for _, c := range s.cells {
		if !seen[c.query] {
			seen[c.query] = true
			names = append(names, c.query)
		}
	}
	return names
}

// Labels is the number of chunks of the queries, each with a label.
func (s *Sample) Labels() (n int) {
	for _, c := range s.cells {
		for _, source := range c.sources {
			n += len(source.evidence)
		}
	}
	return n
}

// Only is the sample of the queries that pass, without coverage.
func (s *Sample) Only(keep func(query string) bool) *Sample {
	part := Sample{tags: s.tags, trials: s.trials}
	for _, c := range s.cells {
		if keep(c.query) {
			part.cells = append(part.cells, c)
		}
	}
	return &part
}

// Count counts a metric for a decision: what is missing stands beside the complete runs. It
// is an error if there is no metric of that name.
func (s *Sample) Count(name string) (Counting, error) {
	m, ok := find(name)
	if !ok {
		return Counting{}, UnknownMetric(name)
	}
	return s.measure(m, true), nil
}

// measure is a metric over the complete runs; for a decision with what is missing beside
// them.
func (s *Sample) measure(m metric, decision bool) Counting {
	if m.composite == nil {
		return Counting{metric: m, rate: s.rateOf(m, decision), notes: s.remarks(m)}
	}
	recall, _ := find(m.composite.recall)
	specificity, _ := find(m.composite.specificity)
	return Counting{metric: m, rate: s.rateOf(recall, decision), second: s.rateOf(specificity, decision)}
}

// rateOf is what each query on each session contributes to a rate.
func (s *Sample) rateOf(m metric, decision bool) cluster.Rate {
	list := make([]Cell, len(s.cells))
	for i, c := range s.cells {
		list[i] = c.of(m, decision)
	}
	return cluster.NewRate(list)
}

func (c *cellSums) of(m metric, decision bool) Cell {
	cell := Cell{Query: c.query, Session: c.session, K: float64(c.runs)}
	if m.repeated != nil {
		cell.K = 1 // a unit has used up its trials
		for _, trials := range c.sources {
			x, missing, n := m.repeated(trials, decision)
			cell.X, cell.Missing, cell.N = cell.X+x, cell.Missing+missing, cell.N+n-missing
		}
		return cell
	}
	cell.X, cell.N = c.done.sum(m.x), c.done.sum(m.n)
	if decision {
		cell.Missing, cell.K = c.missing.sum(m.n), float64(c.runs+c.incomplete)
	}
	return cell
}

// remarks are what the value of a metric leaves unsaid.
func (s *Sample) remarks(m metric) []string {
	if m.Name != "exit_delay" {
		return nil
	}
	never := 0.0
	for _, c := range s.cells {
		never += c.done[exitNever]
	}
	switch n := int(never); {
	case never == 0:
		return nil
	case n == 1:
		return []string{"1 run with evidence never exits, counted at T"}
	default:
		return []string{fmt.Sprintf("%d runs with evidence never exit, counted at T", n)}
	}
}

// Check says what is wrong with the runs for a decision: it takes one model and level, with
// the exit gate recorded only.
func (s *Sample) Check() error {
	if len(s.cells) == 0 {
		return errors.New("there are no runs to decide on")
	}
	if s.mixed == nil && s.first.Exit != ExitRecord && s.first.Exit != "" {
		return fmt.Errorf("found runs with exit gate %q: want recorded only, where all turns exist", s.first.Exit)
	}
	return s.mixed
}
