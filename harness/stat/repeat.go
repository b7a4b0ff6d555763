package stat

import (
	"fmt"
	"strconv"
	"strings"
)

// flipMetrics are of how far trials of one turn agree.
func flipMetrics() []metric {
	flips := func(name, gate string, yes func(Turn) bool) metric {
		m := rate(name, "mean over (query, corpus, level, model, turn) with K ≥ 2 parsed trials, y of them "+gate+", of 2y(K−y)/(K(K−1))",
			Lower, "no turn parsed in 2 trials")
		m.cells = func(query []scored) (x, n float64) { return flipCells(query, yes) }
		return m
	}
	return []metric{
		flips("flip_rate", "yes", func(t Turn) bool { return t.Update }),
		flips("exit_flip_rate", "end", func(t Turn) bool { return t.Exit }),
	}
}

// repeats are the runs of a query by what its trials repeat: (corpus, level, model), in the
// order in which they come.
func repeats(query []scored) [][]scored {
	type source struct{ corpus, level, model string }
	index := map[source]int{}
	var groups [][]scored
	for _, s := range query {
		src := source{s.Corpus, s.Level, s.Model}
		i, seen := index[src]
		if !seen {
			i = len(groups)
			index[src], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], s)
	}
	return groups
}

// flipCells is the sum over a query's cells of the chance that two of its trials differ,
// and the number of cells.
func flipCells(query []scored, yes func(Turn) bool) (x, n float64) {
	for _, trials := range repeats(query) {
		for i := range longest(trials) {
			if y, k := votes(trials, i, yes); k >= 2 {
				x += 2 * y * (k - y) / (k * (k - 1))
				n++
			}
		}
	}
	return x, n
}

func longest(trials []scored) (turns int) {
	for _, s := range trials {
		turns = max(turns, len(s.Turns))
	}
	return turns
}

// votes are the trials whose turn i parsed, and those of them that said yes.
func votes(trials []scored, i int, yes func(Turn) bool) (y, k float64) {
	for _, s := range trials {
		if i < len(s.Turns) && s.Turns[i].Parsed {
			y += float64(one(yes(s.Turns[i])))
			k++
		}
	}
	return y, k
}

const passPrefix = "pass_"

// passK is the k of a metric named pass_3; 0 if it is not one.
func passK(name string) int {
	digits, ok := strings.CutPrefix(name, passPrefix)
	k, err := strconv.Atoi(digits)
	if !ok || err != nil || k < 1 || strconv.Itoa(k) != digits {
		return 0
	}
	return k
}

// passMetric is pass^k of τ-bench (METRICS section 1, pass_k): the chance that k trials of
// one (query, corpus, level), drawn without replacement, all succeed.
func passMetric(k int) metric {
	m := rate(passPrefix+strconv.Itoa(k),
		fmt.Sprintf("mean over (query, corpus, level) with evidence and n ≥ %d trials, c of them all evidence committed and exit safe, of C(c,%d)/C(n,%d)", k, k, k),
		Higher, fmt.Sprintf("no query with evidence has %s", plural(k, "trial", "trials")))
	m.cells = func(query []scored) (x, n float64) { return passCells(query, k) }
	return m
}

func passCells(query []scored, k int) (x, n float64) {
	for _, trials := range repeats(query) {
		good, all := 0, 0
		for _, s := range trials {
			good += one(s.success())
			all += one(s.hasEvidence())
		}
		if all >= k {
			x += drawAll(good, all, k)
			n++
		}
	}
	return x, n
}

// drawAll is C(c,k)/C(n,k).
func drawAll(c, n, k int) float64 {
	p := 1.0
	for i := range k {
		p *= float64(max(c-i, 0)) / float64(n-i)
	}
	return p
}
