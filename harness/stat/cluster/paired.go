package cluster

import "math"

// PairedCell is what one query has on one session, scored for both sides: N turns or runs
// in K runs, A and B their successes, Gained the sum of max(b−a, 0) over them, Lost that of
// max(a−b, 0).
type PairedCell struct {
	Query, Session     string
	N, K               float64
	A, B, Gained, Lost float64
}

// Difference is the rate of B minus that of A over paired cells (docs/statistics.md).
type Difference struct {
	A, B         float64 // rates
	gained, lost Proportion
	change       Proportion // X is gained − lost
}

// Compare pools paired cells.
func Compare(cells []PairedCell, unit Unit) Difference {
	pool := func(of func(PairedCell) float64) Proportion {
		list := make([]Cell, len(cells))
		for i, c := range cells {
			list[i] = Cell{Query: c.Query, Session: c.Session, X: of(c), N: c.N, K: c.K}
		}
		return Pool(list, unit)
	}
	rate := func(of func(PairedCell) float64) float64 { return pool(of).Rate() }
	return Difference{
		A:      rate(func(c PairedCell) float64 { return c.A }),
		B:      rate(func(c PairedCell) float64 { return c.B }),
		gained: pool(func(c PairedCell) float64 { return c.Gained }),
		lost:   pool(func(c PairedCell) float64 { return c.Lost }),
		change: pool(func(c PairedCell) float64 { return c.Gained - c.Lost }),
	}
}

// Queries and Sessions are the numbers of clusters that are paired.
func (d Difference) Queries() int  { return d.gained.Queries() }
func (d Difference) Sessions() int { return d.gained.Sessions() }

// Value is Δ; NaN without cells.
func (d Difference) Value() float64 { return (d.gained.X - d.lost.X) / d.gained.N }

// Bounds are those of Δ at alpha per side, by MOVER on the shares gained and lost; NaN below
// 2 units.
func (d Difference) Bounds(alpha float64) (lower, upper float64) {
	u, v, delta := d.gained.Rate(), d.lost.Rate(), d.Value()
	lower = delta - math.Hypot(u-d.gained.Lower(alpha), d.lost.Upper(alpha)-v)
	upper = delta + math.Hypot(d.gained.Upper(alpha)-u, v-d.lost.Lower(alpha))
	return max(-1, lower), min(1, upper)
}

// The limits between which P is searched.
const (
	leastP = 1e-6
	mostP  = 0.9
)

// P is the smallest π with 0 outside the interval at π/2 per side, within 1e-6 and 0.9, or 1
// above: it is at most 0.05 exactly if the 95 % interval excludes 0. NaN below 2 units.
func (d Difference) P() float64 {
	outside := func(p float64) bool {
		lower, upper := d.Bounds(p / 2)
		return lower > 0 || upper < 0
	}
	switch {
	case math.IsNaN(d.Value()) || !d.gained.Defined():
		return math.NaN()
	case d.Value() == 0 || !outside(mostP):
		return 1
	case outside(leastP):
		return leastP
	}
	low, high := leastP, mostP
	for high-low > 1e-10 {
		if middle := (low + high) / 2; outside(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// SE is the cluster-robust standard error of Δ, at least that of independent observations.
func (d Difference) SE() float64 {
	u, v, n := d.gained.X, d.lost.X, d.gained.N
	return math.Sqrt(max(d.change.spreadAround(d.Value()), u+v-(u-v)*(u-v)/n)) / n
}

// Detectable is the difference that would be found with about 80 %; NaN below 2 units.
func (d Difference) Detectable() float64 {
	const z80 = 0.8416
	lower, upper := d.Bounds(0.025)
	return min(1, 1.25*(max(d.Value()-lower, upper-d.Value())+z80*d.SE()))
}

// MarginVerdict says whether B is worse than A by more than a margin.
type MarginVerdict string

// The verdicts of a comparison with a margin.
const (
	NotWorse  MarginVerdict = "NOT-WORSE"
	Worse     MarginVerdict = "WORSE"
	Undecided MarginVerdict = "UNDECIDED"
)

// Margin judges Δ by its one-sided 95 % bounds against −margin, where more is better.
func (d Difference) Margin(margin float64) MarginVerdict {
	lower, upper := d.Bounds(0.05)
	switch {
	case lower >= -margin:
		return NotWorse
	case upper < -margin:
		return Worse
	}
	return Undecided
}

// Swapped has A and B in each other's place.
func (d Difference) Swapped() Difference {
	d.A, d.B, d.gained, d.lost = d.B, d.A, d.lost, d.gained
	d.change = d.change.negated()
	return d
}

func (p Proportion) negated() Proportion {
	p.X = -p.X
	for _, m := range []*moments{&p.queries, &p.sessions, &p.both} {
		m.xn = -m.xn
	}
	return p
}
