package result

import (
	"cmp"

	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/harness/stat/answer"
)

// observe is a run as the metrics see it.
func observe(r Run, turns []stat.Turn) stat.Run {
	for _, n := range r.Changed {
		if n <= len(turns) {
			turns[n-1].Changed = true
		}
	}
	run := stat.Run{
		Query: cmp.Or(r.CountedQuery, r.Query), ID: r.Query, Session: cmp.Or(r.CountedSession, r.Session), Corpus: r.Session,
		Level: r.Level.String(), Model: r.Model, Exit: r.ExitGate, Trial: r.Trial, Tags: r.Tags,
		Turns: turns, Total: r.Chunks, Evidence: r.Evidence, MemoryTokens: r.MemoryTokens, Incomplete: r.State != record.Complete,
		Packing: r.Packing,
	}
	if r.Answer != nil {
		run.Answer = r.Answer.Score
	}
	return run
}

// observations are all runs but the skipped, of which there is nothing to see.
func observations(runs []*runData) (list []stat.Run) {
	for _, d := range runs {
		if d.State == record.Skipped {
			continue
		}
		run := observe(d.Run, d.turns)
		if run.Incomplete && d.referenced {
			run.Answer = &answer.Score{} // there would have been one
		}
		list = append(list, run)
	}
	return list
}
