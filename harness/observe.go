package harness

import "github.com/poimen-memory/mem/harness/stat"

// observe is a run as the metrics see it.
func observe(r Run, turns []stat.Turn) stat.Run {
	for _, n := range r.Changed {
		if n <= len(turns) {
			turns[n-1].Changed = true
		}
	}
	run := stat.Run{
		Query: r.Query, Corpus: r.Session, Level: r.Level.String(), Model: r.Model, Exit: r.ExitGate, Trial: r.Trial,
		Turns: turns, Total: r.Chunks, LastEvidence: r.lastEvidence(), Evidence: len(r.Evidence),
		MemoryTokens: r.MemoryTokens, Incomplete: r.State != Complete,
	}
	if r.Answer != nil {
		run.Answer = r.Answer.Score
	}
	return run
}

func (r Run) lastEvidence() int {
	if len(r.Evidence) == 0 {
		return 0
	}
	return r.Evidence[len(r.Evidence)-1]
}

// observations are all runs but the skipped, of which there is nothing to see.
func observations(runs []*done) (list []stat.Run) {
	for _, d := range runs {
		if d.State != Skipped {
			list = append(list, observe(d.Run, d.turns))
		}
	}
	return list
}
