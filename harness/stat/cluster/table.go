package cluster

import "slices"

// Table is cells that change one at a time; the proportion of a change costs no pass over
// the cells.
type Table struct {
	Proportion
	cells             []Cell
	queries, sessions clusters
}

// NewTable has at most one cell of each query and session.
func NewTable(cells []Cell, unit Unit) *Table {
	t := &Table{
		Proportion: Pool(cells, unit), cells: slices.Clone(cells), queries: newClusters(len(cells)), sessions: newClusters(len(cells)),
	}
	for _, c := range cells {
		t.queries.add(c.Query, c.X, c.N)
		t.sessions.add(c.Session, c.X, c.N)
	}
	return t
}

// Totals are the sums of a cell's query and session; changes of cells with equal values and
// equal totals make equal proportions.
func (t *Table) Totals(cell int) (totals [4]float64) {
	q, s := t.queries.index[t.cells[cell].Query], t.sessions.index[t.cells[cell].Session]
	return [4]float64{t.queries.x[q], t.queries.n[q], t.sessions.x[s], t.sessions.n[s]}
}

// With is the proportion with another X and N in a cell.
func (t *Table) With(cell int, x, n float64) Proportion {
	p, c, totals := t.Proportion, t.cells[cell], t.Totals(cell)
	dx, dn := x-c.X, n-c.N
	p.both.change(c.X, c.N, dx, dn)
	p.queries.change(totals[0], totals[1], dx, dn)
	p.sessions.change(totals[2], totals[3], dx, dn)
	p.X, p.N, p.weightedK = p.X+dx, p.N+dn, p.weightedK+dn*max(1, c.K)
	p.X = snap(p.X, p.N)
	return p
}

// Set changes a cell.
func (t *Table) Set(cell int, x, n float64) {
	t.Proportion = t.With(cell, x, n)
	c := &t.cells[cell]
	t.queries.add(c.Query, x-c.X, n-c.N)
	t.sessions.add(c.Session, x-c.X, n-c.N)
	c.X, c.N = x, n
}

func (m *moments) change(x, n, dx, dn float64) {
	m.remove(x, n)
	m.add(x+dx, n+dn)
}
