package corpus

import (
	"fmt"
	"slices"

	"github.com/poimen-memory/mem/harness/dist"
	"github.com/poimen-memory/mem/prompt"
)

// Stats describes sessions.
type Stats struct {
	Sessions []SessionStats
	Roles    map[string]int // records by role
	Sizes    []dist.Bin     // chunks by tokens of their rendering
	Depths   []dist.Bin     // pairs of a query and an evidence chunk by its position in percent; nil if there are none
	Warnings []string
}

// SessionStats describes a session. Chunk sizes are in tokens of the rendering; percentiles
// are nearest-rank.
type SessionStats struct {
	Name                                              string
	Records, Chunks, Tokens, P50, P95, P99, MaxTokens int
	Queries, Labelled                                 int // Labelled queries have evidence in the session
}

// Describe computes the Stats of sessions.
func Describe(sessions []*Session) Stats {
	stats := Stats{Roles: map[string]int{}}
	var sizes []int
	for _, s := range sessions {
		stats.Sessions = append(stats.Sessions, s.stats())
		for role, n := range s.roles {
			stats.Roles[role] += n
		}
		sizes = append(sizes, s.ChunkTokens()...)
	}
	stats.Warnings = Warnings(sessions)
	stats.Sizes, stats.Depths = dist.Bins(sizes), depths(sessions)
	return stats
}

func (s *Session) stats() SessionStats {
	sizes := slices.Sorted(slices.Values(s.ChunkTokens()))
	stats := SessionStats{
		Name: s.name, Records: s.records, Chunks: len(s.chunks), Tokens: dist.Sum(sizes), Queries: len(s.queries),
		P50: dist.Percentile(sizes, 50), P95: dist.Percentile(sizes, 95), P99: dist.Percentile(sizes, 99), MaxTokens: dist.Percentile(sizes, 100),
	}
	for _, q := range s.queries {
		stats.Labelled += min(len(q.Evidence), 1)
	}
	return stats
}

// depths are ten bins of ten percent: chunk 1 of 20 is in the first, chunk 20 in the last.
func depths(sessions []*Session) []dist.Bin {
	const bins = 10
	list, sum := make([]dist.Bin, bins), 0
	for i := range list {
		list[i].From, list[i].To = i*100/bins, (i+1)*100/bins
	}
	for _, s := range sessions {
		for _, q := range s.queries {
			for _, e := range q.Evidence {
				list[(e.Chunk-1)*bins/len(s.chunks)].Count++
				sum++
			}
		}
	}
	if sum == 0 {
		return nil
	}
	return list
}

// Chunk is chunk n, from 1.
func (s *Session) Chunk(n int) (prompt.Chunk, error) {
	i := 0
	for chunk, err := range s.Chunks() {
		if i++; err != nil || i == n {
			return chunk, err
		}
	}
	return prompt.Chunk{}, fmt.Errorf("session %s: found chunk %d, want 1 to %d", s.name, n, len(s.chunks))
}

// CountTokens is the size of all chunks as sent, in the tokens of a counter.
func (s *Session) CountTokens(counter prompt.Counter) (tokens int, err error) {
	for chunk, err := range s.Chunks() {
		if err != nil {
			return 0, err
		}
		tokens += counter.Count(chunk.Sent)
	}
	return tokens, nil
}
