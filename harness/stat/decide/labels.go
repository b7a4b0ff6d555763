package decide

import (
	"errors"
	"fmt"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/stat"
)

// LabelNoise says how many wrong labels a verdict survives (docs/statistics.md): an upper
// bound of the least number that would change it, by a greedy search.
type LabelNoise struct {
	Flips  int  `json:"flips"`  // labels that would change the verdict, if wrong
	More   bool `json:"more"`   // it takes more than Flips
	Labels int  `json:"labels"` // chunks of the queries, each with a label
	// Metric is the criterion that the number comes from.
	Metric string `json:"metric"`
}

// String is "stands unless 2 of the 96 labels are wrong".
func (l LabelNoise) String() string {
	number := fmt.Sprint(l.Flips)
	if l.More {
		number = "more than " + number
	}
	return fmt.Sprintf("stands unless %s of the %s are wrong", number, diag.Count(l.Labels, "label"))
}

const mostFlips = 50

// addLabels adds the label noise of GO (the least over the criteria) and of NO-GO (the
// greatest over those that are NO-GO). Groups and criteria that labels do not enter are left
// out.
func (d *Decision) addLabels(s *stat.Sample, claims []claim) error {
	if d.Verdict != Go && d.Verdict != NoGo {
		return nil
	}
	search := stat.LabelSearch{Unit: d.Unit, NoGo: d.Verdict == NoGo, Alpha: d.alphaOf(len(claims)), Limit: mostFlips}
	if search.NoGo {
		d.noteUnlabelled(claims)
	}
	for _, c := range claims {
		switch {
		case c.group != "" || c.verdict != d.Verdict:
			continue
		case !c.Labelled():
			continue
		}
		search.Metric, search.Threshold = c.Metric, c.threshold
		flips, more, err := s.WrongLabels(search)
		if errors.Is(err, stat.ErrTooMany) {
			d.Notes = append(d.Notes, err.Error())
			continue
		}
		if err != nil {
			return err
		}
		l := LabelNoise{Flips: flips, More: more, Labels: s.Labels(), Metric: c.Metric}
		if d.Labels == nil || !search.NoGo && l.less(*d.Labels) || search.NoGo && d.Labels.less(l) {
			d.Labels = &l
		}
		switch {
		case search.NoGo && d.Labels.More:
			return nil // no other criterion can need more
		case !search.NoGo && !d.Labels.More:
			search.Limit = d.Labels.Flips // no other criterion needs a longer search
		}
	}
	return nil
}

// noteUnlabelled says which criteria are NO-GO whatever the labels are.
func (d *Decision) noteUnlabelled(claims []claim) {
	for _, c := range claims {
		if c.verdict == NoGo && !c.Labelled() {
			d.Notes = append(d.Notes, c.title()+" is NO-GO whatever the labels are")
		}
	}
}

// alphaOf is the error of the bound that the verdict rests on.
func (d *Decision) alphaOf(claims int) float64 {
	if d.Verdict == Go {
		return d.Look.Alpha / float64(d.Candidates)
	}
	return d.Look.Alpha / float64(claims)
}

func (l LabelNoise) less(other LabelNoise) bool {
	return l.Flips < other.Flips || l.Flips == other.Flips && !l.More && other.More
}
