// Package confidence describes the probabilities that a model gives to its gates: how well
// they rank (ROC, AUC) and how true they are (calibration). They are shown; nothing is
// decided on them.
package confidence

import (
	"cmp"
	"math"
	"slices"
)

// Reply is one gate reply whose probability is known.
type Reply struct {
	P    float64 // of yes (or end), from 0 to 1
	True bool    // the label: the chunk is evidence (or the end is due)
}

// Summary describes replies. What is undefined is nil: AUC where all labels are equal.
type Summary struct {
	Replies  int      `json:"replies"`
	Positive int      `json:"positive"`
	AUC      *float64 `json:"auc"`
	Brier    *float64 `json:"brier"` // mean of (P − label)²: 0 is best
	// Gap is the expected calibration error: the mean over replies of how far their bin's
	// mean P is from its share of positive labels.
	Gap  *float64 `json:"calibration_gap"`
	Bins []Bin    `json:"bins"`
	ROC  []Point  `json:"roc"`
}

// Bin is the replies with From ≤ P < To; the last bin includes 1.
type Bin struct {
	From    float64 `json:"from"`
	To      float64 `json:"to"`
	Replies int     `json:"replies"`
	MeanP   float64 `json:"mean_p"`
	Share   float64 `json:"share"` // of positive labels
}

// Point is a threshold of the ROC: a reply with P ≥ Threshold counts as yes.
type Point struct {
	Threshold        float64 `json:"threshold"`
	TruePositive     float64 `json:"true_positive_rate"`
	FalsePositive    float64 `json:"false_positive_rate"`
	yes, falseAlarms int
}

// Describe summarizes replies. A probability that is not a number from 0 to 1 is left out.
func Describe(replies []Reply) Summary {
	replies = slices.DeleteFunc(slices.Clone(replies), func(r Reply) bool { return !(r.P >= 0 && r.P <= 1) })
	s := Summary{Replies: len(replies), Bins: bins(replies), ROC: []Point{}}
	brier := 0.0
	for _, r := range replies {
		label := 0.0
		if r.True {
			label = 1
			s.Positive++
		}
		brier += (r.P - label) * (r.P - label)
	}
	if s.Replies == 0 {
		return s
	}
	s.Brier = rounded(brier / float64(s.Replies))
	gap := 0.0
	for _, b := range s.Bins {
		gap += float64(b.Replies) * math.Abs(b.MeanP-b.Share)
	}
	s.Gap = rounded(gap / float64(s.Replies))
	if s.Positive > 0 && s.Positive < s.Replies {
		s.rank(replies)
	}
	return s
}

// bins has the bins of a tenth that have replies.
func bins(replies []Reply) []Bin {
	const tenths = 10
	var sums [tenths]Bin
	for _, r := range replies {
		b := &sums[min(int(r.P*tenths), tenths-1)]
		b.Replies++
		b.MeanP += r.P
		if r.True {
			b.Share++
		}
	}
	list := []Bin{}
	for i, b := range sums {
		if b.Replies > 0 {
			n := float64(b.Replies)
			list = append(list, Bin{float64(i) / tenths, float64(i+1) / tenths, b.Replies, *rounded(b.MeanP / n), *rounded(b.Share / n)})
		}
	}
	return list
}

// rank sets ROC and AUC; ties count half, as the area under straight lines does.
func (s *Summary) rank(replies []Reply) {
	slices.SortStableFunc(replies, func(a, b Reply) int { return cmp.Compare(b.P, a.P) })
	positive, negative := float64(s.Positive), float64(s.Replies-s.Positive)
	var last Point
	area := 0.0
	for i, r := range replies {
		p := last
		if r.True {
			p.yes++
		} else {
			p.falseAlarms++
		}
		last.yes, last.falseAlarms = p.yes, p.falseAlarms
		if i+1 < len(replies) && replies[i+1].P == r.P {
			continue
		}
		p.Threshold, p.TruePositive, p.FalsePositive = r.P, float64(p.yes)/positive, float64(p.falseAlarms)/negative
		area += (p.FalsePositive - last.FalsePositive) * (p.TruePositive + last.TruePositive) / 2
		s.ROC = append(s.ROC, p)
		last = p
	}
	s.AUC = rounded(area)
}

// rounded is v rounded to 1e-9, so that it is the same bytes on every machine.
func rounded(v float64) *float64 {
	v = math.Round(v*1e9) / 1e9
	return &v
}
