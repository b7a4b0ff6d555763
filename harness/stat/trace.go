package stat

// Traced is what one turn of a run counts for a metric.
type Traced struct {
	Run  int // index among the runs
	Turn int // 1-based; 0: the run as a whole, which no turn stands for
	Score
	Against bool // it makes the metric worse; of a metric that only describes, it counts at all
}

// Trace is what each turn of the complete ones of some runs of one query counts for a metric. A
// composite is traced through its two rates. What counts by run stands at the turn to look at: the
// exit, or the first turn that is at fault. An error if there is no metric of that name.
func Trace(name string, runs []Run) ([]Traced, error) {
	m, ok := find(name)
	switch {
	case !ok:
		return nil, UnknownMetric(name)
	case m.composite != nil:
		recall, err := Trace(m.composite.recall, runs)
		if err != nil {
			return nil, err
		}
		specificity, err := Trace(m.composite.specificity, runs)
		return append(recall, specificity...), err
	case passK(name) > 0:
		return traceRuns(runs, func(r Run) (Score, bool, int) {
			success := oneIf(r.success())
			return Score{success, oneIf(r.lastEvidence() > 0)}, success == 0, r.firstFault()
		}), nil
	case name == "flip_rate":
		return traceFlips(runs, func(t Turn) bool { return t.Update }), nil
	case name == "exit_flip_rate":
		return traceFlips(runs, func(t Turn) bool { return t.Exit }), nil
	case m.perTurn:
		return m.traceTurns(runs), nil
	}
	return traceRuns(runs, func(r Run) (Score, bool, int) {
		f := r.facts()
		s := m.score(&f)
		return s, m.against(s), m.turnOf(r)
	}), nil
}

// against reports whether a score makes the metric worse.
func (m metric) against(s Score) bool {
	if m.Better == Higher {
		return s.X < s.N
	}
	return s.X > 0
}

func (m metric) traceTurns(runs []Run) (list []Traced) {
	scorer := []Scorer{{m.Definition, true, m}}
	for i, r := range runs {
		if r.Incomplete {
			continue
		}
		for t, s := range Scores(scorer, r)[0] {
			if s.N > 0 {
				list = append(list, Traced{i, t + 1, s, m.against(s)})
			}
		}
	}
	return list
}

func traceRuns(runs []Run, of func(Run) (s Score, against bool, turn int)) (list []Traced) {
	for i, r := range runs {
		if r.Incomplete {
			continue
		}
		if s, against, turn := of(r); s.N > 0 {
			list = append(list, Traced{i, turn, s, against})
		}
	}
	return list
}

// turnOf is the turn to look at for what counts by run; 0: none.
func (m metric) turnOf(r Run) int {
	switch m.Name {
	case "sub_em", "answer_em", "answer_f1", "memory_slope":
		return 0
	case "reward_format":
		for i, t := range r.Turns {
			if !t.FirstTry {
				return i + 1
			}
		}
		return 0
	}
	if first := r.firstExit(); first > 0 {
		return first
	}
	return min(r.lastEvidence(), len(r.Turns))
}

// firstFault is the first evidence that is not committed, else the exit; 0 if all is right.
func (r Run) firstFault() int {
	if r.success() {
		return 0
	}
	for i, t := range r.Turns {
		if t.Evidence && !t.committed() {
			return i + 1
		}
	}
	return r.firstExit()
}

// traceFlips has the parsed turns of trials of one source; those count against that differ.
func traceFlips(runs []Run, said func(Turn) bool) (list []Traced) {
	groups := map[[4]string][]int{}
	for i, r := range runs {
		if !r.Incomplete {
			key := [4]string{r.Query + "/" + r.ID, r.Corpus, r.Level, r.Model}
			groups[key] = append(groups[key], i)
		}
	}
	for i, r := range runs {
		trials := groups[[4]string{r.Query + "/" + r.ID, r.Corpus, r.Level, r.Model}]
		if r.Incomplete {
			continue
		}
		for t, turn := range r.Turns {
			parsed, yes := 0, 0
			for _, other := range trials {
				if t < len(runs[other].Turns) && runs[other].Turns[t].Parsed {
					parsed++
					yes += int(oneIf(said(runs[other].Turns[t])))
				}
			}
			if turn.Parsed && parsed >= 2 {
				list = append(list, Traced{i, t + 1, Score{oneIf(said(turn)), 1}, yes > 0 && yes < parsed})
			}
		}
	}
	return list
}
