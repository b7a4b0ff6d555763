package stat

import (
	"fmt"
	"math"
)

// decidingDifferences is the least number of non-zero differences with which a two-sided
// sign-flip test can reach 0.05: 2/2⁶ < 0.05 < 2/2⁵.
const decidingDifferences = 6

// Comparison is one metric of B against A, on the cells that both have.
type Comparison struct {
	Metric string `json:"metric"`
	Better Better `json:"better,omitempty"`

	A *float64 `json:"a"` // rates pooled over the paired cells
	B *float64 `json:"b"`
	// Difference is the mean over queries of B − A, as benchstat's new − old; Lower and
	// Upper invert the sign-flip test at two-sided 95 %. nil: undefined, or unbounded
	// because too few queries differ, as Notes say.
	Difference *float64 `json:"difference"`
	Lower      *float64 `json:"lower"`
	Upper      *float64 `json:"upper"`
	P          *float64 `json:"p"`      // of the sign-flip test
	PHolm      *float64 `json:"p_holm"` // adjusted for all claims of its table: set by AdjustHolm
	Exact      bool     `json:"exact"`  // all sign vectors were enumerated

	Units   int          `json:"queries"` // paired
	NonZero int          `json:"non_zero_differences"`
	Cells   int          `json:"cells"` // paired turns or runs
	Queries []Pair       `json:"pairs"`
	Drops   []Drop       `json:"drops,omitempty"`
	McNemar *McNemarTest `json:"mcnemar,omitempty"`
	Notes   []string     `json:"notes,omitempty"`
	Reason  string       `json:"reason,omitempty"` // why Difference is undefined
}

// Pair is one query's counts on both sides, over paired cells.
type Pair struct {
	Query string  `json:"query"`
	AX    float64 `json:"a_x"`
	AN    float64 `json:"a_n"`
	BX    float64 `json:"b_x"`
	BN    float64 `json:"b_n"`
}

// Difference is the query's difference of rates, B − A.
func (p Pair) Difference() float64 { return p.BX/p.BN - p.AX/p.AN }

// Drop is cells of one run that only one side has scored.
type Drop struct {
	Query  string `json:"query"`
	Corpus string `json:"corpus"`
	Level  string `json:"level"`
	Trial  int    `json:"trial"`
	Turns  []int  `json:"turns,omitempty"` // 1-based; none: the whole run
	Why    string `json:"why"`
}

// McNemarTest is shown and never decided on.
type McNemarTest struct {
	OnlyA int     `json:"only_a"` // cells that only A got right
	OnlyB int     `json:"only_b"`
	Exact float64 `json:"exact"`
	MidP  float64 `json:"mid_p"`
	Note  string  `json:"note"`
}

// Significant says whether the difference is, at 5 %, adjusted if AdjustHolm has been.
func (c Comparison) Significant() bool {
	p := c.P
	if c.PHolm != nil {
		p = c.PHolm
	}
	return p != nil && *p <= alpha
}

// Regressed says whether B is significantly worse than A.
func (c Comparison) Regressed() bool {
	if c.Difference == nil || !c.Significant() {
		return false
	}
	return c.Better == Higher && *c.Difference < 0 || c.Better == Lower && *c.Difference > 0
}

// Compare compares B with A in one metric (METRICS section 4). Only (query, corpus, level,
// trial, turn) cells that both have scored count; the rest is in Drops. It is an error if
// a side has two runs of one cell, or if the metric is not counted cell by cell.
func Compare(a, b []Run, name string, flips Flips) (Comparison, error) {
	m, ok := find(name)
	if !ok {
		return Comparison{}, unknownMetric(name)
	}
	if m.turn == nil && m.run == nil {
		return Comparison{}, fmt.Errorf("%s cannot be compared: want a metric counted turn by turn or run by run", name)
	}
	t := tally{metric: m, queries: map[string]*Pair{}}
	if err := t.pair(a, b); err != nil {
		return Comparison{}, err
	}
	return t.compare(flips), nil
}

// AdjustHolm sets PHolm of all claims of one table.
func AdjustHolm(table []Comparison) {
	p := make([]float64, len(table))
	for i, c := range table {
		p[i] = math.NaN()
		if c.P != nil {
			p[i] = *c.P
		}
	}
	for i, v := range Holm(p) {
		table[i].PHolm = number(v)
	}
}

// cellKey is a run as both sides know it.
type cellKey struct {
	query, corpus, level string
	trial                int
}

func (r Run) key() cellKey { return cellKey{r.Query, r.Corpus, r.Level, r.Trial} }

func (k cellKey) drop(why string, turns ...int) Drop {
	return Drop{Query: k.query, Corpus: k.corpus, Level: k.level, Trial: k.trial, Turns: turns, Why: why}
}

func index(runs []Run, side string) (map[cellKey]Run, error) {
	byKey := make(map[cellKey]Run, len(runs))
	for _, r := range runs {
		k := r.key()
		if _, twice := byKey[k]; twice {
			return nil, fmt.Errorf("%s has two runs of query %s, corpus %s, level %s, trial %d: want one model and exit setting", side, k.query, k.corpus, k.level, k.trial)
		}
		byKey[k] = r
	}
	return byKey, nil
}

// tally collects the pairs and drops of one metric.
type tally struct {
	metric
	queries map[string]*Pair
	order   []string
	cells   int
	drops   []Drop
	binary  bool // every paired cell is right or wrong
	onlyA   int
	onlyB   int
}

func (t *tally) pair(a, b []Run) error {
	inA, err := index(a, "A")
	if err != nil {
		return err
	}
	inB, err := index(b, "B")
	if err != nil {
		return err
	}
	t.binary = true
	for _, r := range a {
		other, ok := inB[r.key()]
		t.runs(r, other, ok)
	}
	for _, r := range b {
		if _, ok := inA[r.key()]; !ok {
			t.drops = append(t.drops, r.key().drop("no run in A"))
		}
	}
	return nil
}

func (t *tally) runs(a, b Run, ok bool) {
	switch {
	case !ok:
		t.drops = append(t.drops, a.key().drop("no run in B"))
	case a.Incomplete:
		t.drops = append(t.drops, a.key().drop("incomplete in A"))
	case b.Incomplete:
		t.drops = append(t.drops, a.key().drop("incomplete in B"))
	default:
		t.cellsOf(score(a), score(b))
	}
}

// cell is what one side has scored of it.
type cell struct{ x, n float64 }

func (t *tally) cellsOf(a, b scored) {
	cellsA, cellsB := t.list(a), t.list(b)
	onlyA, onlyB := []int{}, []int{}
	for i := range max(len(cellsA), len(cellsB)) {
		ca, cb := at(cellsA, i), at(cellsB, i)
		switch {
		case ca.n > 0 && cb.n > 0:
			t.add(a.Query, ca, cb)
		case ca.n > 0:
			onlyA = append(onlyA, i+1)
		case cb.n > 0:
			onlyB = append(onlyB, i+1)
		}
	}
	t.drop(a.key(), "scored in A only", onlyA)
	t.drop(a.key(), "scored in B only", onlyB)
}

func (t *tally) list(s scored) []cell {
	list := make([]cell, 0, len(s.Turns))
	t.each(s, func(_ int, x, n float64) { list = append(list, cell{x, n}) })
	return list
}

func at(list []cell, i int) cell {
	if i < len(list) {
		return list[i]
	}
	return cell{}
}

func (t *tally) drop(k cellKey, why string, turns []int) {
	switch {
	case len(turns) == 0:
	case t.run != nil:
		t.drops = append(t.drops, k.drop(why))
	default:
		t.drops = append(t.drops, k.drop(why, turns...))
	}
}

func (t *tally) add(query string, a, b cell) {
	p, seen := t.queries[query]
	if !seen {
		p = &Pair{Query: query}
		t.queries[query] = p
		t.order = append(t.order, query)
	}
	p.AX, p.AN, p.BX, p.BN = p.AX+a.x, p.AN+a.n, p.BX+b.x, p.BN+b.n
	t.cells++
	t.onlyA += one(a.x > b.x)
	t.onlyB += one(b.x > a.x)
	t.binary = t.binary && a.binary() && b.binary()
}

// binary says whether the cell is plainly right or wrong.
func (c cell) binary() bool { return c.n == 1 && (c.x == 0 || c.x == 1) }

func (t *tally) compare(flips Flips) Comparison {
	c := Comparison{Metric: t.Name, Better: t.Better, Units: len(t.order), Cells: t.cells, Drops: t.drops}
	for _, q := range t.order {
		c.Queries = append(c.Queries, *t.queries[q])
	}
	if c.Units == 0 {
		c.Reason = "no cell is scored on both sides"
		return c
	}
	c.rates()
	c.test(flips)
	if t.binary {
		c.McNemar = mcNemarTest(t.onlyA, t.onlyB)
	}
	return c
}

// rates sets what was seen on either side.
func (c *Comparison) rates() {
	var sum Pair
	for _, p := range c.Queries {
		sum.AX, sum.AN, sum.BX, sum.BN = sum.AX+p.AX, sum.AN+p.AN, sum.BX+p.BX, sum.BN+p.BN
	}
	c.A, c.B = number(sum.AX/sum.AN), number(sum.BX/sum.BN)
}

func (c *Comparison) test(flips Flips) {
	d := make([]float64, len(c.Queries))
	for i, p := range c.Queries {
		d[i] = p.Difference()
		c.NonZero += one(d[i] != 0)
	}
	t := FlipSigns(d, alpha, flips)
	c.Difference, c.P, c.Exact = number(t.Mean), number(t.P), t.Exact
	c.Lower, c.Upper = number(t.Lower), number(t.Upper)
	if c.NonZero < decidingDifferences {
		c.Notes = append(c.Notes, fmt.Sprintf("%s: fewer than %d cannot reach 0.05", plural(c.NonZero, "non-zero difference", "non-zero differences"), decidingDifferences))
	}
	if c.Lower == nil {
		c.Notes = append(c.Notes, plural(c.Units, "query", "queries")+": no difference can be excluded, the interval is unbounded")
	}
}

func mcNemarTest(onlyA, onlyB int) *McNemarTest {
	exact, mid := McNemar(onlyA, onlyB)
	return &McNemarTest{
		OnlyA: onlyA, OnlyB: onlyB, Exact: *number(exact), MidP: *number(mid),
		Note: "McNemar on turns takes them for independent; nothing is decided on it",
	}
}
