package plan

import "github.com/poimen-memory/mem/harness/stat/cluster"

// origins has one for each query at each level and session, of all runs, selected or not.
func origins(p *Plan) (list []cluster.Origin) {
	for i, r := range p.Runs {
		if i > 0 && sameReading(r.Cell, p.Runs[i-1].Cell) {
			continue // of another model
		}
		list = append(list, cluster.Origin{Level: r.Level.String(), Query: r.Query, Text: r.Question, Corpora: sessionsOf(p, r)})
	}
	return list
}

func sameReading(a, b Cell) bool {
	return a.Level == b.Level && a.Corpus == b.Corpus && a.Session == b.Session && a.Query == b.Query
}

// sessionsOf are the sessions that a run reads: at L2 over memories, those of its L1 runs.
func sessionsOf(p *Plan, r *Run) (names []string) {
	if !r.OverMemories() {
		return []string{r.Cell.Session}
	}
	for _, source := range r.Sources {
		names = append(names, p.byName[source].Cell.Session)
	}
	return names
}
