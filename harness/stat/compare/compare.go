// Package compare compares two sets of runs over the same questions, turn by turn or run by
// run (docs/statistics.md).
package compare

import (
	"fmt"
	"math"

	"github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/harness/stat/cluster"
)

// Comparison is one metric of B against A, on the turns or runs that both have scored. It is
// on the metric's own scale.
type Comparison struct {
	Metric string      `json:"metric"`
	Better stat.Better `json:"better,omitempty"`
	Unit   stat.Unit   `json:"unit"`

	A *float64 `json:"a"` // pooled over the paired cells
	B *float64 `json:"b"`
	// Difference is B − A. Lower and Upper are its two-sided 95 % interval, P the least error
	// at which the interval excludes 0. nil: undefined, as Reason or Notes say.
	Difference *float64 `json:"difference"`
	Lower      *float64 `json:"lower"`
	Upper      *float64 `json:"upper"`
	P          *float64 `json:"p"`
	PHolm      *float64 `json:"p_holm"` // adjusted for all claims of its table: set by AdjustHolm
	// Detectable is the difference that would be found with about 80 %.
	Detectable *float64 `json:"detectable_with_80_percent"`
	Margin     *Margin  `json:"margin,omitempty"`

	Queries       int                `json:"queries"`  // paired
	Sessions      int                `json:"sessions"` // paired
	Cells         int                `json:"cells"`    // paired turns or runs
	Pairs         []Pair             `json:"pairs"`
	Drops         []Drop             `json:"drops,omitempty"`
	Exchangeable  *ExchangeableTest  `json:"p_exchangeable,omitempty"`
	McNemar       *McNemarTest       `json:"mcnemar,omitempty"`
	TheseSessions *stat.Bounds       `json:"on_these_sessions,omitempty"` // of unit query, where sessions are fewer
	Notes         []string           `json:"notes,omitempty"`
	Reason        string             `json:"reason,omitempty"` // why Difference is undefined
	difference    cluster.Difference // on the scale from 0 to 1
}

// Margin says whether B is worse than A by more than a margin, by one-sided 95 % bounds.
type Margin struct {
	Margin  float64               `json:"margin"`
	Verdict cluster.MarginVerdict `json:"verdict"`
}

// Pair is one query's counts on one session on both sides, over paired cells.
type Pair struct {
	Query   string  `json:"query"`
	Session string  `json:"session"`
	AX      float64 `json:"a_x"`
	BX      float64 `json:"b_x"`
	N       float64 `json:"n"`
}

// ExchangeableTest asks whether A and B are interchangeable on every query, not whether
// their mean difference is 0. It is shown and never decided on.
type ExchangeableTest struct {
	P     float64 `json:"p"`
	Exact bool    `json:"exact"` // all sign vectors were enumerated
}

// McNemarTest is shown and never decided on.
type McNemarTest struct {
	OnlyA int     `json:"only_a"` // cells that only A got right
	OnlyB int     `json:"only_b"`
	Exact float64 `json:"exact"`
	MidP  float64 `json:"mid_p"`
	Note  string  `json:"note"`
}

// Config says how to compare. The zero value is unit auto without a margin.
type Config struct {
	Unit   stat.Unit
	Margin float64 // 0: none
	Seed   uint64  // of the drawn sign flips
}

// Significant says whether the difference is, at 5 %, adjusted if AdjustHolm has been called.
func (c Comparison) Significant() bool {
	p := c.P
	if c.PHolm != nil {
		p = c.PHolm
	}
	return p != nil && *p <= 0.05
}

// Regressed says whether B is significantly worse than A.
func (c Comparison) Regressed() bool {
	if c.Difference == nil || !c.Significant() {
		return false
	}
	return c.Better == stat.Higher && *c.Difference < 0 || c.Better == stat.Lower && *c.Difference > 0
}

// Power says what the comparison could have found; empty where it is significant or
// undefined.
func (c Comparison) Power() string {
	if c.Detectable == nil || c.Significant() {
		return ""
	}
	return fmt.Sprintf("would detect a difference of %.2f with about 80 %%", *c.Detectable)
}

// AdjustHolm sets PHolm of all claims of one table.
func AdjustHolm(table []*Comparison) {
	p := make([]float64, len(table))
	for i, c := range table {
		p[i] = math.NaN()
		if c.P != nil {
			p[i] = *c.P
		}
	}
	for i, v := range cluster.Holm(p) {
		table[i].PHolm = stat.Number(v)
	}
}

// judge fills in the numbers of paired cells.
func (c *Comparison) judge(cells []cluster.PairedCell, d stat.Definition, cfg Config) {
	if len(cells) == 0 {
		c.Reason = "no cell is scored on both sides"
		return
	}
	c.difference = cluster.Compare(cells, cfg.Unit)
	diff, scale := c.difference, d.Scale()
	c.Queries, c.Sessions = diff.Queries(), diff.Sessions()
	c.A, c.B = stat.Number(d.Value(diff.A)), stat.Number(d.Value(diff.B))
	c.Difference = stat.Number(scale * diff.Value())
	lower, upper := diff.Bounds(0.025)
	c.Lower, c.Upper = stat.Number(scale*lower), stat.Number(scale*upper)
	c.P, c.Detectable = stat.Number(diff.P()), stat.Number(scale*diff.Detectable())
	if c.Lower == nil {
		c.Notes = append(c.Notes, c.noInterval())
	} else if cfg.Margin > 0 {
		c.Margin = &Margin{cfg.Margin, c.marginVerdict(cfg.Margin / scale)}
	}
	if c.Unit != stat.ByQuery && c.Sessions < c.Queries {
		lower, upper := cluster.Compare(cells, stat.ByQuery).Bounds(0.025)
		c.TheseSessions = &stat.Bounds{Lower: stat.Number(scale * lower), Upper: stat.Number(scale * upper)}
	}
	c.exchange(cells, cfg.Seed)
}

// noInterval says what there is one of, where an interval takes two.
func (c *Comparison) noInterval() string {
	switch {
	case c.Unit == stat.BySession:
		return "1 session: no interval below 2"
	case c.Queries < 2:
		return "1 query: no interval below 2"
	}
	return "1 session: nothing is known about other sessions; unit query compares for new questions on this one"
}

// marginVerdict judges the difference, or that of A to B where less is better.
func (c *Comparison) marginVerdict(margin float64) cluster.MarginVerdict {
	if c.Better == stat.Lower {
		return c.difference.Swapped().Margin(margin)
	}
	return c.difference.Margin(margin)
}

// exchange runs the sign-flip test on the queries' differences of rates.
func (c *Comparison) exchange(cells []cluster.PairedCell, seed uint64) {
	index := map[string]int{}
	var change, n []float64
	for _, cell := range cells {
		i, seen := index[cell.Query]
		if !seen {
			i = len(n)
			index[cell.Query], change, n = i, append(change, 0), append(n, 0)
		}
		change[i], n[i] = change[i]+cell.B-cell.A, n[i]+cell.N
	}
	for i := range change {
		change[i] /= n[i]
	}
	t := cluster.FlipSigns(change, seed)
	c.Exchangeable = &ExchangeableTest{P: *stat.Number(t.P), Exact: t.Exact}
}

func mcNemar(onlyA, onlyB int) *McNemarTest {
	exact, mid := cluster.McNemar(onlyA, onlyB)
	return &McNemarTest{
		OnlyA: onlyA, OnlyB: onlyB, Exact: *stat.Number(exact), MidP: *stat.Number(mid),
		Note: "McNemar on turns takes them for independent; nothing is decided on it",
	}
}
