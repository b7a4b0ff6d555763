package result

import (
	"cmp"

	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/loop"
)

// markTextless makes a model's runs incomplete if none of its calls returned text: what failed
// is how its server is set up, and there is nothing to judge. Text without valid gates is
// judged, and so is a model some of whose replies have no text.
func markTextless(s *summary) {
	for i := range s.plan.Spec.Models {
		m := &s.plan.Spec.Models[i]
		its := only(s.runs, func(d *runData) bool { return d.Model == m.ID.Value })
		if why := textless(its); why != "" && (m.Live != nil || m.Replay != nil) {
			for _, d := range its {
				endUnread(d, why)
			}
		}
	}
}

// textless says why no reply of these runs had text; "" if one had, or there was none.
func textless(runs []*runData) (why string) {
	for _, d := range runs {
		for _, u := range []usage{d.usage, d.answered} {
			if u.texts > 0 {
				return ""
			}
			why = cmp.Or(why, u.textless)
		}
	}
	return why
}

// endUnread ends a run that was complete without anything to judge.
func endUnread(d *runData, why string) {
	if d.State == record.Complete {
		d.State, d.Counts, d.Answer = record.Incomplete, nil, nil
		d.Reason = "no call of the model returned text: " + why + "; then begin anew with --live --fresh"
	}
}

// read counts a reply by whether it has text.
func (u *usage) read(reply loop.Completion) {
	why := reply.Textless()
	u.texts += count(why == "")
	u.textless = cmp.Or(u.textless, why)
}
