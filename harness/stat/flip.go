package stat

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/poimen-memory/mem/harness/stat/cluster"
)

// LabelSearch asks how many wrong labels would take a verdict from a criterion: from GO, its
// lower bound below the threshold; from NO-GO, its upper bound up to it.
type LabelSearch struct {
	Metric    string
	Unit      Unit
	NoGo      bool // the verdict is NO-GO
	Threshold float64
	Alpha     float64 // of the bound
	Limit     int     // flips at most
}

// WrongLabels is the number of labels that a greedy search flips until the verdict is gone;
// more says that it takes more than the limit. Flips start from the labels of the sample and
// always move the bound most (docs/statistics.md, label noise).
func (s *Sample) WrongLabels(search LabelSearch) (flips int, more bool, err error) {
	m, ok := find(search.Metric)
	switch {
	case !ok:
		return 0, false, UnknownMetric(search.Metric)
	case m.composite != nil && len(s.cells) > mostComposite:
		return 0, false, fmt.Errorf("%s: %w: want at most %d queries on sessions", m.Name, ErrTooMany, mostComposite)
	}
	flips, more = newFlipper(s, m, search).run()
	return flips, more, nil
}

// ErrTooMany says that wrong labels are not searched.
var ErrTooMany = errors.New("too many queries to search wrong labels of a metric made of two rates")

// mostComposite is the number of cells up to which a composite is searched: each flip that is
// tried is a pass over all of them.
const mostComposite = 300

// flipper searches labels. For NO-GO on a rate it counts failures in place of successes, so
// that the bound that moves is always a lower one.
type flipper struct {
	metric
	LabelSearch
	rates   []metric // one, or the two of a composite
	cells   []*flipCell
	flipped map[chunkID]bool
	bound   cluster.Bound
	table   *cluster.Table // of a rate
	kinds   map[string]int // of sets of moves
	changes map[replies][2]counted
}

// flipCell is a cell with its labels as they are now.
type flipCell struct {
	*cellSums
	sources []*source // copies with labels of their own
	now     []Cell    // of each rate
	moves   []move    // one for each different change of now
	kind    int       // equal for equal moves
}

// chunkID is a label: cell, source and chunk by index.
type chunkID struct{ cell, source, chunk int }

func (a chunkID) compare(b chunkID) int {
	return cmp.Or(cmp.Compare(a.cell, b.cell), cmp.Compare(a.source, b.source), cmp.Compare(a.chunk, b.chunk))
}

// move is what flipping a label makes of the cell's rates; of several labels that make the
// same, the first.
type move struct {
	chunkID
	to [2]counted
}

// counted are the numerator and the denominator of a rate in a cell.
type counted struct{ x, n float64 }

func newFlipper(s *Sample, m metric, search LabelSearch) *flipper {
	f := &flipper{
		metric: m, LabelSearch: search, rates: []metric{m}, flipped: map[chunkID]bool{},
		bound: cluster.Bound{Alpha: search.Alpha}, kinds: map[string]int{}, changes: map[replies][2]counted{},
	}
	if m.composite != nil {
		recall, _ := find(m.composite.recall)
		specificity, _ := find(m.composite.specificity)
		f.rates = []metric{recall, specificity}
	}
	for i, sums := range s.cells {
		cell := &flipCell{cellSums: sums}
		for _, original := range sums.sources {
			own := *original
			own.evidence = slices.Clone(original.evidence)
			cell.sources = append(cell.sources, &own)
		}
		f.cells = append(f.cells, cell)
		f.recount(i)
	}
	if m.composite == nil {
		f.table = cluster.NewTable(f.current()[0], f.Unit)
	}
	return f
}

// run flips labels until the verdict is gone.
func (f *flipper) run() (flips int, more bool) {
	for flips = 0; f.stands(); flips++ {
		if flips == f.Limit {
			return flips, true
		}
		best, ok := f.best()
		if !ok {
			return flips, true
		}
		source := f.cells[best.cell].sources[best.source]
		source.evidence[best.chunk] = !source.evidence[best.chunk]
		f.flipped[best] = true
		f.recount(best.cell)
		if f.table != nil {
			now := f.cells[best.cell].now[0]
			f.table.Set(best.cell, now.X, now.N)
		}
	}
	return flips, false
}

// stands reports whether the verdict holds with the labels as they are now.
func (f *flipper) stands() bool {
	threshold := f.share(f.Threshold)
	switch {
	case f.table == nil && f.NoGo:
		return -f.compositeBound(f.current()) < f.Threshold
	case f.table == nil:
		return f.compositeBound(f.current()) >= f.Threshold
	case f.NoGo:
		return 1-f.bound.Lower(f.table.Proportion) < threshold
	}
	return f.bound.Lower(f.table.Proportion) >= threshold
}

// recount counts a cell with its labels as they are now, and what each flip would make.
func (f *flipper) recount(i int) {
	cell := f.cells[i]
	cell.now, cell.moves = nil, nil
	for _, m := range f.rates {
		var sum counted
		for _, s := range cell.sources {
			c := f.count(s, m)
			sum.x, sum.n = sum.x+c.x, sum.n+c.n
		}
		k := float64(cell.runs + cell.incomplete)
		if m.repeated != nil {
			k = 1
		}
		cell.now = append(cell.now, Cell{Query: cell.query, Session: cell.session, X: sum.x, N: sum.n, K: k})
	}
	for s, source := range cell.sources {
		for t := range source.evidence {
			id := chunkID{i, s, t}
			to := f.tried(cell, source, t)
			known := slices.ContainsFunc(cell.moves, func(m move) bool { return m.to == to })
			if !known && !f.flipped[id] {
				cell.moves = append(cell.moves, move{id, to})
			}
		}
	}
	f.classify(cell)
}

// classify names the cell's set of moves.
func (f *flipper) classify(cell *flipCell) {
	slices.SortFunc(cell.moves, func(a, b move) int {
		return cmp.Or(cmp.Compare(a.to[0].x, b.to[0].x), cmp.Compare(a.to[0].n, b.to[0].n))
	})
	var name []byte
	for _, m := range cell.moves {
		name = binary.NativeEndian.AppendUint64(name, math.Float64bits(m.to[0].x))
		name = binary.NativeEndian.AppendUint64(name, math.Float64bits(m.to[0].n))
	}
	kind, seen := f.kinds[string(name)]
	if !seen {
		kind = len(f.kinds)
		f.kinds[string(name)] = kind
	}
	cell.kind = kind
}

// tried is what the cell's rates would be with one label flipped.
func (f *flipper) tried(cell *flipCell, source *source, chunk int) (to [2]counted) {
	change := f.change(source, chunk)
	for i := range f.rates {
		to[i] = counted{cell.now[i].X + change[i].x, cell.now[i].N + change[i].n}
	}
	return to
}

// replies are all that a metric counted turn by turn knows of a chunk.
type replies struct {
	votes
	evidence bool
	missing  int
}

// change is what flipping one label adds to the rates.
func (f *flipper) change(source *source, chunk int) (change [2]counted) {
	key := replies{source.votes[chunk], source.evidence[chunk], source.missing}
	if known, ok := f.changes[key]; ok && f.rates[0].perTurn {
		return known
	}
	for i, m := range f.rates {
		before := f.part(source, m, chunk)
		source.evidence[chunk] = !source.evidence[chunk]
		after := f.part(source, m, chunk)
		source.evidence[chunk] = !source.evidence[chunk]
		change[i] = counted{after.x - before.x, after.n - before.n}
	}
	f.changes[key] = change
	return change
}

// part is what of a source's count depends on one label: its chunk, or all.
func (f *flipper) part(s *source, m metric, chunk int) counted {
	if m.perTurn {
		return f.imputed(m, s.chunkFacts(chunk), s.missingChunk(chunk))
	}
	return f.count(s, m)
}

// count counts a source.
func (f *flipper) count(s *source, m metric) counted {
	var done, missing facts
	switch last := s.last(); {
	case m.repeated != nil:
		s.judge()
		x, more, n := m.repeated(s, true)
		if f.NoGo {
			x = n - x - more
		}
		return counted{x, n}
	case m.perTurn:
		for t := range s.evidence {
			d, w := s.chunkFacts(t), s.missingChunk(t)
			done.add(&d)
			missing.add(&w)
		}
	default:
		for _, t := range s.runs {
			done.addExit(exit{t.first, last, t.total})
		}
		for range s.missing {
			missing.addExit(exit{last, last, len(s.evidence)})
		}
	}
	return f.imputed(m, done, missing)
}

// imputed counts what is missing against the verdict; for NO-GO on a rate, failures.
func (f *flipper) imputed(m metric, done, missing facts) counted {
	x, n, w := done.sum(m.x), done.sum(m.n), missing.sum(m.n)
	switch {
	case !f.NoGo:
		return counted{x, n + w}
	case f.composite != nil:
		return counted{x + w, n + w}
	}
	return counted{n - x, n + w}
}

func (f *flipper) current() [][]Cell {
	rates := make([][]Cell, len(f.rates))
	for _, cell := range f.cells {
		for i, c := range cell.now {
			rates[i] = append(rates[i], c)
		}
	}
	return rates
}

// best is the flip that moves the bound most; of those equal within 1e-12 the first by
// query, session and chunk.
func (f *flipper) best() (chunkID, bool) {
	var l lowest
	if f.table == nil {
		f.offerComposite(&l)
	} else {
		f.offerRates(&l)
	}
	return l.first()
}

// offerRates offers the moves of the first cell of each class: cells of one class make equal
// bounds.
func (f *flipper) offerRates(l *lowest) {
	type class struct {
		x, n, k float64
		totals  [4]float64
		kind    int
	}
	seen := map[class]bool{}
	for i, cell := range f.cells {
		now := cell.now[0]
		of := class{now.X, now.N, now.K, f.table.Totals(i), cell.kind}
		if seen[of] {
			continue
		}
		seen[of] = true
		for _, m := range cell.moves {
			p := f.table.With(i, m.to[0].x, m.to[0].n)
			if len(l.list) == 0 || !p.Defined() || !f.bound.Reaches(p, l.bound+tie) {
				l.offer(f.bound.Lower(p), m.chunkID)
			}
		}
	}
}

// offerComposite offers every move.
func (f *flipper) offerComposite(l *lowest) {
	rates := f.current()
	for i, cell := range f.cells {
		for _, m := range cell.moves {
			for r := range rates {
				rates[r][i].X, rates[r][i].N = m.to[r].x, m.to[r].n
			}
			l.offer(f.compositeBound(rates), m.chunkID)
		}
		for r := range rates {
			rates[r][i] = cell.now[r]
		}
	}
}

// compositeBound is the bound that flips lower: for NO-GO the upper, negated.
func (f *flipper) compositeBound(rates [][]Cell) float64 {
	lower, upper := cluster.MOVER(f.composite.at, cluster.NewRate(rates[0]), cluster.NewRate(rates[1]), f.Unit, f.bound.Alpha)
	if f.NoGo {
		return -upper
	}
	return lower
}

const tie = 1e-12 // bounds that differ by no more are equal

// lowest collects the labels whose flips make the lowest bounds.
type lowest struct {
	bound float64
	list  []offered
}

type offered struct {
	bound float64
	id    chunkID
}

// offer takes a bound; an undefined one is the lowest of all.
func (l *lowest) offer(bound float64, id chunkID) {
	if math.IsNaN(bound) {
		bound = math.Inf(-1)
	}
	if len(l.list) == 0 || bound < l.bound {
		l.bound = bound
	}
	l.list = append(l.list, offered{bound, id})
}

// first is the first label of those with the lowest bound.
func (l *lowest) first() (first chunkID, ok bool) {
	for _, o := range l.list {
		if o.bound <= l.bound+tie && (!ok || o.id.compare(first) < 0) {
			first, ok = o.id, true
		}
	}
	return first, ok
}
