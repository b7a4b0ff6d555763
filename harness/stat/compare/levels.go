package compare

import (
	"slices"

	"github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/harness/stat/cluster"
)

// Levels compares runs of two levels. Where both read the same chunks, runs are paired as by
// Runs. Where B reads the memories that runs of A left, turns have no counterpart: each query
// and trial counts once, with its share in all its runs on either side, and its session is that
// of B, which joins those of A.
func Levels(a, b []stat.Run, metrics []string, cfg Config) ([]*Comparison, error) {
	a, b = withoutLevel(a), withoutLevel(b)
	inA, err := index(a, "A")
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(b, func(r stat.Run) bool { _, paired := inA[key(r)]; return paired }) {
		return Runs(a, b, metrics, cfg)
	}
	p, err := New(metrics)
	if err != nil {
		return nil, err
	}
	p.addQueries(a, b)
	results := p.Results(cfg)
	for _, c := range results {
		c.Notes = append(c.Notes, "each query and trial counts once on either side: the levels read different chunks")
	}
	return results, nil
}

func withoutLevel(runs []stat.Run) []stat.Run {
	runs = slices.Clone(runs)
	for i := range runs {
		runs[i].Level = ""
	}
	return runs
}

// queryKey is what runs of two levels share.
type queryKey struct {
	query, id string
	trial     int
}

// addQueries pairs runs by query and trial.
func (p *Pairing) addQueries(a, b []stat.Run) {
	sides := map[queryKey]*[2][]stat.Run{}
	var order []queryKey
	for side, runs := range [][]stat.Run{a, b} {
		for _, r := range runs {
			k := queryKey{r.Query, r.ID, r.Trial}
			if sides[k] == nil {
				sides[k] = &[2][]stat.Run{}
				order = append(order, k)
			}
			sides[k][side] = append(sides[k][side], r)
		}
	}
	incomplete := func(r stat.Run) bool { return r.Incomplete }
	for _, k := range order {
		switch of := sides[k]; {
		case of[1] == nil:
			p.Drop(of[0][0], "no run in B")
		case of[0] == nil:
			p.Drop(of[1][0], "no run in A")
		case slices.ContainsFunc(of[0], incomplete):
			p.Drop(of[0][0], "incomplete in A")
		case slices.ContainsFunc(of[1], incomplete):
			p.Drop(of[1][0], "incomplete in B")
		default:
			p.addShares(of[0], of[1])
		}
	}
}

// addShares adds a query and trial as one cell of each metric that both sides have scored.
func (p *Pairing) addShares(a, b []stat.Run) {
	inA, inB := p.shares(a), p.shares(b)
	for i := range p.tables {
		switch t, x, y := &p.tables[i], inA[i], inB[i]; {
		case x.N > 0 && y.N > 0:
			var sum cluster.PairedCell
			t.count(&sum, stat.Score{X: x.X / x.N, N: 1}, stat.Score{X: y.X / y.N, N: 1})
			t.graded = true // a share is no cell that McNemar's test could count
			t.addRun(b[0], sum)
		case x.N > 0:
			t.drop(a[0], "scored in A only", nil)
		case y.N > 0:
			t.drop(b[0], "scored in B only", nil)
		}
	}
}

// shares are the sums over runs, by metric.
func (p *Pairing) shares(runs []stat.Run) []stat.Score {
	sums := make([]stat.Score, len(p.scorers))
	for _, r := range runs {
		for i, scores := range stat.Scores(p.scorers, r) {
			for _, s := range scores {
				sums[i].X, sums[i].N = sums[i].X+s.X, sums[i].N+s.N
			}
		}
	}
	return sums
}
