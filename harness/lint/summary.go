package lint

import (
	"fmt"
	"strings"
)

// maxListed is how many findings of each kind a Summary keeps.
const maxListed = 10

// Summary collects findings by kind, in the order of the first of each. It keeps the first ten
// of a kind and counts the rest.
type Summary struct{ Kinds []*Group }

// Group is the findings of one kind.
type Group struct {
	Kind   Kind
	Count  int // findings, those that others represent too
	first  []Finding
	listed int // of Count, those that first represents
}

// Add adds a finding.
func (s *Summary) Add(f Finding) {
	g := s.group(f.Kind)
	g.Count += 1 + f.More
	if len(g.first) < maxListed {
		g.first = append(g.first, f)
		g.listed += 1 + f.More
	}
}

func (s *Summary) group(kind Kind) *Group {
	for _, g := range s.Kinds {
		if g.Kind == kind {
			return g
		}
	}
	g := &Group{Kind: kind}
	s.Kinds = append(s.Kinds, g)
	return g
}

// Unfit reports whether the findings make a corpus unfit for use. redacted: its secrets were
// replaced.
func (s *Summary) Unfit(redacted bool) bool {
	for _, g := range s.Kinds {
		if g.Kind.Unfit() && (g.Kind != Secret || !redacted) {
			return true
		}
	}
	return false
}

// Lines are the findings of the group that are listed, and how many more there are.
func (g *Group) Lines() (lines []string) {
	for _, f := range g.first {
		lines = append(lines, strings.TrimPrefix(f.At.String()+": ", ": ")+string(g.Kind)+": "+f.What)
	}
	if more := g.Count - g.listed; more > 0 {
		lines = append(lines, fmt.Sprintf("%s: and %d more", g.Kind, more))
	}
	return lines
}
