package confidence_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/poimen-memory/mem/harness/stat/confidence"
)

// pairs is the AUC by its definition: the chance that a positive ranks above a negative.
func pairs(replies []confidence.Reply) float64 {
	wins, n := 0.0, 0.0
	for _, a := range replies {
		for _, b := range replies {
			if a.True && !b.True {
				n++
				switch {
				case a.P > b.P:
					wins++
				case a.P == b.P:
					wins += 0.5
				}
			}
		}
	}
	return wins / n
}

func TestDescribe(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		replies := []confidence.Reply{{P: 0.3, True: true}, {P: 0.3}}
		for range random.IntN(60) {
			p := math.Round(20*random.Float64()) / 20 // ties
			replies = append(replies, confidence.Reply{P: p, True: random.Float64() < p})
		}
		s := confidence.Describe(replies)
		if math.Abs(*s.AUC-pairs(replies)) > 1e-8 {
			t.Fatalf("AUC %v, want %v", *s.AUC, pairs(replies))
		}
		if last := s.ROC[len(s.ROC)-1]; last.TruePositive != 1 || last.FalsePositive != 1 {
			t.Fatalf("the ROC ends at %+v", last)
		}
		n := 0
		for _, b := range s.Bins {
			n += b.Replies
		}
		if n != len(replies) || s.Replies != n {
			t.Fatalf("%d of %d replies in bins", n, len(replies))
		}
	}
}

func TestDescribeByHand(t *testing.T) {
	s := confidence.Describe([]confidence.Reply{{P: 1, True: true}, {P: 0.8, True: true}, {P: 0.85}, {P: 0.1}, {P: math.NaN()}, {P: 2}})
	if s.Replies != 4 || s.Positive != 2 || *s.AUC != 0.75 || math.Abs(*s.Brier-(0.04+0.7225+0.01)/4) > 1e-9 {
		t.Errorf("summary %+v, AUC %v, Brier %v", s, *s.AUC, *s.Brier)
	}
	if len(s.Bins) != 3 || s.Bins[1].Replies != 2 || s.Bins[1].Share != 0.5 || math.Abs(*s.Gap-(0.1+2*0.325+0)/4) > 1e-9 {
		t.Errorf("bins %+v, gap %v", s.Bins, *s.Gap)
	}
}

func TestUndefined(t *testing.T) {
	if s := confidence.Describe(nil); s.AUC != nil || s.Brier != nil || s.Gap != nil {
		t.Errorf("of nothing: %+v", s)
	}
	if s := confidence.Describe([]confidence.Reply{{P: 0.9, True: true}}); s.AUC != nil || s.Brier == nil {
		t.Errorf("of one label: %+v", s)
	}
}
