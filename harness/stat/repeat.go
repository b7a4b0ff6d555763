package stat

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/poimen-memory/mem/harness/diag"
)

// source is what trials repeat: one query on one corpus.
type source struct {
	corpus   string
	evidence []bool  // by chunk
	votes    []votes // by chunk, over complete runs
	runs     []trial // complete
	missing  int     // incomplete runs
}

// votes are what complete runs replied to one chunk.
type votes struct{ turns, parsed, yes, committed, ends uint32 }

// trial is what pass_k and the exit metrics need of a run when a label changes.
type trial struct {
	first, total int    // t_x, T
	committed    []bool // by chunk
	success      bool
}

// source is that of a run. Runs whose labels differ, such as those of merged ids with
// labels of their own, are different sources.
func (c *cellSums) source(r Run) *source {
	evidence := make([]bool, r.chunks())
	for _, t := range r.evidence() {
		if t <= len(evidence) {
			evidence[t-1] = true
		}
	}
	for _, s := range c.sources {
		if s.corpus == r.Corpus && equal(s.evidence, evidence) {
			return s
		}
	}
	s := &source{corpus: r.Corpus, evidence: evidence, votes: make([]votes, len(evidence))}
	c.sources = append(c.sources, s)
	return s
}

func equal(a, b []bool) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func (s *source) add(r Run) {
	t := trial{first: r.firstExit(), total: r.chunks(), committed: make([]bool, len(s.votes)), success: r.success()}
	for i, turn := range r.Turns {
		v := &s.votes[i]
		v.turns++
		v.parsed += uint32(oneIf(turn.Parsed))
		v.yes += uint32(oneIf(turn.yes()))
		v.committed += uint32(oneIf(turn.committed()))
		v.ends += uint32(oneIf(turn.Parsed && turn.Exit))
		t.committed[i] = turn.committed()
	}
	s.runs = append(s.runs, t)
}

// flipMetrics are about how far trials of one turn agree.
func flipMetrics() []metric {
	flips := func(name, gate string, yes func(votes) uint32) metric {
		m := runRate(name, "mean over (query, corpus, level, model, turn) with K ≥ 2 parsed trials, y of them "+gate+", of 2y(K−y)/(K(K−1))",
			Lower, "no turn parsed in 2 trials", nil, nil)
		m.Unpaired = "it is not counted turn by turn or run by run"
		m.repeated = func(s *source, _ bool) (x, missing, n float64) {
			for _, v := range s.votes {
				if k := float64(v.parsed); k >= 2 {
					y := float64(yes(v))
					x += 2 * y * (k - y) / (k * (k - 1))
					n++
				}
			}
			return x, 0, n
		}
		return m
	}
	return []metric{
		flips("flip_rate", "yes", func(v votes) uint32 { return v.yes }),
		flips("exit_flip_rate", "end", func(v votes) uint32 { return v.ends }),
	}
}

// passK is the k of a metric named pass_3; 0 if it is not one.
func passK(name string) int {
	digits, ok := strings.CutPrefix(name, "pass_")
	k, err := strconv.Atoi(digits)
	if !ok || err != nil || k < 1 || strconv.Itoa(k) != digits {
		return 0
	}
	return k
}

// passMetric is pass^k of τ-bench (METRICS section 1, pass_k): the chance that k trials of
// one (query, corpus, level), drawn without replacement, all succeed.
func passMetric(k int) metric {
	m := runRate("pass_"+strconv.Itoa(k),
		fmt.Sprintf("mean over (query, corpus, level) with evidence and n ≥ %d trials, c of them all evidence committed and exit safe, of C(c,%d)/C(n,%d)", k, k, k),
		Higher, fmt.Sprintf("no query with evidence has %s", diag.Count(k, "trial")), nil, nil)
	m.Unpaired = "it is not counted turn by turn or run by run"
	m.repeated = func(s *source, decision bool) (x, missing, n float64) {
		if decision {
			return s.pass(k, s.missing)
		}
		return s.pass(k, 0)
	}
	return m
}

// pass is pass^k with the missing trials as failures, what they would add as successes, and
// 1 if there are k trials.
func (s *source) pass(k, missing int) (x, more, n float64) {
	good, all := 0, len(s.runs)+missing
	for _, t := range s.runs {
		good += int(oneIf(t.success))
	}
	if all < k || !s.hasEvidence() {
		return 0, 0, 0
	}
	x = drawAll(good, all, k)
	return x, drawAll(good+missing, all, k) - x, 1
}

func (s *source) hasEvidence() bool { return s.last() > 0 }

// last is t*; 0: no evidence.
func (s *source) last() int {
	for i := len(s.evidence); i > 0; i-- {
		if s.evidence[i-1] {
			return i
		}
	}
	return 0
}

// drawAll is C(c,k)/C(n,k).
func drawAll(c, n, k int) float64 {
	p := 1.0
	for i := range k {
		p *= float64(max(c-i, 0)) / float64(n-i)
	}
	return p
}
