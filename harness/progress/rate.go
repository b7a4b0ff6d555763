package progress

import (
	"fmt"
	"time"
)

// rate tells how long something takes from how fast it was lately: turns that a journal answers
// at the start of a resumed evaluation are forgotten after a while.
type rate struct{ seen []sample }

type sample struct {
	at    time.Time
	turns int
}

const (
	remembered = time.Minute     // how long a sample counts
	apart      = time.Second     // between samples
	settled    = 5 * time.Second // of samples, before anything is said
)

// left notes how many turns are over, and says how long the others take; "" as long as that is
// not known.
func (r *rate) left(now time.Time, turns, of int) string {
	if n := len(r.seen); n == 0 || now.Sub(r.seen[n-1].at) >= apart {
		r.seen = append(r.seen, sample{now, turns})
	}
	for len(r.seen) > 1 && now.Sub(r.seen[0].at) > remembered {
		r.seen = r.seen[1:]
	}
	first := r.seen[0]
	took, ended := now.Sub(first.at), turns-first.turns
	if took < settled || ended <= 0 || turns >= of {
		return ""
	}
	remaining := time.Duration(float64(took) * float64(of-turns) / float64(ended))
	unit := time.Second
	if remaining > 10*time.Minute {
		unit = time.Minute
	}
	return fmt.Sprintf(", at most %v left", remaining.Round(unit))
}
