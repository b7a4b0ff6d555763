package stat

import "slices"

// Labelled reports whether evidence labels enter the metric.
func (m metric) Labelled() bool {
	free := []fact{runs, turns, firstTry, opened, savedShare, savedRuns, clean, answers, answerSubEM, answerEM, answerF1}
	if m.composite != nil || passK(m.Name) > 0 {
		return true
	}
	if m.Name == "parse_after_retries" {
		return false
	}
	return slices.ContainsFunc(slices.Concat(m.x, m.n), func(f fact) bool { return !slices.Contains(free, f) })
}

// chunkFacts are the facts of the complete runs' turns on a chunk that labels enter.
func (s *source) chunkFacts(chunk int) (f facts) {
	v, evidence := s.votes[chunk], s.evidence[chunk]
	f[turns] = float64(v.turns)
	f[gateFact(evidence, true, true)] += float64(v.yes)
	f[gateFact(evidence, true, false)] += float64(v.parsed - v.yes)
	f[gateFact(evidence, false, false)] += float64(v.turns - v.parsed)
	f[committed] = oneIf(evidence) * float64(v.committed)
	return f
}

// missingChunk is the same of the incomplete runs, as if every reply were right.
func (s *source) missingChunk(chunk int) (f facts) {
	evidence, n := s.evidence[chunk], float64(s.missing)
	f[turns] = n
	f[gateFact(evidence, true, evidence)] = n
	f[committed] = oneIf(evidence) * n
	return f
}

// judge sets the success of every trial by the labels as they are now.
func (s *source) judge() {
	last := s.last()
	s.runs = slices.Clone(s.runs)
	for i, t := range s.runs {
		s.runs[i].success = exit{t.first, last, t.total}.safe()
		for chunk, evidence := range s.evidence {
			if evidence && !t.committed[chunk] {
				s.runs[i].success = false
			}
		}
	}
}
