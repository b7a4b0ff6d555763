package confidence

import (
	"cmp"
	"slices"
)

// Turn is a turn whose model was asked how sure it was of its gates.
type Turn struct {
	Yes, End *float64 // nil: not known
	Missing  string   // why
	Evidence bool     // the chunk is evidence: yes is right
	Due      bool     // the last evidence was read: end is right
	NoExit   bool     // the session holds no evidence: no exit is right or wrong
}

// Gates are how sure a model was of its gates, over turns that parsed.
type Gates struct {
	Turns   int       `json:"turns"`
	Update  Summary   `json:"update"`            // P(yes) against evidence
	Exit    Summary   `json:"exit"`              // P(end) against t ≥ t*, of runs with evidence
	Missing []Missing `json:"missing,omitempty"` // turns without a probability, by reason
}

// Missing is how many turns lack a probability for a reason.
type Missing struct {
	Reason string `json:"reason"`
	Turns  int    `json:"turns"`
}

// mostPoints is how many points of a ROC are kept: more do not show.
const mostPoints = 100

// Of describes the gates of turns; nil if no model was asked.
func Of(turns []Turn) *Gates {
	if len(turns) == 0 {
		return nil
	}
	g := Gates{Turns: len(turns)}
	var update, exit []Reply
	missing := map[string]int{}
	for _, t := range turns {
		if t.Yes != nil {
			update = append(update, Reply{*t.Yes, t.Evidence})
		}
		if t.End != nil && !t.NoExit {
			exit = append(exit, Reply{*t.End, t.Due})
		}
		if t.Missing != "" {
			missing[t.Missing]++
		}
	}
	for reason, n := range missing {
		g.Missing = append(g.Missing, Missing{reason, n})
	}
	slices.SortFunc(g.Missing, func(a, b Missing) int { return cmp.Or(b.Turns-a.Turns, cmp.Compare(a.Reason, b.Reason)) })
	g.Update, g.Exit = Describe(update), Describe(exit)
	g.Update.ROC, g.Exit.ROC = thinned(g.Update.ROC), thinned(g.Exit.ROC)
	return &g
}

// thinned is some of the points, evenly by rank, the last among them.
func thinned(roc []Point) []Point {
	if len(roc) <= mostPoints {
		return roc
	}
	some := make([]Point, mostPoints)
	for i := range some {
		some[i] = roc[(i+1)*len(roc)/mostPoints-1]
	}
	return some
}
